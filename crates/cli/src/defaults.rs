//! `--defaults-file`: inserts the options of a my.cnf into the command line.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::exit::{FAILED, Failure};

/// The groups whose options are taken.
const GROUPS: [&str; 3] = ["mysqld", "server", "tare"];

const OPTION: &str = "--defaults-file";

/// Inserts the options of `tare serve`'s `--defaults-file` before those of the command line, which
/// override them. Other command lines are returned unchanged.
///
/// # Errors
/// The file cannot be read, or contains an unknown option; the message has the line.
pub fn expand(arguments: Vec<OsString>, cli: &Command) -> Result<Vec<OsString>, Failure> {
    let serve = cli.find_subcommand("serve");
    let (Some(serve), true) = (serve, arguments.get(1).is_some_and(|a| a == "serve")) else {
        return Ok(arguments);
    };
    let Some(path) = file_path(&arguments) else {
        return Ok(arguments);
    };
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::new(FAILED, format!("{}: {error}", path.display())))?;
    let options = parse_options(&text, &path, serve)?;
    let mut expanded = arguments;
    expanded.splice(2..2, options.into_iter().map(OsString::from));
    Ok(expanded)
}

/// The value of `--defaults-file`.
fn file_path(arguments: &[OsString]) -> Option<PathBuf> {
    let mut arguments = arguments.iter().skip(2);
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if text == OPTION {
            return arguments.next().map(PathBuf::from);
        }
        if let Some(path) = text
            .strip_prefix(OPTION)
            .and_then(|rest| rest.strip_prefix('='))
        {
            return Some(path.into());
        }
    }
    None
}

/// The options of Tare's groups as command-line options.
fn parse_options(text: &str, path: &Path, serve: &Command) -> Result<Vec<String>, Failure> {
    let mut options = Vec::new();
    if let Some(number) = text.lines().position(|line| line.trim().starts_with('!')) {
        let place = format!("{}:{}", path.display(), number + 1);
        let what = "files are not included from here: name one --defaults-file";
        return Err(Failure::new(FAILED, format!("{place}: {what}")));
    }
    for_each_option(text, path, &GROUPS, |name, value| {
        let (name, loose) = match name.strip_prefix("loose-") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let matches = |arg: &clap::Arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
        };
        match serve.get_arguments().any(matches) {
            _ if name == "defaults-file" => {
                return Err("a defaults file cannot name another".into());
            }
            true => options.push(match value {
                Some(value) => format!("--{name}={value}"),
                None => format!("--{name}"),
            }),
            // As in MySQL: an option for a newer or another server.
            false if loose => {}
            false => {
                return Err(format!(
                    "unknown option '{name}'; `tare serve --help` lists them, and 'loose-{name}' lets \
                     it be unknown"
                ));
            }
        }
        Ok(())
    })?;
    Ok(options)
}

/// Calls `handle` with the options of some groups: names in lower case with dashes, values without
/// quotes. Errors get the line number. Lines that include other files are ignored.
pub fn for_each_option(
    text: &str,
    path: &Path,
    groups: &[&str],
    mut handle: impl FnMut(&str, Option<&str>) -> Result<(), String>,
) -> Result<(), Failure> {
    let mut is_in_group = false;
    for (number, line) in text.lines().enumerate() {
        let line = strip_comment(line).trim();
        let wrong = |what: String| {
            let place = format!("{}:{}", path.display(), number + 1);
            Failure::new(FAILED, format!("{place}: {what}"))
        };
        if line.is_empty() || line.starts_with('!') {
            continue;
        }
        if let Some(group) = line.strip_prefix('[') {
            let Some(group) = group.strip_suffix(']') else {
                return Err(wrong(format!("'{line}' is no group: close the bracket")));
            };
            is_in_group = groups.contains(&group.trim().to_ascii_lowercase().as_str());
            continue;
        }
        if !is_in_group {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(unquote(value.trim()))),
            None => (line, None),
        };
        let name = name
            .trim_start_matches("--")
            .to_ascii_lowercase()
            .replace('_', "-");
        handle(&name, value).map_err(wrong)?;
    }
    Ok(())
}

/// The failure to read an option file.
pub fn read_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(FAILED, format!("{}: {error}", path.display()))
}

/// Removes a comment: from `#` outside quotes on, or a line that begins with `;`.
fn strip_comment(line: &str) -> &str {
    let trimmed = line.trim_start();
    if trimmed.starts_with([';', '#']) {
        return "";
    }
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    line
}

/// Removes the quotes around a value.
fn unquote(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let cli = crate::Cli::command();
        let serve = cli.find_subcommand("serve").expect("serve");
        parse_options(text, Path::new("my.cnf"), serve).map_err(|failure| failure.message)
    }

    #[test]
    fn groups_comments_quotes_and_spellings_are_mysqls() {
        let text = "\
# comment
[client]
no_such_option = 1
[mysqld]
performance_schema = ON        # behind
performance_schema_digests_size=200
performance-schema-instrument = 'wait/%=COUNTED'
loose_innodb_buffer_pool_size = 1G
; another comment
[TARE]
--skip-networking
datadir = \"/tmp/a # b\"
[mysqldump]
quick
";
        assert_eq!(
            read(text).unwrap(),
            [
                "--performance-schema=ON",
                "--performance-schema-digests-size=200",
                "--performance-schema-instrument=wait/%=COUNTED",
                "--skip-networking",
                "--datadir=/tmp/a # b",
            ]
        );
    }

    #[test]
    fn an_unknown_option_is_reported_with_its_line() {
        let error = read("[mysqld]\n\ninnodb_buffer_pool_size = 1G\n").unwrap_err();
        assert!(
            error.starts_with("my.cnf:3: unknown option 'innodb-buffer-pool-size'"),
            "{error}"
        );
        assert!(read("[mysqld\n").unwrap_err().starts_with("my.cnf:1:"));
        assert!(
            read("!include other.cnf\n")
                .unwrap_err()
                .contains("not included")
        );
        assert!(
            read("[tare]\ndefaults-file=x\n")
                .unwrap_err()
                .contains("cannot name another")
        );
    }

    #[test]
    fn the_command_line_overrides_the_file() {
        let path = std::env::temp_dir().join(format!("tare-defaults-{}", std::process::id()));
        fs::write(&path, "[tare]\nport=1\n").unwrap();
        let cli = crate::Cli::command();
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let given = format!("--defaults-file={}", path.display());
        let expanded =
            expand(line(&["tare", "serve", &given, "--port=2"]), &cli).unwrap_or_default();
        fs::remove_file(&path).unwrap();
        assert_eq!(
            expanded,
            line(&["tare", "serve", "--port=1", &given, "--port=2"])
        );
        let other = line(&["tare", "run", &given]);
        assert_eq!(expand(other.clone(), &cli).unwrap_or_default(), other);
        let missing = line(&["tare", "serve", "--defaults-file", "/no/such/file"]);
        assert!(expand(missing, &cli).is_err());
    }
}
