//! Every subcommand explains itself, and what is wrong on a command line has code 2.

mod support;

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

#[test]
fn each_subcommands_help_has_examples() {
    let directory = Directory::new("examples");
    for subcommand in [
        "serve",
        "run",
        "sql",
        "ps",
        "weigh",
        "top",
        "querystat",
        "explain",
    ] {
        let help = finish(&mut directory.tare([subcommand, "--help"]));
        assert_eq!(help.code, Some(0));
        assert!(
            help.stdout
                .contains(&format!("Examples:\n  tare {subcommand}")),
            "{}",
            help.stdout
        );
    }
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
