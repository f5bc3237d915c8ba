//! Unknown, changed or stripped servers start unchanged, or are refused.

use std::path::Path;
use std::process::Command;

use tare_image::Image;

use super::servers::{Version, command_line, library, tare_run};
use super::support::{Directory, finish};

/// A program with the symbols of MySQL 5.7 and an unknown version.
const UNKNOWN_SERVER: &str = r#"
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

fn compile_unknown_server(directory: &Directory) -> String {
    let (source, program) = (
        directory.path().join("stranger.c"),
        directory.path().join("mysqld"),
    );
    std::fs::write(&source, UNKNOWN_SERVER).expect("written");
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
fn an_unknown_server_is_observed_from_outside_with_a_message() {
    let directory = Directory::new("stranger");
    let program = compile_unknown_server(&directory);
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
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{done:?}");
    assert!(
        lines[0].contains("another version; its stages, ")
            && lines[1].contains("mysqld: statements with users and databases, files, ")
            && lines[2].contains("mysqld runs as process "),
        "{done:?}"
    );
    // What would print its version and end gets no library.
    let done = finish(directory.tare(["run", "--library"]).arg(library()).args([
        "--",
        &program,
        "--version",
    ]));
    assert!(
        done.stderr.contains("another version; it starts unchanged"),
        "{done:?}"
    );
    // With the library alone it also prints one line, and its children do not inherit LD_PRELOAD.
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
    // With --require it does not start.
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
    // Renames a function, so that it is missing.
    let renamed = |program: &mut [u8], _: &Image| {
        let at = position(program, b"pfs_unlock_mutex_v1\0");
        program[at + 4] = b'_';
    };
    assert_refused(Version::Mysql57, renamed, "pfs_");
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn a_server_with_two_slots_of_one_function_starts_unchanged() {
    // Makes two slots point to one function.
    let misled = |program: &mut [u8], image: &Image| {
        let table = image.symbol("PFS_v1").expect("exported");
        let slots = image.bytes(table.address, 97 * 8).expect("in the file");
        let at = position(program, slots);
        program.copy_within(at + 43 * 8..at + 44 * 8, at + 41 * 8);
    };
    assert_refused(Version::Mysql56, misled, "are one function");
}

#[test]
fn a_mariadb_of_another_version_starts_unchanged() {
    let renamed = |program: &mut [u8], _: &Image| {
        let at = position(program, b"\x0010.11.") + 1;
        program[at..at + 6].copy_from_slice(b"10.99.");
    };
    let why = "of which 10.11.*, 11.4.*, 11.8.* are known";
    assert_refused(Version::Mariadb, renamed, why);
}

/// An ELF relocation (R_X86_64_RELATIVE) that sets a pointer in MariaDB's table.
fn relocation(place: u64, value: u64) -> Vec<u8> {
    [place, 8, value]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

#[test]
fn a_mariadb_with_two_slots_of_one_function_starts_unchanged() {
    let misled = |program: &mut [u8], image: &Image| {
        let table = image.interface_table(135).expect("MariaDB's");
        let [from, to] = [41, 43].map(|slot| table.functions[slot]);
        let slot = table.address + 43 * 8;
        let at = position(program, &relocation(slot, to));
        program[at..at + 24].copy_from_slice(&relocation(slot, from));
    };
    assert_refused(Version::Mariadb, misled, "are one function");
}

#[test]
fn a_mariadb_whose_table_has_another_size_starts_unchanged() {
    // Makes one slot point to no function.
    let cut = |program: &mut [u8], image: &Image| {
        let table = image.interface_table(135).expect("MariaDB's");
        let slot = table.address + 134 * 8;
        let at = position(program, &relocation(slot, table.functions[134]));
        program[at..at + 24].copy_from_slice(&relocation(slot, table.address));
    };
    assert_refused(Version::Mariadb, cut, "there are 0 tables of 135 functions");
}

/// Changes the last digit of the version.
fn change_version(program: &mut [u8], text: &[u8]) {
    let at = position(program, text);
    program[at + text.len() - 1] = b'9';
}

#[test]
fn another_version_of_a_release_is_served_with_a_message() {
    let directory = Directory::new("later");
    let program = write_changed_program(&directory, Version::Mariadb114, |program, _| {
        change_version(program, b"\x0011.4.5");
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
    // Changes the offset of a table's number of keys in all functions near those of the interface.
    let moved = |program: &mut [u8], image: &Image| {
        change_version(program, b"\x0011.4.5");
        let table = image.interface_table(135).expect("MariaDB's");
        let (low, high) = (table.functions.iter().min(), table.functions.iter().max());
        let (low, high) = (
            low.expect("some") - (1 << 18),
            high.expect("some") + (1 << 18),
        );
        let code = image
            .bytes(low, (high - low) as usize)
            .expect("in the file");
        let at = position(program, code);
        let length = code.len();
        for i in at..at + length {
            if program[i..].starts_with(&0x3c8u32.to_le_bytes()) {
                program[i] = 0xd0;
            }
        }
    };
    let why = "MariaDB 11.4.9: TABLE_SHARE has nothing at 0x3c8";
    assert_refused(Version::Mariadb114, moved, why);
}

fn position(bytes: &[u8], part: &[u8]) -> usize {
    let mut windows = bytes.windows(part.len());
    windows.position(|window| window == part).expect("there")
}

/// Changes a server's program and asserts that it is refused.
fn assert_refused(version: Version, change: impl FnOnce(&mut [u8], &Image), why: &str) {
    let directory = Directory::new("changed");
    let command = [
        write_changed_program(&directory, version, change),
        "--no-defaults".into(),
        "--nonsense".into(),
    ];
    let done = finish(&mut tare_run(&directory, &command));
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.stderr.contains(why), "{done:?}");
}

/// Writes a changed copy of a server's program.
fn write_changed_program(
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
    let chmod = finish(Command::new("chmod").arg("755").arg(&program));
    assert_eq!(chmod.code, Some(0));
    program.to_string_lossy().into_owned()
}
