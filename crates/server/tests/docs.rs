//! The documents: derived parts are up to date, and links lead somewhere.

use std::path::{Path, PathBuf};

use tare_mysql::series::Series;

#[test]
fn tables_md_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let fresh = tare_rows::docs::markdown(tare_sys::Sys::of(Series::V9_7));
    if std::env::var_os("TARE_REGENERATE").is_some() {
        std::fs::write(&path, &fresh).expect("docs/tables.md can be written");
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == fresh,
        "docs/tables.md is stale; regenerate it: TARE_REGENERATE=1 cargo test -p tare-server --test docs"
    );
}

/// clients.md has one row for each settable variable without effect.
#[test]
fn clients_md_lists_what_is_accepted_and_without_effect() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let text = std::fs::read_to_string(&path).expect("docs/clients.md");
    let (_, section) = text
        .split_once("## Accepted and without effect")
        .expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let rows: Vec<&str> = section.lines().filter(|l| l.starts_with("| `")).collect();
    let expected: Vec<String> = tare_server::variables::ACCEPTED
        .iter()
        .map(|(name, who)| format!("| `{name}` | {who} |"))
        .collect();
    assert_eq!(rows, expected);
    for name in tare_server::variables::TUNING {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
}

/// A heading's anchor, as GitHub forms it.
fn anchor(heading: &str) -> String {
    let anchor_char = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || "-_".contains(c) => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter_map(anchor_char)
        .collect()
}

/// The targets of a text's Markdown links, without those to other sites.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.lines().filter(|line| !line.starts_with("    "));
    prose
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
}

#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"]
        .map(|name| root.join(name))
        .into();
    let docs = std::fs::read_dir(root.join("docs")).expect("docs");
    pages.extend(docs.map(|entry| entry.expect("an entry").path()));
    pages.retain(|page| page.extension().is_some_and(|e| e == "md"));
    assert!(pages.len() > 10);
    let mut broken = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("a page");
        for link in links(&text) {
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            let there = match section {
                "" => target.exists(),
                section => std::fs::read_to_string(&target).is_ok_and(|text| {
                    let mut headings = text.lines().filter(|line| line.starts_with('#'));
                    headings.any(|heading| anchor(heading) == section)
                }),
            };
            if !there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Every file of tests and code in crates/.
fn sources(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            files.push((path, text));
        }
    }
}

/// Whether a name is a test's: words of a sentence.
fn is_test(name: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let name = name.strip_suffix('*').unwrap_or(name);
    name.matches('_').count() >= 2 && name.chars().all(word)
}

/// The tests that a cell names: names in backticks, and the files that they are in.
fn named(cell: &str) -> Vec<(bool, &str)> {
    let mut all = Vec::new();
    for (i, part) in cell.split('`').enumerate() {
        if i % 2 == 1 {
            all.push((true, part));
            continue;
        }
        let paths = part.split([' ', '(', ')', ',', ';', ':']);
        all.extend(
            paths
                .filter(|p| p.ends_with(".rs") || p.contains("/tests/"))
                .map(|p| (false, p)),
        );
        if part.contains("same file") || part.contains("same tests") {
            all.push((false, ""));
        }
    }
    all
}

/// Each promise names an existing test and its file.
#[test]
fn the_tests_that_security_md_names_are_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    sources(&crates, &mut all);
    let page = std::fs::read_to_string(crates.join("../docs/security.md")).expect("the page");
    let (mut names, mut missing, mut last) = (0, Vec::new(), String::new());
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cell = line
            .trim_end_matches([' ', '|'])
            .rsplit(" | ")
            .next()
            .unwrap_or_default();
        let mut open: Vec<&str> = Vec::new();
        let mut check = |open: &mut Vec<&str>, path: &str| {
            let within = crates.join(path);
            if !within.exists() {
                missing.push(path.to_owned());
            }
            let within = within.canonicalize().unwrap_or_default();
            for name in open.drain(..) {
                names += 1;
                let function = match name.strip_suffix('*') {
                    Some(begin) => format!("fn {begin}"),
                    None => format!("fn {name}("),
                };
                let is_there = |(file, text): &(PathBuf, String)| {
                    let file = file.canonicalize().unwrap_or_default();
                    file.starts_with(&within) && text.contains(&function)
                };
                if !all.iter().any(is_there) {
                    missing.push(format!("{name} in {path}"));
                }
            }
        };
        for (is_name, text) in named(cell) {
            match is_name {
                true if is_test(text) => open.push(text),
                true => {}
                false => {
                    if !text.is_empty() {
                        text.clone_into(&mut last);
                    }
                    check(&mut open, &last.clone());
                }
            }
        }
        // Without a file: in any file.
        check(&mut open, "");
    }
    assert!(names > 30, "only {names} are named");
    assert!(missing.is_empty(), "{missing:#?}");
}
