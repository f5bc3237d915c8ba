//! What the tools say of a server at the level `active`: that only statements are counted, and the statement
//! that ends the level. Consumers and instruments make no difference then.

mod support;

use mysql::prelude::Queryable;
use support::server::{Server, Work};
use support::{CommandResult, Directory, PAGES, finish, tare_as_nobody, wait_for};

const END: &str = "UPDATE tare.setup_sampling SET sampling = 'every'";

/// Runs a tool on a server.
fn run(server: &Server, words: &[&str]) -> CommandResult {
    let directory = Directory::new("level-active");
    let socket = server.socket().to_str().expect("UTF-8").to_owned();
    let history = directory.path().join("history");
    let mut command = directory.tare([words[0], "--dsn", &socket]);
    if words[0] == "record" {
        command.arg("--dir").arg(&history);
    }
    let finished = finish(command.args(&words[1..]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished
}

fn top(server: &Server, page: &str) -> String {
    run(
        server,
        &["top", "--batch", "1", "-i", "0.3", "--page", page],
    )
    .stdout
}

#[test]
fn tools_name_the_level_and_not_what_it_switches_off() {
    let server = Server::tare(&["--sampling", "active"]);
    let _work = Work::start(server.socket());
    let mut conn = server.connect();
    for page in PAGES {
        let text = top(&server, page);
        let title = text.lines().next().expect("a title");
        assert!(title.ends_with(", level: active"), "{text}");
        assert_eq!(text.matches(END).count(), 1, "{text}");
        assert!(!text.contains("performance_schema.setup_"), "{text}");
        assert!(!text.contains("estimates"), "{text}");
    }
    let waits = top(&server, "waits");
    assert!(
        waits.contains("threads (7) has what each session does now"),
        "{waits}"
    );
    // A session that is asleep in each answer.
    let mut sleeper = server.connect();
    let sleeps = std::thread::spawn(move || {
        // A statement that was killed has failed.
        let _killed = sleeper.query_drop("SELECT SLEEP(1000)");
    });
    let id = wait_for("the sleeper", || {
        let sql = "SELECT processlist_id FROM tare.active_sessions WHERE sql_text = 'SELECT SLEEP(1000)' \
                   AND state IN ('waiting', 'blocked elsewhere')";
        conn.query_first::<u64, _>(sql).expect("rows")
    });
    let threads = top(&server, "threads");
    let line = threads.lines().find(|line| line.contains("SLEEP(1000)"));
    let line = line.unwrap_or_else(|| panic!("{threads}"));
    let does = line.split("Query").nth(1).expect("a command");
    let does = does.trim_start_matches(|c: char| !c.is_alphabetic());
    assert!(
        does.starts_with("waiting: wait/synch/cond/")
            || does.starts_with("blocked elsewhere: User sleep "),
        "{line}"
    );
    conn.query_drop(format!("KILL {id}")).expect("killed");
    sleeps.join().expect("the sleeper");
    let recorded = run(&server, &["record", "--for", "0.3"]);
    assert!(!recorded.stderr.contains("consumers"), "{recorded:?}");
    let watched = run(&server, &["querystat", "--for", "0.5"]).stdout;
    assert!(watched.contains(END), "{watched}");
    assert!(!watched.contains("setup_consumers"), "{watched}");
    let explained = run(&server, &["explain", "-i", "0.5"]).stdout;
    assert!(
        explained.contains("\nlevel            active: "),
        "{explained}"
    );

    // With this consumer off nothing is stored at this level either.
    const GLOBAL: &str = "WHERE NAME = 'global_instrumentation'";
    let switch = "UPDATE performance_schema.setup_consumers SET ENABLED =";
    conn.query_drop(format!("{switch} 'NO' {GLOBAL}"))
        .expect("switched");
    let recorded = run(&server, &["record", "--for", "0.3"]);
    let lacks = "'global_instrumentation')";
    assert!(recorded.stderr.contains(lacks), "{recorded:?}");
    assert!(!recorded.stderr.contains("_current"), "{recorded:?}");
    let waits = top(&server, "waits");
    assert!(waits.contains("global_instrumentation is off"), "{waits}");
    conn.query_drop(format!("{switch} 'YES' {GLOBAL}"))
        .expect("switched");

    conn.query_drop(END).expect("switched");
    for page in PAGES {
        let text = top(&server, page);
        assert!(!text.contains("active") && !text.contains(END), "{text}");
    }
    let recorded = run(&server, &["record", "--for", "0.3"]);
    assert!(recorded.stderr.contains("_current"), "{recorded:?}");
}

/// The texts of statements are for those who may read the segment: its owner and root.
#[test]
fn another_user_reads_no_text_of_a_statement() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user");
        return;
    }
    let directory = Directory::new("level-other-user");
    // The directory is open to all, so that the mode of the segment decides.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("set");
    let segment = directory.path().join("segment");
    let segment = segment.to_str().expect("UTF-8");
    let server = Server::tare(&["--sampling", "active", "--segment", segment]);
    let mut sleeper = server.connect();
    std::thread::spawn(move || sleeper.query_drop("SELECT SLEEP(1000), 'hidden'"));
    let pid = server.pid().to_string();
    let texts = "SELECT sql_text FROM tare.active_sessions";
    wait_for("the text, for its owner", || {
        let words = ["sql", "--segment", segment, "-e", texts];
        let finished = finish(&mut directory.tare(words));
        finished.stdout.contains("'hidden'").then_some(())
    });
    for words in [
        &["sql", "--pid", &pid, "-e", texts][..],
        &["sql", "--segment", segment, "-e", texts],
        &["top", "--batch", "1", "--page", "threads", "--pid", &pid],
        &[
            "record",
            "--for",
            "0.3",
            "--dir",
            "/nonexistent",
            "--pid",
            &pid,
        ],
        &["live", "--listen", "127.0.0.1:0", "--pid", &pid],
    ] {
        let finished = finish(&mut tare_as_nobody(words));
        assert!(finished.code.is_some_and(|code| code != 0), "{finished:?}");
        let texts = finished.stdout + &finished.stderr;
        assert!(!texts.contains("hidden"), "{words:?}: {texts}");
    }
}
