//! A full disk loses no acknowledged row and leaves no half-written file. The data directory is a file
//! system of a few megabytes, which only the test sees.

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use mysql::Conn;
use mysql::prelude::Queryable;
use support::server::{Server, connect};
use support::{Directory, Process, TARE, finish, wait_for};

/// `sh` with a file system of its own at `data`. In a mount namespace of its own (`unshare`), every user may
/// mount one.
fn shell_on_small_disk(directory: &Directory, bytes: &str, script: &str) -> Command {
    std::fs::create_dir(directory.path().join("data")).expect("made");
    let mut command = Command::new("unshare");
    let script = format!("mount -t tmpfs -o size={bytes} none data && {script}");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(directory.path())
        .env("TARE", TARE)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command
}

const SERVE: &str =
    "\"$TARE\" serve --data data --socket tare.sock --port 0 --performance-schema=OFF";

fn wait_for_server(directory: &Directory) -> Conn {
    let socket = directory.path().join("tare.sock");
    wait_for("the server", || connect(&socket).ok())
}

fn error_number(conn: &mut Conn, sql: &str) -> u16 {
    match conn.query_drop(sql) {
        Ok(()) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(other) => panic!("{sql}: {other}"),
    }
}

fn query_number(conn: &mut Conn, sql: &str) -> u64 {
    let number = conn.query_first(sql).expect("answered");
    number.unwrap_or_else(|| panic!("{sql}: no row"))
}

/// The path of the small disk from outside its namespace.
fn data_directory(pid: u32, directory: &Directory) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let path = directory.path().canonicalize().expect("there");
    root.join(path.strip_prefix("/").expect("absolute"))
        .join("data")
}

/// Fills the disk.
fn fill(file: &PathBuf) {
    use std::io::Write as _;
    let mut file = std::fs::File::create(file).expect("made");
    for size in [1 << 16, 1 << 12, 1] {
        let part = vec![0; size];
        while file.write_all(&part).is_ok() {}
    }
}

#[test]
fn the_first_start_on_a_full_disk_leaves_no_empty_password() {
    let directory = Directory::new("fullstart");
    // From no free KiB on, so that the disk gets full at each step of creating the files.
    let script = format!(
        "for left in 0 4 8 12 16 20; do \
           rm -rf data/*; dd if=/dev/zero of=data/left bs=1k count=$left 2>&0; \
           dd if=/dev/zero of=data/filler bs=1k 2>&0; rm data/left; \
           {SERVE} > out 2> err & pid=$!; \
           while kill -0 $pid 2>&0 && ! grep -q Listening out; do sleep 0.05; done; \
           kill $pid 2>&0; wait $pid; \
           echo \"left $left: $(head -c 300 err | tr '\\n' ' ')\"; \
           find data -name '*password*' -o -name '*.pem' | while read f; do \
             case $f in *.new) ;; *) [ -s $f ] || echo \"empty $f\";; esac; done; \
           rm -f data/filler; {SERVE} > out 2> err & pid=$!; \
           while kill -0 $pid 2>&0 && ! grep -q Listening out; do sleep 0.05; done; \
           grep -q Listening out && echo \"starts $left\" || cat err; \
           kill $pid; wait $pid; \
         done"
    );
    let script = script.replace("2>&0", "2>/dev/null");
    let done =
        support::finish(shell_on_small_disk(&directory, "64k", &script).stdout(Stdio::piped()));
    assert!(!done.stdout.contains("empty"), "{done:?}");
    for left in [0, 4, 8, 12, 16, 20] {
        assert!(done.stdout.contains(&format!("starts {left}")), "{done:?}");
    }
    let full = done.stdout.lines().filter(|line| line.contains("No space"));
    assert!(full.count() >= 2, "it says what is wrong: {done:?}");
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let directory = Directory::new("full");
    // When the server ends, it is started again on the same disk.
    let script = format!("{{ {SERVE} & echo $!; wait $!; {SERVE} & echo $!; wait $!; }}");
    let mut command = shell_on_small_disk(&directory, "16m", &script);
    let mut running = Process::start(&mut command);
    // The server's own lines come in between.
    let pid = |running: &mut Process| loop {
        if let Ok(pid) = running.line().trim().parse::<u32>() {
            return pid;
        }
    };
    let first = pid(&mut running);
    let mut conn = wait_for_server(&directory);
    for sql in [
        "CREATE DATABASE test",
        "USE test",
        "CREATE TABLE t (n INT PRIMARY KEY, v TEXT)",
        "CREATE USER known IDENTIFIED BY 'secret'",
    ] {
        conn.query_drop(sql).expect(sql);
    }
    let insert = |n: u64| format!("INSERT INTO t VALUES ({n}, REPEAT('a', 20000))");
    let mut acknowledged = 0;
    let filler = data_directory(first, &directory).join("filler");
    for round in 0..3 {
        for _ in 0..20 {
            assert_eq!(error_number(&mut conn, &insert(acknowledged)), 0);
            acknowledged += 1;
        }
        fill(&filler);
        // Some rows fit into existing pages.
        let code = loop {
            match error_number(&mut conn, &insert(acknowledged)) {
                0 => acknowledged += 1,
                code => break code,
            }
        };
        assert!([1021, 1114].contains(&code), "round {round}: {code}");
        // A transaction fails as a whole.
        assert_eq!(error_number(&mut conn, "BEGIN"), 0);
        let failed = (0..50).find_map(|n| {
            let code = error_number(&mut conn, &insert(1_000_000 + n));
            (code != 0).then_some(code)
        });
        let code = failed.unwrap_or_else(|| error_number(&mut conn, "COMMIT"));
        assert!([1021, 1114].contains(&code), "round {round}: {code}");
        conn.query_drop("ROLLBACK").expect("rolled back");
        assert_eq!(
            query_number(&mut conn, "SELECT COUNT(*) FROM t"),
            acknowledged
        );
        // The file of accounts is not half written.
        assert_ne!(
            error_number(&mut conn, "CREATE USER lost IDENTIFIED BY 'x'"),
            0
        );
        assert_ne!(error_number(&mut conn, "CREATE DATABASE other"), 0);
        std::fs::remove_file(&filler).expect("removed");
        assert_eq!(error_number(&mut conn, &insert(acknowledged)), 0);
        acknowledged += 1;
    }
    fill(&filler);
    support::signal(first, "KILL");
    let second = pid(&mut running);
    // The server also starts on a full disk.
    let mut conn = wait_for_server(&directory);
    std::fs::remove_file(data_directory(second, &directory).join("filler")).expect("removed");
    conn.query_drop("USE test").expect("there");
    let sql = "SELECT COUNT(*) FROM t WHERE LENGTH(v) = 20000 AND n < 1000000";
    assert_eq!(query_number(&mut conn, sql), acknowledged);
    assert_eq!(
        query_number(&mut conn, "SELECT COUNT(*) FROM t"),
        acknowledged
    );
    assert_eq!(error_number(&mut conn, &insert(acknowledged)), 0);
    let users = "SELECT COUNT(*) FROM mysql.user WHERE User IN ('known', 'lost')";
    assert_eq!(query_number(&mut conn, users), 1);
    support::signal(second, "TERM");
    running.wait();
}

#[test]
fn a_full_disk_can_be_emptied() {
    let directory = Directory::new("full-empty");
    let script = format!("{{ {SERVE} & echo $!; wait $!; {SERVE} & echo $!; wait $!; }}");
    let mut running = Process::start(&mut shell_on_small_disk(&directory, "24m", &script));
    let pid = |running: &mut Process| loop {
        if let Ok(pid) = running.line().trim().parse::<u32>() {
            return pid;
        }
    };
    let first = pid(&mut running);
    let mut conn = wait_for_server(&directory);
    let mut statements = vec!["CREATE DATABASE test".to_owned()];
    for database in ["drop_me", "and_me", "keep"] {
        statements.push(format!("CREATE DATABASE {database}"));
        for table in ["t", "u", "v"] {
            let name = format!("{database}.{table}");
            statements.push(format!(
                "CREATE TABLE {name} (n INT PRIMARY KEY, v MEDIUMTEXT)"
            ));
            let values: Vec<String> = (0..15)
                .map(|n| format!("({n}, REPEAT('a', 20000))"))
                .collect();
            statements.push(format!("INSERT INTO {name} VALUES {}", values.join(", ")));
        }
    }
    for sql in statements {
        conn.query_drop(&sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let filler = data_directory(first, &directory).join("filler");
    fill(&filler);
    // A crash leaves the files as they are, and the server's next start finds no space.
    support::signal(first, "KILL");
    let second = pid(&mut running);
    let mut conn = wait_for_server(&directory);
    let insert = |n: u64| format!("INSERT INTO keep.t VALUES ({n}, REPEAT('a', 1000000))");
    let code = (100..200).find_map(|n| match error_number(&mut conn, &insert(n)) {
        0 => None,
        code => Some(code),
    });
    assert!([Some(1021), Some(1114)].contains(&code), "{code:?}");
    assert!([1021, 1114].contains(&error_number(&mut conn, "CREATE DATABASE other")));
    assert_eq!(
        query_number(&mut conn, "SELECT COUNT(*) FROM drop_me.t"),
        15
    );
    let databases = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'other'";
    assert_eq!(
        query_number(&mut conn, databases),
        0,
        "it is not half created"
    );
    for sql in [
        "DELETE FROM keep.u WHERE n < 10",
        "TRUNCATE TABLE keep.u",
        "DROP TABLE keep.v",
        "DELETE FROM keep.t WHERE n >= 5",
    ] {
        assert_eq!(error_number(&mut conn, sql), 0, "{sql}");
    }
    assert_eq!(query_number(&mut conn, "SELECT COUNT(*) FROM keep.t"), 5);
    // A session of its own, which has opened no file.
    let mut other = wait_for_server(&directory);
    for sql in [
        "DROP TABLE drop_me.t",
        "DROP DATABASE drop_me",
        "DROP DATABASE and_me",
    ] {
        assert_eq!(error_number(&mut other, sql), 0, "{sql}");
    }
    assert_eq!(
        error_number(&mut conn, &insert(500)),
        0,
        "there is space again"
    );
    support::signal(second, "TERM");
    running.wait();
}

/// Files written before stay readable. The recorder uses SQL, because in a user namespace of its own it
/// must not read the server's memory.
#[test]
fn recording_ends_on_a_full_disk_with_a_reason_and_no_damage() {
    let directory = Directory::new("full-disk-record");
    let server = Server::tare(&[]);
    let script = format!(
        "{{ \"$TARE\" record --socket {} --dir data --rate 500 --write-every 0.1s; code=$?; \
         \"$TARE\" sql --history data --format tsv -e 'SELECT COUNT(*) FROM moments' || exit 9; exit $code; }}",
        server.socket().display()
    );
    let done = finish(&mut shell_on_small_disk(&directory, "256k", &script));
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stderr.contains("recording has stopped: "), "{done:?}");
    assert!(
        done.stderr
            .contains("The files written before are complete"),
        "{done:?}"
    );
    let moments = done
        .stdout
        .lines()
        .last()
        .and_then(|n| n.parse::<u64>().ok());
    assert!(moments >= Some(50), "{done:?}");
}
