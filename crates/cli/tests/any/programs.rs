//! Small programs, and what starts other programs.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value as Json;

use super::support::{Directory, finish, install};
use super::{library, number, rows, statements};

/// Compiles a program of this folder.
pub fn compile(directory: &Directory, source: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = directory.path().join(name);
    let mut command = Command::new("cc");
    command.args(["-O1", "-pthread", "-o"]).arg(&program);
    command.arg(format!("tests/any/{source}")).args(options);
    let finished = finish(command.current_dir(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    program
}

#[test]
fn descriptors_processes_threads_and_signals_do_not_mix() {
    let directory = Directory::new("program");
    // By its name, so that its connections are read.
    let program = compile(&directory, "program.c", "redis-server", &[]);
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    let finished = finish(run.arg(library()).arg("--").arg(program).arg("/segment"));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stdout, "done\n", "{finished:?}");
    // It does not import SSL_read.
    assert!(
        finished
            .stderr
            .contains("not commands within scripts, TLS, "),
        "{finished:?}"
    );
    let sql = "SELECT IF(FILE_NAME LIKE '%.temporary', 'temporary', SUBSTRING_INDEX(FILE_NAME, '/', -1)) AS name, \
               SUM_NUMBER_OF_BYTES_WRITE AS n \
               FROM performance_schema.file_summary_by_instance \
               WHERE FILE_NAME LIKE '%.data' AND FILE_NAME NOT LIKE '%/signal.data' OR FILE_NAME LIKE '%/parent.log' OR FILE_NAME LIKE '%.temporary'";
    let expected = [
        ("again.data", 6),
        ("closed.data", 36),
        ("copied.data", 7),
        ("errno.data", 1),
        ("from.data", 7),
        ("locked.data", 0),
        ("one.data", 21),
        ("other.data", 0),
        ("parent.log", 7),
        ("seek.data", 0),
        ("sent.data", 5),
        ("stream.data", 0),
        ("temporary", 8),
    ];
    let expected = expected.map(|(name, bytes)| (name.to_owned(), bytes));
    let segment = ["--segment", "segment"];
    assert_eq!(
        statements(&rows(&directory, &segment, sql)),
        BTreeMap::from(expected)
    );
    let sql = "SELECT EVENT_NAME AS name, COUNT_STAR AS n \
               FROM performance_schema.events_statements_summary_global_by_event_name WHERE COUNT_STAR > 0";
    let expected = BTreeMap::from([("statement/redis/ping".to_owned(), 2)]);
    assert_eq!(statements(&rows(&directory, &segment, sql)), expected);
    // Each kind of lock, the open and the close.
    let sql = "SELECT COUNT_MISC AS n FROM performance_schema.file_summary_by_instance \
               WHERE FILE_NAME LIKE '%/locked.data'";
    assert_eq!(number(&rows(&directory, &segment, sql)[0]), 5);
}

#[test]
fn locking_all_memory_leaves_the_segment_out() {
    let directory = Directory::new("memory");
    let program = compile(&directory, "memory.c", "memory", &[]);
    for mode in ["", "user", "limit"] {
        let unchanged = finish(Command::new(&program).arg(mode));
        assert_eq!(unchanged.code, Some(0), "{unchanged:?}");
        let mut run = directory.tare(["run", "--library"]);
        // Tare's own memory is less than 2 MiB then, which with the program's is within the limit of `user`.
        run.env("TARE_OPTIONS", "max_thread_instances=64");
        let finished = finish(run.arg(library()).arg("--").arg(&program).arg(mode));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(finished.stdout, unchanged.stdout, "{mode}");
    }
}

#[test]
fn programs_that_load_no_library_start_unchanged() {
    let directory = Directory::new("unchanged");
    let static_program = compile(&directory, "program.c", "static", &["-static"]);
    let mut programs = vec![(static_program, "static is linked statically")];
    let other_user = directory.path().join("other-user");
    install("/bin/true", &other_user);
    // Only root can give it to another user, with whose rights it runs.
    if chown(&other_user, Some(65_534), None).is_ok() {
        let permissions = std::fs::Permissions::from_mode(0o4755);
        std::fs::set_permissions(&other_user, permissions).expect("set");
        programs.push((other_user, "other-user changes its rights"));
    }
    for (program, why) in programs {
        let mut run = directory.tare(["run", "--library"]);
        let finished = finish(run.arg(library()).arg("--").arg(program));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.stderr.contains(why), "{finished:?}");
        assert!(
            finished.stderr.contains("it starts unchanged"),
            "{finished:?}"
        );
    }
}

#[test]
fn a_script_is_no_server_to_require() {
    let directory = Directory::new("required");
    let script = directory.path().join("redis-server");
    std::fs::write(&script, "#!/bin/sh\necho started\n").expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
    let mut run = directory.tare(["run", "--require", "--library"]);
    let finished = finish(run.arg(library()).arg("--").arg(&script));
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert_eq!(finished.stdout, "", "{finished:?}");
}

#[test]
fn only_the_named_server_of_a_script_is_recorded() {
    let directory = Directory::new("script");
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    run.arg(library()).args(["--server", "/usr/bin/dd", "--"]);
    // Both programs write a file; only dd is the server.
    let script = "open(my $f, '>', 'perl.data'); print $f 1; close $f; exec('dd', 'if=/dev/zero', 'of=dd.data', 'count=1')";
    let finished = finish(run.args(["perl", "-e", script]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stderr.contains("tare run: dd: files"),
        "{finished:?}"
    );
    let sql = "SELECT SUBSTRING_INDEX(FILE_NAME, '/', -1) AS name, COUNT_WRITE AS n \
               FROM performance_schema.file_summary_by_instance WHERE FILE_NAME LIKE '%.data'";
    let written = statements(&rows(&directory, &["--segment", "segment"], sql));
    assert_eq!(written, BTreeMap::from([("dd.data".to_owned(), 1)]));

    // Whether a server is required is asked of the program, not of the script.
    let mut run = directory.tare(["run", "--require", "--server", "/usr/bin/dd", "--library"]);
    let refused = finish(run.arg(library()).args(["--", "perl", "-e", script]));
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(
        refused.stderr.contains("/usr/bin/dd is not a MySQL"),
        "{refused:?}"
    );
}

#[test]
fn a_script_is_recorded_as_its_interpreter() {
    let directory = Directory::new("interpreter");
    let body = "open(my $f, '>', 'perl.data'); print $f 1; close $f; print 'done';\n";
    for line in ["#!/usr/bin/perl", "#! /usr/bin/env -S perl -w"] {
        let script = directory.path().join("server");
        std::fs::write(&script, format!("{line}\n{body}")).expect("written");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
        let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
        let finished = finish(run.arg(library()).arg("--").arg(&script));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(finished.stdout, "done");
        for message in [
            "tare run: perl: files",
            "tare run: server (perl) runs as process",
        ] {
            assert!(finished.stderr.contains(message), "{finished:?}");
        }
        let sql = "SELECT COUNT_WRITE FROM performance_schema.file_summary_by_instance \
                   WHERE FILE_NAME LIKE '%/perl.data'";
        let rows = rows(&directory, &["--segment", "segment"], sql);
        assert_eq!(rows.iter().map(number).collect::<Vec<_>>(), [1], "{line}");
    }
    // A shell's script is what its programs are.
    let script = directory.path().join("start");
    std::fs::write(&script, "#!/bin/sh\necho started\n").expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
    let mut run = directory.tare(["run", "--library"]);
    let finished = finish(run.arg(library()).arg("--").arg(&script));
    assert_eq!((finished.code, &*finished.stdout), (Some(0), "started\n"));
    assert!(
        finished
            .stderr
            .contains("start is a shell script: if it starts a server, name the server's program with --server PATH; it starts unchanged"),
        "{finished:?}"
    );
}

#[test]
fn files_of_any_program_are_recorded() {
    let directory = Directory::new("dd");
    std::fs::write(directory.path().join("from.log"), vec![b'x'; 40_960]).expect("written");
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    run.arg(library()).args([
        "--",
        "dd",
        "if=from.log",
        "of=to.conf",
        "bs=4096",
        "conv=fsync",
    ]);
    let finished = finish(&mut run);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished
            .stderr
            .contains("dd: files, sockets, polls, sleeps and threads are recorded"),
        "{finished:?}"
    );
    assert_eq!(
        std::fs::read(directory.path().join("to.conf")).expect("copied"),
        vec![b'x'; 40_960]
    );
    let sql = "SELECT SUBSTRING_INDEX(FILE_NAME, '/', -1) AS name, EVENT_NAME AS class, COUNT_READ AS r, \
               COUNT_WRITE AS w, SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE AS bytes \
               FROM performance_schema.file_summary_by_instance \
               WHERE FILE_NAME LIKE '%/from.log' OR FILE_NAME LIKE '%/to.conf' ORDER BY 1";
    let expected = serde_json::json!([
        // The last read finds the end.
        {"name": "from.log", "class": "wait/io/file/dd/log", "r": 11, "w": 0, "bytes": 40_960},
        {"name": "to.conf", "class": "wait/io/file/dd/config", "r": 0, "w": 10, "bytes": 40_960},
    ]);
    assert_eq!(
        Json::from(rows(&directory, &["--segment", "segment"], sql)),
        expected
    );
    let sql = "SELECT COUNT_STAR AS n FROM performance_schema.events_waits_summary_global_by_event_name \
               WHERE EVENT_NAME = 'wait/io/file/dd/config'";
    let operations = number(&rows(&directory, &["--segment", "segment"], sql)[0]);
    assert!(operations >= 12, "open, ten writes and fsync: {operations}");
}

#[test]
fn a_launcher_passes_the_library_on() {
    let directory = Directory::new("launcher");
    let script = "echo preload=$LD_PRELOAD; exec dd if=/dev/zero of=x bs=10 count=3";
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    run.arg(library()).args(["--", "sh", "-c", script]);
    let finished = finish(&mut run);
    assert!(finished.stdout.contains("libtare_any.so"), "{finished:?}");
    let sql = "SELECT SUM_NUMBER_OF_BYTES_WRITE AS n FROM performance_schema.file_summary_by_instance \
               WHERE EVENT_NAME = 'wait/io/file/dd/data' AND FILE_NAME LIKE '%/x'";
    assert_eq!(
        number(&rows(&directory, &["--segment", "segment"], sql)[0]),
        30
    );
}

#[test]
fn a_launcher_passes_the_level_on() {
    let directory = Directory::new("level");
    let mut run = directory.tare(["run", "--segment", "segment", "--sampling", "active"]);
    run.arg("--library").arg(library());
    let finished = finish(run.args(["--", "sh", "-c", "exec dd if=/dev/null of=x"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let sql = "SELECT DISTINCT SAMPLING AS level FROM tare.setup_sampling";
    assert_eq!(
        rows(&directory, &["--segment", "segment"], sql),
        [serde_json::json!({"level": "active"})]
    );
}
