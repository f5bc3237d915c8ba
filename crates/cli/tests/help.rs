//! Each subcommand has help and examples, and a wrong command line exits with code 2.

mod support;

use std::collections::HashMap;
use std::path::Path;

use support::{Directory, finish};

#[test]
fn help_names_the_subcommands_and_the_exit_codes() {
    let directory = Directory::new("help");
    let help = finish(&mut directory.tare(["--help"]));
    assert_eq!(help.code, Some(0));
    for word in [
        "serve",
        "run",
        "sql",
        "ps",
        "weigh",
        "top",
        "querystat",
        "explain",
        "manual",
        "Exit codes:",
        "128+N",
    ] {
        assert!(
            help.stdout.contains(word),
            "no {word:?} in:\n{}",
            help.stdout
        );
    }
}

/// The subcommands, as `tare --help` lists them.
fn subcommands(directory: &Directory) -> Vec<String> {
    let help = finish(&mut directory.tare(["--help"])).stdout;
    let list = help.split_once("Commands:\n").expect("a list").1;
    let names: Vec<String> = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    assert!(names.len() >= 8, "{names:?} in\n{help}");
    names
}

#[test]
fn each_subcommands_help_has_examples() {
    let directory = Directory::new("examples");
    for subcommand in subcommands(&directory) {
        let help = finish(&mut directory.tare([subcommand.as_str(), "--help"]));
        assert_eq!(help.code, Some(0));
        assert!(
            help.stdout
                .contains(&format!("Examples:\n  tare {subcommand}")),
            "{}",
            help.stdout
        );
    }
}

/// docs/adding.md: a tool is in README's table and in the guide.
#[test]
fn each_subcommand_is_in_readme_and_guide() {
    let directory = Directory::new("documents");
    let readme = include_str!("../../../README.md");
    let guide = include_str!("../../../docs/guide.md");
    for subcommand in subcommands(&directory) {
        let row = format!("| `tare {subcommand}");
        assert!(readme.contains(&row), "README.md has no row {row:?}");
        let tool = format!("tare {subcommand}");
        let in_a_heading = guide
            .lines()
            .any(|line| line.starts_with("## ") && line.contains(&tool));
        assert!(in_a_heading, "docs/guide.md has no section about {tool}");
    }
}

/// README and the manuals, each with its name.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manuals = std::fs::read_dir(root.join("docs")).expect("docs");
    manuals
        .map(|entry| entry.expect("an entry").path())
        .chain([root.join("README.md")])
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a document");
            (path.display().to_string(), text)
        })
        .collect()
}

#[test]
fn the_options_that_documents_name_exist() {
    let directory = Directory::new("options");
    let mut commands = subcommands(&directory);
    commands.extend(["door install", "door remove", "weigh compare"].map(str::to_owned));
    let help_of = |command: &String| {
        let arguments = command.split(' ').chain(["--help"]);
        let help = finish(&mut directory.tare(arguments)).stdout;
        (command.clone(), help)
    };
    let helps: HashMap<String, String> = commands.iter().map(help_of).collect();
    let is_part_of_name = |char: char| char.is_ascii_lowercase() || char == '-';
    let mut checked = 0;
    for (page, text) in documents() {
        for line in text.lines() {
            for (at, _) in line.match_indices("tare ") {
                let command = line[at..].split('`').next().unwrap_or_default();
                let words: Vec<&str> = command.split_whitespace().skip(1).collect();
                let help = (1..=2.min(words.len()))
                    .rev()
                    .find_map(|count| helps.get(&words[..count].join(" ")));
                let Some(help) = help else { continue };
                // What follows `--` is the command of another program.
                let options = words.iter().take_while(|word| !["--", "#"].contains(word));
                for option in options.filter(|word| word.starts_with("--")) {
                    let end = option.find(|char| !is_part_of_name(char));
                    let option = &option[..end.unwrap_or(option.len())];
                    let exists = help
                        .split(|char| !is_part_of_name(char))
                        .any(|word| word == option);
                    // There is one for each consumer and size.
                    assert!(
                        exists || option.starts_with("--performance-schema-"),
                        "{page}: {option} in: {line}"
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn a_wrong_command_line_is_refused_with_code_2() {
    let directory = Directory::new("wrong");
    let wrong: [&[&str]; 7] = [
        &[],
        &["serv"],
        &["serve"],
        &[
            "serve",
            "--data",
            "d",
            "--performance-schema-instrument=wait/%",
        ],
        &[
            "serve",
            "--data",
            "d",
            "--performance-schema-consumer-events-waits-current=maybe",
        ],
        &["serve", "--data", "d", "--thread-handling=fibers"],
        &["serve", "--data", "d", "--max-connections=0"],
    ];
    for arguments in wrong {
        let finished = finish(&mut directory.tare(arguments));
        assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:?}");
        assert!(!finished.stderr.is_empty());
        assert_eq!(
            directory.names(),
            Vec::<String>::new(),
            "{arguments:?} left something"
        );
    }
}

#[test]
fn each_subcommand_has_a_manual_page_and_completions() {
    let directory = Directory::new("manual");
    let finished = finish(&mut directory.tare(["manual", "share"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let read = |path: &str| {
        let path = directory.path().join("share").join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let shells = [
        "bash-completion/completions/tare",
        "zsh/vendor-completions/_tare",
        "fish/vendor_completions.d/tare.fish",
    ];
    for subcommand in subcommands(&directory) {
        let page = read(&format!("man/man1/tare-{subcommand}.1"));
        assert!(
            page.contains("SYNOPSIS") && page.contains("Examples:"),
            "{page}"
        );
        for shell in shells {
            assert!(
                read(shell).contains(&subcommand),
                "{shell} without {subcommand}"
            );
        }
    }
    let page = read("man/man1/tare.1");
    assert!(
        page.contains("Exit codes:") && !page.contains("weigh\\-locks"),
        "{page}"
    );
}
