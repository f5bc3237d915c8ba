//! The tests of a suite, as its package has them.

use std::path::{Path, PathBuf};

use crate::support::finish;

/// The directory of a server's tests and programs, fetched if it does not exist.
pub fn home(version: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/suites");
    let done = finish(std::process::Command::new(script).arg(version));
    assert_eq!(done.code, Some(0), "scripts/suites: {done:?}");
    done.stdout.lines().last().expect("a path").into()
}

/// One test.
#[derive(Clone, Debug)]
pub struct Case {
    /// `perfschema` or `sysschema`.
    pub suite: String,
    pub name: String,
    /// Directory of the suite.
    pub directory: PathBuf,
    /// Options that its server is started with.
    pub options: Vec<String>,
}

impl Case {
    /// The name in the lists, SUITE.TEST.
    pub fn key(&self) -> String {
        format!("{}.{}", self.suite, self.name)
    }

    pub fn test(&self) -> PathBuf {
        self.directory.join("t").join(format!("{}.test", self.name))
    }

    /// The recorded result.
    pub fn result(&self) -> PathBuf {
        self.directory
            .join("r")
            .join(format!("{}.result", self.name))
    }

    /// Whether its authors have disabled it: `NAME : REASON` in a list of the suite.
    pub fn is_disabled(&self) -> bool {
        let list = self.directory.join("disabled.def");
        let text = std::fs::read_to_string(list).unwrap_or_default();
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .any(|(name, _)| name.trim() == self.name)
    }

    /// The text of the test followed by each file of its suite that it sources. Files that all suites
    /// share are left out: they mention much that the test does not use.
    pub fn text(&self) -> String {
        let mut text = read(&self.test());
        let mut included: Vec<PathBuf> = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let until = text[from..].find('\n').map_or(text.len(), |n| from + n + 1);
            let named = sourced_file(&text[from..until]);
            from = until;
            let Some(path) = named.and_then(|name| self.find(&name)) else {
                continue;
            };
            if !included.contains(&path) {
                text.push('\n');
                text.push_str(&read(&path));
                included.push(path);
            }
        }
        text
    }

    /// The path of a sourced file, if it belongs to the suite.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let name = Path::new(name).file_name()?;
        let path = self.directory.join("include").join(name);
        path.exists().then_some(path)
    }
}

/// The file that a line sources.
fn sourced_file(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("--").trim_start();
    let rest = line
        .strip_prefix("source ")
        .or_else(|| line.strip_prefix("SOURCE "))?;
    Some(rest.trim().trim_end_matches(';').trim().to_owned())
}

/// Reads a test file, which may have bytes that are not UTF-8.
fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The words of an option file, unquoted.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut any) = (String::new(), None, false);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        for c in line.chars().chain([' ']) {
            match (c, quote) {
                (c, Some(q)) if c == q => quote = None,
                ('\'' | '"', None) => (quote, any) = (Some(c), true),
                (' ' | '\t', None) => {
                    if any || !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                    }
                    any = false;
                }
                _ => word.push(c),
            }
        }
    }
    words
}

/// Options for the suite's own harness. Here each test has a server of its own and a fixed time limit.
fn is_harness_option(option: &str) -> bool {
    [
        "--force-restart",
        "--testcase-timeout",
        "--initialize",
        "--timezone",
    ]
    .iter()
    .any(|prefix| option.starts_with(prefix))
}

/// The options of an option file as command-line options, without its include directives.
fn file_options(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim);
    let is_option = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    lines.filter(is_option).map(|line| format!("--{line}"))
}

/// Options that belong to the shared files that a test sources.
fn shared_options(tests: &Path, text: &str) -> Vec<String> {
    let sourced = text.lines().filter_map(sourced_file);
    let files = sourced
        .flat_map(|name| [".opt", "-master.opt"].map(|end| tests.join(name.replace(".inc", end))));
    let options = files.filter(|path| path.is_file());
    options.flat_map(|path| words(&read(&path))).collect()
}

/// All tests of a suite, by name.
pub fn list(home: &Path, suite: &str) -> Vec<Case> {
    let directory = home.join("tests/suite").join(suite);
    let mut cases = Vec::new();
    let entries = std::fs::read_dir(directory.join("t"))
        .unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "test") {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy();
        let options = ["-master.opt", ".opt"].map(|end| directory.join(format!("t/{name}{end}")));
        let mut options: Vec<String> = options
            .iter()
            .filter(|path| path.exists())
            .flat_map(|path| words(&read(path)))
            .filter(|option| !is_harness_option(option))
            .collect();
        let file = directory.join(format!("t/{name}.cnf"));
        if file.exists() {
            options.extend(file_options(&read(&file)));
        }
        // The file is empty. Sourcing it is a message to the harness.
        if read(&path).contains("include/force_myisam_default.inc") {
            let engine = ["--default-storage-engine", "--default-tmp-storage-engine"];
            options.extend(engine.map(|option| format!("{option}=MyISAM")));
        }
        let mut case = Case {
            suite: suite.to_owned(),
            name: name.into_owned(),
            options: Vec::new(),
            directory: directory.clone(),
        };
        // The test's own options come last, because the last one wins.
        case.options = shared_options(&home.join("tests"), &case.text());
        case.options.extend(options);
        cases.push(case);
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "no tests in {}", directory.display());
    cases
}
