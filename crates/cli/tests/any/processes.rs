//! Programs that fork.

use super::support::{Directory, Process};
use super::{library, number, programs, rows};

/// Bytes written to a file.
fn written(directory: &Directory, target: &[&str], file: &str) -> u64 {
    let sql = format!(
        "SELECT SUM_NUMBER_OF_BYTES_WRITE FROM performance_schema.file_summary_by_instance \
         WHERE FILE_NAME LIKE '%/{file}'"
    );
    number(&rows(directory, target, &sql)[0])
}

#[test]
fn children_count_with_their_parent_also_when_they_are_killed() {
    let directory = Directory::new("prefork");
    let program = programs::compile(&directory, "prefork.c", "prefork", &[]);
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    run.arg(library()).arg("--").arg(program);
    let mut run = Process::start(&mut run);
    let line = run.line();
    let (writes, child) = line.split_once(' ').expect("two numbers");
    let segment = ["--segment", "segment"];
    let count = |file: &str| written(&directory, &segment, file);
    for worker in 0..4 {
        assert_eq!(count(&format!("worker{worker}.data")), 100);
    }
    assert_eq!(count("shared.data"), 4 * 2);
    assert_eq!(count("short.data"), 2_000);
    let writes: u64 = writes.parse().expect("a number");
    // A write is counted before it is tallied, and may be killed in between; or after it is done.
    let killed = count("killed.data");
    assert!(killed.abs_diff(writes) <= 100, "{killed} of {writes}");

    let threads = rows(
        &directory,
        &segment,
        "SELECT NAME AS name, THREAD_OS_ID AS os_id, PARENT_THREAD_ID AS parent \
         FROM performance_schema.threads ORDER BY THREAD_ID",
    );
    let child: u64 = child.parse().expect("a number");
    let of_child = threads.iter().find(|row| row["os_id"] == child);
    let of_child = of_child.unwrap_or_else(|| panic!("{child} in {threads:?}"));
    assert_eq!(
        (&of_child["name"], &of_child["parent"]),
        (&threads[0]["name"], &1.into())
    );
    // Each process of the tree names the segment.
    let first = "SELECT pid FROM tare.segments";
    let of_child = &rows(&directory, &["--pid", &child.to_string()], first)[0];
    assert_eq!(of_child, &rows(&directory, &segment, first)[0]);
    let sql =
        "SELECT COUNT(*) FROM performance_schema.file_instances WHERE FILE_NAME LIKE '%.data'";
    assert_eq!(number(&rows(&directory, &segment, sql)[0]), 8);
    let lost = "SELECT COUNT(*) FROM performance_schema.global_status WHERE VARIABLE_VALUE <> '0' AND \
                (VARIABLE_NAME LIKE 'Performance_schema%lost' OR VARIABLE_NAME = 'Tare_forks')";
    assert_eq!(number(&rows(&directory, &segment, lost)[0]), 0);

    std::fs::write(directory.path().join("go"), "").expect("written");
    assert!(run.wait().success());
    // The segment ends with its last process.
    assert_eq!(count("shared.data"), 4 * 2 + 2);
    let sql = "SELECT COUNT(*) FROM performance_schema.threads";
    assert_eq!(number(&rows(&directory, &segment, sql)[0]), 0);
}
