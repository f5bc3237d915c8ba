//! The live page of a server that runs, in a browser. TARE_PICTURES=DIR writes screenshots of it to DIR.

use std::path::Path;
use std::thread;

use mysql::prelude::Queryable;
use serde_json::Value;

use super::page::Live;
use super::several::{start_mariadb, start_tare};
use super::support::browser::Browser;
use super::support::{Directory, wait_for};
use super::{sleeper, start_busy_server};

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
    assert_eq!(elements, serde_json::json!([5, 0]));
    // The row of servers is for several.
    assert_eq!(
        page.evaluate("document.querySelector('#servers').hidden"),
        true
    );

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

#[test]
fn several_servers_have_a_row_and_addresses() {
    let directory = Directory::new("live-row");
    let (tare, mariadb) = (start_tare(), start_mariadb());
    let threads = [sleeper(&tare, "of_tare"), sleeper(&mariadb, "of_mariadb")];
    let socket = mariadb.socket().to_str().expect("UTF-8").to_owned();
    let pid = tare.pid().to_string();
    let live = Live::start(
        &directory,
        &["--pid", &pid, "--dsn", &socket, "--rate", "20"],
    );
    let mut page = Browser::start();
    page.set_window(1280, 1000, false);
    // A short range has short steps: a step is drawn when it is over.
    page.open(&format!("{}#last=60000", live.url));
    let link = |at: usize| format!("document.querySelectorAll('#servers a')[{at}]");
    let is_selected = |at: usize, text: &str| {
        let current = format!("{}.getAttribute('aria-current') === 'true'", link(at));
        format!(
            "{current} && document.querySelectorAll('#servers [aria-current]').length === 1 && {} !== undefined",
            button("sql", text)
        )
    };
    page.wait_until("document.querySelectorAll('#servers a').length === 2");
    page.wait_until(&is_selected(0, "of_tare"));
    // Each has its sessions now, and a curve by class.
    for at in 0..2 {
        page.wait_until(&format!(
            "/, [0-9.]+ active now/.test({}.getAttribute('aria-label'))",
            link(at)
        ));
        page.wait_until(&format!(
            "{}.querySelectorAll('path[class^=c]').length > 0",
            link(at)
        ));
    }
    page.click(&link(1));
    page.wait_until(&is_selected(1, "of_mariadb"));
    let title = page.evaluate("document.title");
    assert_eq!(title, format!("{socket} - Tare live"));

    // A statement of the second server. Its address is enough to come back.
    page.click(&format!(
        "{}.closest('tr').querySelector('.more')",
        button("sql", "of_mariadb")
    ));
    page.wait_until("document.querySelectorAll('#samples tr').length > 1");
    let address = page.evaluate("location.hash");
    let address = address.as_str().expect("text").to_owned();
    assert!(
        address.contains("target=%2F") && address.contains("statement="),
        "{address}"
    );
    page.evaluate("history.back()");
    page.wait_until(&format!(
        "!document.querySelector('#overview').hidden && {}",
        is_selected(1, "of_mariadb")
    ));
    page.evaluate("history.back()");
    page.wait_until(&is_selected(0, "of_tare"));
    page.open("about:blank");
    page.open(&format!("http://{}/{address}", live.host));
    page.wait_until("document.querySelector('#text').textContent.includes('of_mariadb')");
    page.wait_until("document.querySelectorAll('#samples tr').length > 1");

    // With keys: the statement is none of the first server's, but the page of the server is for all.
    page.evaluate(&format!("{}.focus()", link(0)));
    page.key("Enter");
    page.wait_until(&format!(
        "!document.querySelector('#overview').hidden && {}",
        is_selected(0, "of_tare")
    ));
    page.click("document.querySelector('#server-button')");
    page.wait_until("document.querySelector('#server-at').textContent !== ''");
    page.click(&link(1));
    page.wait_until("document.querySelector('#server-tables').textContent.includes('buffer pool')");
    let hash = page.evaluate("location.hash");
    assert!(
        hash.as_str()
            .is_some_and(|hash| hash.contains("target=%2F") && hash.contains("server=1")),
        "{hash}"
    );

    // On a telephone the row scrolls, and the page does not. The selected server is visible.
    page.set_window(390, 844, true);
    page.evaluate("location.hash = '#last=60000'");
    page.wait_until(&is_selected(0, "of_tare"));
    page.click(&link(1));
    page.wait_until(&is_selected(1, "of_mariadb"));
    let row = "document.querySelector('#servers ul')";
    page.wait_until(&format!("document.documentElement.scrollWidth <= innerWidth && {row}.scrollWidth > {row}.clientWidth"));
    let [left, _, width, _] = page.rect(&link(1));
    assert!(left >= 0.0 && left + width <= 390.0, "{left} {width}");
    take_picture(&mut page, "servers-telephone.png", (390, 844), true);
    take_picture(&mut page, "servers.png", (1280, 1000), false);

    assert_eq!(page.complaints, Vec::<String>::new());

    // A server that ends, and an address of one that is not there.
    drop(mariadb);
    page.wait_until(&format!(
        "{}.getAttribute('aria-label').endsWith(', does not answer')",
        link(1)
    ));
    page.wait_until("!document.querySelector('#error').hidden");
    page.evaluate("location.hash = '#target=nobody'");
    page.wait_until(
        "document.querySelector('#error').textContent.includes('there is no server nobody here')",
    );
    page.wait_until(&is_selected(0, "of_tare"));
    drop(tare);
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
