//! `tare live` end to end: authentication, its JSON, and the page in a browser.

#[path = "support/history.rs"]
mod history;
#[path = "live/in_browser.rs"]
mod in_browser;
#[path = "support/live.rs"]
mod page;
#[path = "live/several.rs"]
mod several;
mod support;

use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use history::add_blocks;
use mysql::Conn;
use mysql::prelude::Queryable;
use page::Live;
use serde_json::Value;
use support::browser::Browser;
use support::server::Server;
use support::{Directory, Process, finish, wait_for};
use tare_history::{Moment, Plan, PlanReason, PlanTree, Writer};

/// Markup that changes the page's title if the page does not escape it.
const SCRIPT_INJECTION: &str =
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";

/// The texts, or else the keys, of a list's rows.
fn listed(state: &Value, dimension: &str) -> Vec<String> {
    let rows = state["tops"][dimension].as_array().expect("a list").iter();
    rows.map(|row| {
        let text = row["text"].as_str().or(row["key"].as_str());
        text.expect("a text").to_owned()
    })
    .collect()
}

/// Starts a client that sleeps until its server is killed.
fn sleeper(server: &Server, named: &str) -> JoinHandle<()> {
    let mut conn = server.connect();
    let sql = format!("SELECT SLEEP(1000) AS `{named}`");
    thread::spawn(move || {
        let _ = conn.query_drop(sql);
    })
}

/// A server with everything on, a client that sleeps, and a client that another one blocks.
fn start_busy_server() -> (Server, Conn, Vec<JoinHandle<()>>) {
    let server = Server::tare(&["--performance-schema-instrument=%=ON"]);
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    for sql in [
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'",
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (n INT)",
        "BEGIN",
        "INSERT INTO shop.orders VALUES (1)",
    ] {
        holder.query_drop(sql).expect(sql);
    }
    let waits = thread::spawn(move || {
        let _ = waiter.query_drop("INSERT INTO shop.orders VALUES (2)");
    });
    let threads = vec![sleeper(&server, SCRIPT_INJECTION), waits];
    (server, holder, threads)
}

#[test]
fn every_request_needs_the_token() {
    let directory = Directory::new("live-token");
    let server = Server::tare(&[]);
    let live = Live::start(&directory, &["--pid", &server.pid().to_string()]);
    assert_eq!(live.token.len(), 32);
    let wrong = format!("GET /?token={}", "0".repeat(32));
    for request in [
        "GET /",
        "GET /page.js",
        "GET /api/state",
        "GET /api/status",
        "GET /api/statement?sql=a",
        "GET /diff",
        &wrong,
    ] {
        let name = live.cookie().split('=').next().expect("a name").to_owned();
        for cookie in [
            "",
            "a=b",
            &format!("{name}=0"),
            &format!("{name}={}", "0".repeat(32)),
        ] {
            let (head, text) = live.request(request, cookie);
            assert!(
                head.starts_with("HTTP/1.0 403"),
                "{request} {cookie}: {head}"
            );
            assert!(text.starts_with("Open the address"), "{text}");
        }
    }
    let cookie = live.cookie();
    for (path, begins) in [
        ("/", "<!doctype html>"),
        ("/uplot.js", "/*!"),
        ("/api/state", "{"),
    ] {
        let (head, text) = live.request(&format!("GET {path}"), &cookie);
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        assert!(text.starts_with(begins), "{path}");
        let policy = head
            .lines()
            .find_map(|line| line.strip_prefix("content-security-policy: "));
        let policy = policy.expect("a policy");
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        for line in [
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(head.contains(line), "{head}");
        }
    }
    let (head, text) = live.request("GET /diff", &cookie);
    assert!(head.starts_with("HTTP/1.0 404"), "{head}");
    assert!(text.contains("needs a history"), "{text}");
    assert!(
        live.request("POST /api/state", &cookie)
            .0
            .starts_with("HTTP/1.0 405")
    );
    assert!(
        live.request("GET /../Cargo.toml", &cookie)
            .0
            .starts_with("HTTP/1.0 404")
    );
    for odd in [
        "from=x&to=y",
        "from=-9999999999999999&to=9999999999999999",
        "last=0",
        "class=none&wait=%00%ff",
    ] {
        live.json(&format!("/api/state?{odd}"));
    }
    let other =
        finish(&mut directory.tare(["live", "--pid", "2147483647", "--listen", "127.0.0.1:0"]));
    assert_eq!(other.code, Some(3), "{other:?}");
    let pid = server.pid().to_string();
    let taken = finish(&mut directory.tare(["live", "--pid", &pid, "--listen", &live.host]));
    assert!(
        taken.stderr.contains("another address with --listen"),
        "{taken:?}"
    );
}

#[test]
fn shared_memory_sql_and_a_history_give_the_same() {
    let directory = Directory::new("live-sources");
    let server = Server::tare(&[]);
    let mut root = server.connect();
    root.query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'")
        .expect("updated");
    // The server knows a digest's text once a first execution has ended.
    root.query_drop("SELECT SLEEP(0) AS `asleep`")
        .expect("runs");
    let _sleeper = sleeper(&server, "asleep");
    let pid = server.pid().to_string();
    let socket = server.socket().to_str().expect("UTF-8").to_owned();
    let is_asleep = |text: &String| text.contains("SLEEP") && text.contains("asleep");
    let wait_for_statement = |live: &Live| {
        wait_for("the statement", || {
            let state = live.json("/api/state");
            listed(&state, "sql").iter().any(is_asleep).then_some(state)
        })
    };
    for target in [["--pid", &*pid], ["--dsn", &*socket]] {
        let live = Live::start(&directory, &[&target[..], &["--rate", "50"]].concat());
        let state = wait_for_statement(&live);
        assert_eq!(listed(&state, "user"), ["root"], "{target:?}");
        assert!(
            state["target"]
                .as_str()
                .is_some_and(|name| name.contains("tare")),
            "{state}"
        );
        assert!(state["sampled"].as_f64() > Some(0.0));
        // Filters select rows.
        let none = live.json("/api/state?user=nobody");
        assert_eq!(none["tops"]["sql"].as_array().map(Vec::len), Some(0));
        let one = live.json("/api/state?user=root&last=600000");
        assert!(listed(&one, "sql").iter().any(is_asleep));
    }
    // Pieces that a running recorder has not merged into their final files are read, too.
    let history = directory.path().join("history");
    let path = history.to_str().expect("UTF-8").to_owned();
    let words = [
        "record",
        "--pid",
        &pid,
        "--dir",
        &path,
        "--rate",
        "50",
        "--write-every",
        "0.1s",
        "--host-name",
        "db1",
    ];
    let mut recorder = Process::start(&mut directory.tare(words));
    let past = ["--history", &path];
    wait_for("pieces with the statement", || {
        let live = Live::start(&directory, &past);
        let state = live.json("/api/state");
        listed(&state, "sql").iter().any(is_asleep).then_some(())
    });
    recorder.signal("INT");
    assert!(recorder.wait().success());
    let live = Live::start(&directory, &past);
    let state = wait_for_statement(&live);
    assert!(
        state["target"].is_null() && state["error"].is_null(),
        "{state}"
    );
    // It slept at every sampling instant.
    let (sampled, users) = (state["sampled"].as_f64(), &state["tops"]["user"]);
    let share = users[0]["seconds"].as_f64().zip(sampled);
    let share = share.map(|(seconds, sampled)| seconds / sampled);
    assert!(
        share.is_some_and(|share| (share - 1.0).abs() < 1e-3),
        "{share:?}"
    );
    for other in [["--host-name", "db2"], ["--server", "another"]] {
        let live = Live::start(&directory, &[&past[..], &other].concat());
        let state = live.json("/api/state");
        assert_eq!(
            state["tops"]["sql"].as_array().map(Vec::len),
            Some(0),
            "{other:?}"
        );
    }
}

#[test]
fn a_history_has_holders_that_slept_and_deadlocks() {
    let directory = Directory::new("live-blocks");
    let history = directory.path().join("history");
    let at = SystemTime::now() - Duration::from_secs(60);
    let mut writer = Writer::start(&history, "db1", "shop", at).expect("a writer");
    let moment = Moment {
        at,
        threads: None,
        is_exact: None,
        samples: Vec::new(),
    };
    (writer.add_moment(&moment, Duration::from_secs(1))).expect("written");
    add_blocks(&mut writer, [at - Duration::from_secs(1), at]);
    // A plan of long ago, and the one after its index was dropped.
    let digest = "d".repeat(32);
    for (days, access) in [(3, "ref"), (2, "ALL")] {
        let table = serde_json::json!({"table_name": "orders", "access_type": access});
        let plan = serde_json::json!({"query_block": {"table": table}}).to_string();
        let tree = PlanTree::parse(&plan).expect("a plan");
        writer.add_plan(&Plan {
            at: at - Duration::from_secs(days * 86_400),
            schema: None,
            digest: digest.clone(),
            reason: PlanReason::Changed,
            example: Some(format!("SELECT '<secret>' {SCRIPT_INJECTION}")),
            problem: None,
            plan: Some(plan),
            shape: Some(tree.shape()),
            full_scans: tree.full_scans(),
            indexes: tree.indexes(),
        });
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
    let live = Live::start(&directory, &["--history", &history.to_string_lossy()]);
    let mut page = Browser::start();
    page.open(&live.url);
    page.wait_until("document.querySelector('#tree li li') !== null");
    let tree = page.evaluate("document.querySelector('#tree').innerText");
    for expected in [
        "has the lock and sleeps 7.00 s in a transaction of 9.00 s; it ran last: SELECT 9",
        "waits 5.00 s for shop.t: UPDATE t",
        "waits 5.00 s for shop.t, whose holder is not known: DROP TABLE t",
    ] {
        assert!(
            tree.as_str().is_some_and(|tree| tree.contains(expected)),
            "{tree}"
        );
    }
    // The comparison is of this server.
    let link = page.evaluate("document.querySelector('#compare').search");
    assert!(
        link.as_str()
            .is_some_and(|link| link.ends_with("&host=db1&server=shop")),
        "{link}"
    );
    let deadlocks = page.evaluate("document.querySelector('#deadlocks').innerText");
    for expected in [
        "2 in this time",
        "(connection 7) went on",
        "(connection 8) was rolled back",
        "UPDATE b",
    ] {
        assert!(
            deadlocks
                .as_str()
                .is_some_and(|text| text.contains(expected)),
            "{deadlocks}"
        );
    }
    page.evaluate(&format!("location.hash = '#statement={digest}'"));
    page.wait_until("document.querySelectorAll('#plans .plan').length === 2");
    let plans = page.evaluate("document.querySelector('#plans').innerText");
    let plans = plans.as_str().expect("text");
    for expected in [
        "Plan, which changed",
        "Before it changed",
        SCRIPT_INJECTION,
        "Full scan of orders.",
    ] {
        assert!(plans.contains(expected), "{plans}");
    }
    assert_eq!(plans.matches("Full scan of").count(), 1, "{plans}");
    assert_eq!(page.complaints, Vec::<String>::new());
}

#[test]
fn a_servers_end_is_reported_and_its_samples_stay() {
    let directory = Directory::new("live-gone");
    let server = Server::tare(&[]);
    let asleep = sleeper(&server, "asleep");
    let live = Live::start(
        &directory,
        &["--pid", &server.pid().to_string(), "--rate", "50"],
    );
    wait_for("the statement", || {
        (!listed(&live.json("/api/state"), "sql").is_empty()).then_some(())
    });
    drop(server);
    asleep.join().expect("ends");
    wait_for("the page to report its end", || {
        live.json("/api/state")["error"].is_string().then_some(())
    });
    assert!(!listed(&live.json("/api/state?last=86400000"), "sql").is_empty());
}

#[test]
fn a_process_without_tare_has_threads_and_no_statements() {
    let directory = Directory::new("live-process");
    let sleeper = Process::start(std::process::Command::new("sleep").arg("3600"));
    let pid = sleeper.pid().to_string();
    let live = Live::start(&directory, &["--pid", &pid, "--rate", "50"]);
    let state = wait_for("a thread", || {
        let state = live.json("/api/state?last=60000");
        (!listed(&state, "thread").is_empty()).then_some(state)
    });
    assert_eq!(state["target"], format!("sleep ({pid})"));
    assert_eq!(
        state["lists"],
        serde_json::json!(["thread", "process", "wait"])
    );
    assert_eq!(state["title"], "Average active threads");
    assert_eq!(
        (listed(&state, "thread"), listed(&state, "process")),
        (vec!["sleep".to_owned()], vec![pid])
    );
    assert_eq!(listed(&state, "wait"), ["(blocked in clock_nanosleep)"]);
    assert!(listed(&state, "sql").is_empty());
    drop(sleeper);
    wait_for("its end", || {
        let state = live.json("/api/state?last=60000");
        let error = state["error"].as_str();
        error
            .is_some_and(|why| why.ends_with("has ended"))
            .then_some(())
    });
}
