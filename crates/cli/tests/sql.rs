//! `tare sql` on running programs and saved segments, end to end.

mod support;

use std::process::Stdio;

use support::{Directory, finish, finish_with_input, host};

#[test]
fn a_running_program_answers_by_pid() {
    let directory = Directory::new("pid");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    let query = "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME LIKE '%LOCK_host'";
    let finished = finish(&mut directory.tare(["sql", "--pid", &pid, "-e", query]));
    assert_eq!(
        finished.stdout, "EVENT_NAME\tCOUNT_STAR\nwait/synch/mutex/host/LOCK_host\t1\n",
        "{finished:?}"
    );
    assert_eq!(finished.code, Some(0));

    let json = finish(&mut directory.tare(["sql", "--pid", &pid, "--format", "json", "-e", query]));
    let parsed: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(parsed[0]["COUNT_STAR"], 1);

    let table =
        finish(&mut directory.tare(["sql", "--pid", &pid, "--format", "table", "-e", query]));
    assert!(
        table
            .stdout
            .contains("| wait/synch/mutex/host/LOCK_host |          1 |"),
        "{table:?}"
    );
}

#[test]
fn a_setting_changes_the_running_program() {
    let directory = Directory::new("set");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    let enabled = || {
        let query =
            "SELECT ENABLED FROM performance_schema.setup_instruments WHERE NAME LIKE '%LOCK_host'";
        finish(&mut directory.tare(["sql", "--pid", &pid, "-e", query])).stdout
    };
    assert_eq!(enabled(), "ENABLED\nYES\n");
    let update = "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE '%LOCK_host'";
    let finished = finish(&mut directory.tare(["sql", "--pid", &pid, "-e", update]));
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(0), ""),
        "{finished:?}"
    );
    assert_eq!(enabled(), "ENABLED\nNO\n");
}

#[test]
fn a_saved_segment_answers_with_the_last_event_and_cannot_be_changed() {
    let directory = Directory::new("saved");
    let mut command = directory.tare(["run", "--segment", "x.segment"]);
    host::add_arguments(command.arg("--"), "abort");
    assert_eq!(finish(&mut command).code, Some(128 + 6));

    let query =
        |query: &str| finish(&mut directory.tare(["sql", "--segment", "x.segment", "-e", query]));
    let last = query("SELECT SQL_TEXT FROM performance_schema.events_statements_current");
    assert_eq!(
        last.stdout, "SQL_TEXT\nSELECT 'from the host'\n",
        "{last:?}"
    );
    let update = query("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO'");
    assert_eq!(update.code, Some(1), "{update:?}");
    assert!(update.stderr.starts_with("ERROR "), "{update:?}");
    assert_eq!(directory.names(), ["x.segment"]);
}

#[test]
fn every_table_of_a_saved_segment_answers() {
    let directory = Directory::new("every");
    let mut command = directory.tare(["run", "--segment", "x.segment"]);
    host::add_arguments(command.arg("--"), "abort");
    finish(&mut command);
    let names = "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) AS t FROM information_schema.tables \
                 WHERE TABLE_SCHEMA IN ('performance_schema', 'tare')";
    let query =
        |query: &str| finish(&mut directory.tare(["sql", "--segment", "x.segment", "-e", query]));
    let tables = query(names);
    assert_eq!(tables.code, Some(0), "{tables:?}");
    let tables: Vec<&str> = tables.stdout.lines().skip(1).collect();
    assert!(tables.len() > 40, "{tables:?}");
    let script: String = tables
        .iter()
        .map(|table| format!("SELECT COUNT(*) FROM {table};\n"))
        .collect();
    let counts = query(&script);
    assert_eq!(
        (counts.code, counts.stdout.lines().count()),
        (Some(0), 2 * tables.len()),
        "{counts:?}"
    );
}

#[test]
fn statements_come_from_standard_input_and_stop_at_the_first_error() {
    let directory = Directory::new("stdin");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    let mut command = directory.tare(["sql", "--pid", &pid]);
    let input = "SELECT 1 AS a; -- one;\nSELECT ';' AS\n b; SELECT * FROM performance_schema.nowhere; SELECT 2";
    let finished = finish_with_input(&mut command, input);
    assert_eq!(finished.stdout, "a\n1\nb\n;\n");
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.starts_with("ERROR 1146 (42S02): "),
        "{finished:?}"
    );

    let last = finish_with_input(
        &mut directory.tare(["sql", "--pid", &pid]),
        "SELECT 18446744073709551615 AS n",
    );
    assert_eq!(last.stdout, "n\n18446744073709551615\n", "{last:?}");
}

#[test]
fn without_a_segment_the_code_is_3_with_a_reason() {
    let directory = Directory::new("none");
    std::fs::write(directory.path().join("noise"), vec![0xa5; 100_000]).expect("written");
    let mut child = std::process::Command::new("sleep")
        .arg("600")
        .stdout(Stdio::null())
        .spawn()
        .expect("sleep");
    let sleeper = child.id().to_string();
    for (arguments, words) in [
        (["--pid", sleeper.as_str()], "does not use Tare"),
        (["--pid", "2147483646"], "no process 2147483646"),
        (["--segment", "nowhere.segment"], "nowhere.segment"),
        (["--segment", "noise"], "noise"),
        (["--segment", "."], "directory"),
    ] {
        let finished = finish(directory.tare(["sql", "-e", "SELECT 1"]).args(arguments));
        assert_eq!(
            (finished.code, finished.stdout.as_str()),
            (Some(3), ""),
            "{arguments:?}: {finished:?}"
        );
        assert!(
            finished.stderr.contains(words),
            "{arguments:?}: {finished:?}"
        );
    }
    child.kill().expect("killed");
    child.wait().expect("reaped");
}

#[test]
fn nothing_is_left_in_the_temporary_directory() {
    let directory = Directory::new("left");
    let host = host::start(&directory);
    let temporary = directory.path().join("tmp");
    std::fs::create_dir(&temporary).expect("made");
    let pid = host.pid().to_string();
    let finished = finish(
        directory
            .tare(["sql", "--pid", &pid, "-e", "SELECT 1"])
            .env("TMPDIR", &temporary),
    );
    assert_eq!(finished.stdout, "1\n1\n", "{finished:?}");
    assert_eq!(std::fs::read_dir(&temporary).expect("there").count(), 0);
}
