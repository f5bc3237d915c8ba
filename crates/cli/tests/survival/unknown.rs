//! Servers that are not known, or not as they should be: each starts unchanged, or is refused.

use std::path::Path;
use std::process::Command;

use tare_image::Image;

use super::servers::{Version, command_line, library, tare_run};
use super::support::{Directory, finish};

/// A program that looks like MySQL 5.7 from outside, of no version that is known.
const STRANGER: &str = r#"
#include <stdlib.h>
#include <stdio.h>
void *PSI_hook, *PSI_server;
char server_version[60];
int pfs_start_mutex_wait_v1(void) { return 7; }
int main(void) {
    printf("called %d\n", pfs_start_mutex_wait_v1());
    fflush(stdout);
    return system("echo \"child has [$LD_PRELOAD]\"; exit 3") >> 8;
}
"#;

fn stranger(directory: &Directory) -> String {
    let (source, program) = (
        directory.path().join("stranger.c"),
        directory.path().join("mysqld"),
    );
    std::fs::write(&source, STRANGER).expect("written");
    let built = finish(
        Command::new("cc")
            .arg("-rdynamic")
            .arg("-o")
            .arg(&program)
            .arg(&source),
    );
    assert_eq!(built.code, Some(0), "{built:?}");
    program.to_string_lossy().into_owned()
}

#[test]
fn a_server_that_is_not_known_starts_unchanged_and_says_so() {
    let directory = Directory::new("stranger");
    let program = stranger(&directory);
    let unchanged = "called 7\nchild has []\n";
    let done = finish(
        directory
            .tare(["run", "--library"])
            .arg(library())
            .args(["--", &program]),
    );
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(3), unchanged),
        "{done:?}"
    );
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    assert!(
        done.stderr.contains("another version; it starts unchanged"),
        "{done:?}"
    );
    // By the library alone: one line, too, and what it starts does not inherit it.
    let mut preloaded = Command::new(&program);
    preloaded.env("LD_PRELOAD", library());
    let done = finish(&mut preloaded);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(3), unchanged),
        "{done:?}"
    );
    assert!(
        done.stderr.starts_with("tare: ") && done.stderr.lines().count() == 1,
        "{done:?}"
    );
    // Required, it does not start.
    let done = finish(
        directory
            .tare(["run", "--require", "--library"])
            .arg(library())
            .args(["--", &program]),
    );
    assert_eq!((done.code, done.stdout.as_str()), (Some(4), ""), "{done:?}");
    let done = finish(preloaded.env("TARE_PSI_REQUIRE", "1"));
    assert_eq!((done.code, done.stdout.as_str()), (Some(4), ""), "{done:?}");
}

#[test]
fn a_stripped_or_changed_server_starts_unchanged() {
    // One function's name is another, as if it were not there.
    let renamed = |program: &mut [u8], _: &Image| {
        let at = place_of(program, b"pfs_unlock_mutex_v1\0");
        program[at + 4] = b'_';
    };
    refused(Version::Mysql57, renamed, "pfs_");
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn a_server_whose_functions_are_not_told_apart_starts_unchanged() {
    // One slot leads where another does.
    let misled = |program: &mut [u8], image: &Image| {
        let table = image.symbol("PFS_v1").expect("exported");
        let slots = image.bytes(table.address, 97 * 8).expect("in the file");
        let at = place_of(program, slots);
        program.copy_within(at + 43 * 8..at + 44 * 8, at + 41 * 8);
    };
    refused(Version::Mysql56, misled, "are one function");
}

#[test]
fn a_mariadb_of_another_version_starts_unchanged() {
    let renamed = |program: &mut [u8], _: &Image| {
        let at = place_of(program, b"\x0010.11.") + 1;
        program[at..at + 6].copy_from_slice(b"10.99.");
    };
    let why = "of which 10.11.*, 11.4.*, 11.8.* are known";
    refused(Version::Mariadb, renamed, why);
}

/// A pointer of MariaDB's table as the loader will make it: where, how (R_X86_64_RELATIVE), and to what.
fn relocation(place: u64, value: u64) -> Vec<u8> {
    [place, 8, value]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

#[test]
fn a_mariadb_whose_functions_are_not_told_apart_starts_unchanged() {
    let misled = |program: &mut [u8], image: &Image| {
        let table = image.interface_table(135).expect("MariaDB's");
        let [from, to] = [41, 43].map(|slot| table.functions[slot]);
        let slot = table.address + 43 * 8;
        let at = place_of(program, &relocation(slot, to));
        program[at..at + 24].copy_from_slice(&relocation(slot, from));
    };
    refused(Version::Mariadb, misled, "are one function");
}

#[test]
fn a_mariadb_whose_table_has_another_size_starts_unchanged() {
    // One slot leads to no function.
    let cut = |program: &mut [u8], image: &Image| {
        let table = image.interface_table(135).expect("MariaDB's");
        let slot = table.address + 134 * 8;
        let at = place_of(program, &relocation(slot, table.functions[134]));
        program[at..at + 24].copy_from_slice(&relocation(slot, table.address));
    };
    refused(Version::Mariadb, cut, "there are 0 tables of 135 functions");
}

/// The last digit of its version is another one.
fn of_another_version(program: &mut [u8], text: &[u8]) {
    let at = place_of(program, text);
    program[at + text.len() - 1] = b'9';
}

#[test]
fn another_version_of_a_release_is_served_and_says_so() {
    let directory = Directory::new("later");
    let program = changed(&directory, Version::Mariadb114, |program, _| {
        of_another_version(program, b"\x0011.4.5");
    });
    let done = finish(
        Command::new(&program)
            .arg("--version")
            .env("LD_PRELOAD", library())
            .env("TARE_PSI_CHECK", "1"),
    );
    let expected = "served MariaDB 11.4.9, a version that was not tested and passes every check\n";
    assert_eq!((done.code, &*done.stdout), (Some(0), expected), "{done:?}");
}

#[test]
fn another_version_whose_fields_have_moved_starts_unchanged() {
    // Where a table has how many keys it has, in all functions around those of the interface.
    let moved = |program: &mut [u8], image: &Image| {
        of_another_version(program, b"\x0011.4.5");
        let table = image.interface_table(135).expect("MariaDB's");
        let (low, high) = (table.functions.iter().min(), table.functions.iter().max());
        let (low, high) = (
            low.expect("some") - (1 << 18),
            high.expect("some") + (1 << 18),
        );
        let code = image
            .bytes(low, (high - low) as usize)
            .expect("in the file");
        let at = place_of(program, code);
        let length = code.len();
        for i in at..at + length {
            if program[i..].starts_with(&0x3c8u32.to_le_bytes()) {
                program[i] = 0xd0;
            }
        }
    };
    let why = "MariaDB 11.4.9: TABLE_SHARE has nothing at 0x3c8";
    refused(Version::Mariadb114, moved, why);
}

fn place_of(bytes: &[u8], part: &[u8]) -> usize {
    let mut windows = bytes.windows(part.len());
    windows.position(|window| window == part).expect("there")
}

/// Changes a server's program, and has it refused.
fn refused(version: Version, change: impl FnOnce(&mut [u8], &Image), why: &str) {
    let directory = Directory::new("changed");
    let command = [
        changed(&directory, version, change),
        "--no-defaults".into(),
        "--nonsense".into(),
    ];
    let done = finish(&mut tare_run(&directory, &command));
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.stderr.contains(why), "{done:?}");
}

/// A server's program, changed.
fn changed(
    directory: &Directory,
    version: Version,
    change: impl FnOnce(&mut [u8], &Image),
) -> String {
    let line = command_line(version, directory.path());
    let mut bytes = std::fs::read(&line[0]).expect("the server");
    let image = Image::open(Path::new(&line[0])).expect("a program");
    change(&mut bytes, &image);
    let program = directory.path().join("mysqld");
    std::fs::write(&program, bytes).expect("written");
    let made = finish(Command::new("chmod").arg("755").arg(&program));
    assert_eq!(made.code, Some(0));
    program.to_string_lossy().into_owned()
}
