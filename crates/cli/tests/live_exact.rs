//! Exact windows of `tare live`: by the page's button, which nobody but the page may press, and by rule.

#[path = "support/live.rs"]
mod page;
mod support;

use std::thread;

use mysql::Conn;
use mysql::prelude::Queryable;
use page::Live;
use support::browser::Browser;
use support::server::Server;
use support::{Directory, Process, finish, wait_for};

const RULE: &str = "active_sessions > 0.5 for 1s";

/// The level of a server at the level active, or in an exact window.
fn level(server: &Server) -> String {
    let query = "SELECT DISTINCT sampling FROM tare.setup_sampling";
    let levels: Vec<String> = server.connect().query(query).expect("answers");
    assert_eq!(levels.len(), 1, "{levels:?}");
    levels.into_iter().next().expect("one")
}

fn is_exact(server: &Server) -> bool {
    match &*level(server) {
        "every, then active" => true,
        "active" => false,
        other => panic!("{other}"),
    }
}

/// Starts a client that sleeps until its server is killed, so that the rule holds.
fn start_sleeper(server: &Server) {
    let mut conn: Conn = server.connect();
    thread::spawn(move || conn.query_drop("SELECT SLEEP(1000)"));
}

#[test]
fn the_button_opens_and_ends_an_exact_window() {
    let directory = Directory::new("live-button");
    let server = Server::tare(&["--sampling", "active"]);
    let pid = server.pid().to_string();
    let live = Live::start(
        &directory,
        &["--pid", &pid, "--rate", "50", "--allow-exact"],
    );
    let mut page = Browser::start();
    page.open(&live.url);
    let button = "document.querySelector('#exact')";
    let text = "document.querySelector('#window').textContent";
    page.wait_until(&format!("!{button}.hidden && !{button}.disabled"));
    assert_eq!(page.evaluate(text), "");
    assert!(!is_exact(&server));
    page.click(button);
    page.wait_until(&format!("{text}.startsWith('Every event is counted for ')"));
    assert!(is_exact(&server));
    // The time that is left, of the ten seconds.
    let left = page.evaluate(&format!("Number({text}.match(/[0-9]+/)[0])"));
    assert!(
        (1.0..=10.0).contains(&left.as_f64().expect("a number")),
        "{left}"
    );
    assert_eq!(
        page.evaluate(&format!("{button}.textContent")),
        "End exact window"
    );
    page.click(button);
    page.wait_until(&format!("{text} === ''"));
    assert!(!is_exact(&server));
    // A window of the same program that another tool opened is visible, and is not this page's to end.
    let other = Live::start(&directory, &["--pid", &pid, "--allow-exact"]);
    wait_for("its window", || {
        post(&other, "open").0.contains(" 200 ").then_some(())
    });
    page.wait_until(&format!(
        "{text}.startsWith('Every event') && {button}.disabled"
    ));
    // Without the level, the page says what to do.
    let update = "UPDATE tare.setup_sampling SET sampling = 'every'";
    server.connect().query_drop(update).expect("changed");
    page.wait_until(&format!(
        "{text}.includes('the level is every') && {button}.disabled"
    ));
    assert_eq!(page.complaints, Vec::<String>::new());
    // A page without the option has no button.
    let read_only = Live::start(&directory, &["--pid", &pid]);
    page.open(&read_only.url);
    page.wait_until("document.querySelector('#cost').textContent.includes('of one CPU')");
    assert_eq!(page.evaluate(&format!("{button}.hidden")), true);
}

/// Sends what the button sends. Returns the response's head and body.
fn post(live: &Live, action: &str) -> (String, String) {
    let (host, cookie) = (&live.host, live.cookie());
    let headers = format!("Host: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n");
    live.request_with(&format!("POST /api/window/{action}"), &headers)
}

#[test]
fn only_the_page_itself_may_open_an_exact_window() {
    let directory = Directory::new("live-origin");
    let server = Server::tare(&["--sampling", "active"]);
    let pid = server.pid().to_string();
    let live = Live::start(&directory, &["--pid", &pid, "--allow-exact"]);
    let (host, cookie) = (live.host.clone(), live.cookie());
    let same = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
    let with_token = format!("Host: {host}\r\nCookie: {cookie}\r\n");
    let port = host.rsplit(':').next().expect("a port");
    let foreign = [
        "",
        "Origin: null\r\n",
        "Origin: \r\n",
        "Origin: http://evil.example\r\n",
        // Another program's page on the same host, for which browsers send the cookie.
        "Origin: http://127.0.0.1:1\r\n",
        &format!("Origin: http://localhost:{port}\r\n"),
        &format!("Origin: http://{host}.evil.example\r\n"),
        &format!("Origin: file://{host}\r\n"),
        &format!("Referer: http://{host}/\r\n"),
    ]
    .map(|origin| {
        (
            "403",
            "POST /api/window/open",
            format!("{with_token}{origin}"),
        )
    });
    let evil = "Host: evil.example\r\nOrigin: http://evil.example\r\n";
    let refused = [
        ("403", "POST /api/window/open", same.clone()),
        (
            "403",
            "POST /api/window/open",
            format!("{same}Cookie: {cookie}0\r\n"),
        ),
        (
            "421",
            "POST /api/window/open",
            format!("{evil}Cookie: {cookie}\r\n"),
        ),
        (
            "404",
            "GET /api/window/open",
            format!("{same}Cookie: {cookie}\r\n"),
        ),
        (
            "405",
            "PUT /api/window/open",
            format!("{same}Cookie: {cookie}\r\n"),
        ),
        (
            "404",
            "POST /api/state",
            format!("{same}Cookie: {cookie}\r\n"),
        ),
    ];
    for (status, request, headers) in foreign.into_iter().chain(refused) {
        let (head, _) = live.request_with(request, &headers);
        assert!(
            head.contains(&format!(" {status} ")),
            "{request} {headers}: {head}"
        );
        assert!(!is_exact(&server), "{request} {headers}");
    }
    let expect = |status: &str, (head, text): (String, String), part: &str| {
        assert!(
            head.contains(status) && text.contains(part),
            "{head} {text}"
        );
    };
    wait_for("its window", || {
        post(&live, "open").0.contains(" 200 ").then_some(())
    });
    assert!(is_exact(&server));
    expect(" 409 ", post(&live, "open"), "has opened an exact window");
    expect(" 200 ", post(&live, "end"), "{}");
    assert!(!is_exact(&server));
    expect(" 409 ", post(&live, "end"), "has opened no exact window");
    let read_only = Live::start(&directory, &["--pid", &pid]);
    expect(" 405 ", post(&read_only, "open"), "read-only");
    assert!(!is_exact(&server));
}

#[test]
fn a_window_is_of_one_of_several_servers() {
    let directory = Directory::new("live-windows");
    let servers = [0, 1].map(|_| Server::tare(&["--sampling", "active"]));
    let pids = [0, 1].map(|at| servers[at].pid().to_string());
    let socket = servers[1].socket().to_str().expect("UTF-8");
    let targets = ["--pid", &pids[0], "--pid", &pids[1], "--dsn", socket];
    let live = Live::start(&directory, &[&targets[..], &["--allow-exact"]].concat());
    let post = |action: &str, target: &str| {
        let target = target.replace('/', "%2F");
        post(&live, &format!("{action}?target={target}")).0
    };
    let second = format!("process%20{}", pids[1]);
    wait_for("its window", || {
        post("open", &second).contains(" 200 ").then_some(())
    });
    assert_eq!(
        [is_exact(&servers[0]), is_exact(&servers[1])],
        [false, true]
    );
    // The first has opened none, a server read in SQL may have none, and another is not there.
    let first = format!("process%20{}", pids[0]);
    for (target, status) in [(&*first, " 409 "), (socket, " 403 "), ("nobody", " 404 ")] {
        assert!(post("end", target).contains(status), "{target}");
        assert!(is_exact(&servers[1]), "{target}");
    }
    assert!(post("end", &second).contains(" 200 "));
    assert!(!is_exact(&servers[1]));
}

#[test]
fn a_rule_opens_windows_that_end_with_the_page() {
    let directory = Directory::new("live-rule");
    let server = Server::tare(&["--sampling", "active"]);
    start_sleeper(&server);
    let pid = server.pid().to_string();
    let start = |rate: &str, length: &str| {
        let rule = [
            "--exact-when",
            RULE,
            "--exact-for",
            length,
            "--budget",
            "100%",
        ];
        let target = ["--pid", &pid, "--rate", rate];
        Live::start(&directory, &[&target[..], &rule].concat())
    };
    // However far moments are apart, a window ends at its time.
    let mut live = start("0.5", "1s");
    live.running.message("exact window opened for 1 s: ");
    assert!(is_exact(&server));
    let state = live.json("/api/state");
    assert_eq!(state["window"]["has_button"], false, "{state}");
    assert_eq!(state["window"]["is_own"], true, "{state}");
    let ended = live.running.message("exact window ended after ");
    assert!(ended.contains(": it cost "), "{ended}");
    drop(live);
    let mut live = start("20", "4s");
    live.running.message("exact window opened");
    assert!(is_exact(&server));
    live.running.signal("TERM");
    assert!(live.running.wait().success());
    assert!(!is_exact(&server));
}

#[test]
fn targets_without_windows_are_refused() {
    let directory = Directory::new("live-refused");
    let sleeper = Process::start(std::process::Command::new("sleep").arg("3600"));
    let process = sleeper.pid().to_string();
    let options = [&["--allow-exact"][..], &["--exact-when", RULE]];
    let targets = [
        (["--dsn", "/nowhere/socket"], "is read in SQL"),
        (["--pid", &process], "needs a program that uses Tare"),
        (["--history", "history"], "needs a program that uses Tare"),
    ];
    std::fs::create_dir(directory.path().join("history")).expect("created");
    for option in options {
        for (target, why) in &targets {
            let words = ["live", "--listen", "127.0.0.1:0"].iter().chain(target);
            let refused = finish(&mut directory.tare(words.chain(option)));
            assert_eq!(refused.code, Some(1), "{refused:?}");
            let is_named = refused.stderr.contains(option[0]) && refused.stderr.contains(why);
            assert!(is_named, "{refused:?}");
        }
    }
}
