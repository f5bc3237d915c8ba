//! `tare live` end to end: authentication, its JSON, and the page in a browser. TARE_PICTURES=DIR writes
//! screenshots of the page to DIR.

#[path = "support/history.rs"]
mod history;
#[path = "support/live.rs"]
mod page;
mod support;

use std::path::Path;
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

/// An expression for the button in a list whose text contains `text`.
fn button(dimension: &str, text: &str) -> String {
    format!(
        "[...document.querySelectorAll('[data-top={dimension}] .key')].find((one) => one.textContent.includes({text:?}))"
    )
}

#[test]
fn the_page_draws_filters_selects_and_escapes_all_text() {
    let directory = Directory::new("live-page");
    let (server, mut holder, threads) = start_busy_server();
    let live = Live::start(
        &directory,
        &["--pid", &server.pid().to_string(), "--rate", "50"],
    );
    let mut page = Browser::start();
    page.set_window(1280, 1000, false);
    page.open(&live.url);
    page.wait_until("document.querySelector('.uplot canvas') !== null");
    // The token has left the address.
    assert_eq!(page.evaluate("location.search"), "");
    for text in ["SLEEP", "INSERT INTO"] {
        page.wait_until(&format!("{} !== undefined", button("sql", text)));
    }
    page.wait_until(&format!(
        "{} !== undefined",
        button("wait", "wait/lock/metadata/sql/mdl")
    ));
    page.wait_until("document.querySelector('#tree li li') !== null");
    let tree = page.evaluate("document.querySelector('#tree').innerText");
    assert!(
        tree.as_str()
            .is_some_and(|tree| tree.contains("has the lock") && tree.contains("INSERT")),
        "{tree}"
    );
    // Who has waited for a second is above the curve. The time before the first sample is a gap.
    let first = "document.querySelector('#overview').firstElementChild.id";
    page.wait_until(&format!("{first} === 'blocking'"));
    page.wait_until("document.querySelector('#legend .gap') !== null");
    page.wait_until("document.querySelector('#cost').textContent.includes('of one CPU')");
    take_picture(&mut page, "live.png", (1280, 1000), false);

    page.click("document.querySelector('[data-last=\"300000\"]')");

    // A click filters; the chip takes the filter away again.
    let sql = "[...document.querySelectorAll('[data-top=sql] .key')].map((one) => one.textContent)";
    page.click(&button("wait", "wait/lock/metadata/sql/mdl"));
    page.wait_until("document.querySelectorAll('#filters button').length === 1");
    page.wait_until(&format!(
        "{sql}.length === 1 && {sql}[0].includes('INSERT')"
    ));
    assert!(
        page.evaluate("location.hash")
            .as_str()
            .is_some_and(|hash| hash.contains("wait=wait%2Flock"))
    );
    page.click("document.querySelector('#filters button')");
    page.wait_until(&format!("{sql}.length >= 2"));
    page.click("[...document.querySelectorAll('#legend button')].find((one) => one.textContent === 'Metadata lock')");
    page.wait_until(&format!("{sql}.length === 1"));
    page.evaluate("history.back()");
    page.wait_until(&format!("{sql}.length >= 2"));

    // A drag selects time, and Live goes back to now.
    let [left, top, width, height] = page.rect("document.querySelector('.u-over')");
    let y = top + height / 2.0;
    page.drag(&[
        (left + 0.5 * width, y),
        (left + 0.7 * width, y),
        (left + 0.9 * width, y),
    ]);
    page.wait_until("location.hash.includes('from=')");
    let hash = page
        .evaluate("location.hash")
        .as_str()
        .expect("text")
        .to_owned();
    let number = |name: &str| -> f64 {
        let (_, rest) = hash.split_once(&format!("{name}=")).expect("a time");
        rest.split('&')
            .next()
            .expect("a number")
            .parse()
            .expect("a number")
    };
    let selected = (number("to") - number("from")) / 300_000.0;
    assert!((0.35..0.45).contains(&selected), "{hash}");
    page.click("document.querySelector('#live')");
    page.wait_until("!location.hash.includes('from=') && document.querySelector('#live').getAttribute('aria-pressed') === 'true'");

    // The same with keys.
    page.evaluate("document.querySelector('#curve').focus()");
    page.key("ArrowLeft");
    page.wait_until("location.hash.includes('from=')");
    page.key("+");
    page.key("Escape");
    page.wait_until("!location.hash.includes('from=')");

    // A statement's own page.
    page.click("document.querySelector('[data-top=sql] .more')");
    page.wait_until("!document.querySelector('#statement').hidden && document.querySelectorAll('#samples tr').length > 1");
    page.key("Escape");
    page.wait_until("!document.querySelector('#overview').hidden");

    // Text from the server is escaped.
    page.wait_until(&format!("{} !== undefined", button("sql", "<script>")));
    assert_eq!(page.evaluate("document.title"), "Tare live");
    let elements = page.evaluate("[document.scripts.length, document.images.length]");
    assert_eq!(elements, serde_json::json!([2, 0]));

    // What is switched off has a banner with the statement that switches it on.
    let banner = "document.querySelector('#notices code')";
    assert_eq!(page.evaluate(banner), Value::Null);
    holder
        .query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_waits_current'")
        .expect("off");
    page.wait_until(&format!("{banner} !== null"));
    let statement = page.evaluate(&format!("{banner}.textContent"));
    holder
        .query_drop(statement.as_str().expect("a statement"))
        .expect("on");
    page.wait_until(&format!("{banner} === null"));

    // Once nobody waits, the tree is below the curve.
    holder.query_drop("COMMIT").expect("commits");
    page.wait_until(&format!("{first} === 'curve-section'"));
    assert_eq!(page.complaints, Vec::<String>::new());
    drop(server);
    for thread in threads {
        thread.join().expect("ends");
    }
}

#[test]
fn a_statement_has_a_page_and_both_pages_fit_a_telephone() {
    let directory = Directory::new("live-statement");
    let (server, mut holder, threads) = start_busy_server();
    for _ in 0..20 {
        holder
            .query_drop("SELECT SLEEP(0.02) AS `<b>short</b>`")
            .expect("sleeps");
    }
    let live = Live::start(
        &directory,
        &["--pid", &server.pid().to_string(), "--rate", "50"],
    );
    let mut page = Browser::start();
    page.open(&live.url);
    // Its digest, as the server has it.
    let digest: String = holder
        .query_first("SELECT DIGEST FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE '%short%'")
        .expect("answers")
        .expect("a digest");
    page.set_window(1280, 1200, false);
    page.open(&format!("http://{}/#statement={digest}", live.host));
    // Once it is sampled, its page shows where it spends its time.
    wait_for("a sample of it", || {
        holder
            .query_drop("SELECT SLEEP(0.2) AS `<b>short</b>`")
            .expect("sleeps");
        let is_drawn = "document.querySelectorAll('#samples tr').length > 1 && document.querySelectorAll('#histogram rect').length > 0";
        (page.evaluate(is_drawn) == true).then_some(())
    });
    let calls = page.evaluate("document.querySelector('#summary dd').textContent");
    let calls: u64 = calls.as_str().expect("text").parse().expect("a number");
    assert!(calls >= 20, "{calls}");
    page.wait_until("document.querySelector('#text').textContent.includes('<b>short</b>')");
    page.wait_until("document.querySelector('[data-top=stage] .key') !== null");
    // Percentiles, and their trend once a call has ended while the page is open.
    let terms = page.evaluate("document.querySelector('#summary').textContent");
    for name in ["p50", "p95", "p99"] {
        assert!(
            terms.as_str().is_some_and(|terms| terms.contains(name)),
            "{terms}"
        );
    }
    wait_for("a trend", || {
        holder
            .query_drop("SELECT SLEEP(0.1) AS `<b>short</b>`")
            .expect("sleeps");
        (page.evaluate("document.querySelector('#trend canvas') !== null") == true).then_some(())
    });
    page.wait_until("document.querySelector('#waits canvas') !== null");
    take_picture(&mut page, "statement.png", (1280, 1200), false);
    let light = page.evaluate("getComputedStyle(document.body).backgroundColor");

    // On a telephone, in the dark: nothing is wider than the window.
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    for dark in [false, true] {
        for address in [format!("#statement={digest}"), "#last=60000".to_owned()] {
            page.set_window(390, 844, dark);
            page.evaluate(&format!("location.hash = {address:?}"));
            let section = if address.starts_with("#s") {
                "#statement"
            } else {
                "#overview"
            };
            page.wait_until(&format!(
                "!document.querySelector('{section}').hidden && {fits}"
            ));
        }
    }
    assert_eq!(page.evaluate("innerWidth"), 390);
    // The statement has the line for itself, and a screen reader finds a table.
    let [_, _, width, _] =
        page.rect("document.querySelector('[data-top=sql] th .key').parentElement");
    assert!(width > 340.0, "{width}");
    let caption = page.evaluate("document.querySelector('[data-top=sql] caption').textContent");
    assert_eq!(caption, "Statements by average active sessions");
    assert_ne!(
        page.evaluate("getComputedStyle(document.body).backgroundColor"),
        light
    );
    page.wait_until("document.querySelector('.uplot canvas') !== null");
    take_picture(&mut page, "telephone.png", (390, 844), true);
    assert_eq!(page.complaints, Vec::<String>::new());
    holder.query_drop("COMMIT").expect("commits");
    drop(server);
    for thread in threads {
        thread.join().expect("ends");
    }
}

/// Takes a screenshot if TARE_PICTURES is set, after 20 s of samples.
fn take_picture(page: &mut Browser, name: &str, (width, height): (u32, u32), dark: bool) {
    let Some(to) = std::env::var_os("TARE_PICTURES") else {
        return;
    };
    page.set_window(width, height, dark);
    page.click("document.querySelector('[data-last=\"60000\"]')");
    thread::sleep(std::time::Duration::from_secs(20));
    page.evaluate("scrollTo(0, 0)");
    page.write_screenshot(&Path::new(&to).join(name));
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
