//! The page of `tare live` that compares two windows of a history, in a browser. TARE_PICTURES=DIR writes a screenshot
//! of the page to DIR.

#[path = "support/history.rs"]
mod history;
#[path = "support/live.rs"]
mod page;
mod support;

use std::path::Path;

use page::Live;
use support::browser::Browser;
use support::{Directory, finish};

/// The rows of the tables of a page, the headings and the other lines, with single spaces.
const LINES: &str = "[...document.querySelectorAll('main pre, main h2, main tr, main > p:not(:has(a))')]\
    .flatMap((one) => one.tagName === 'TR' ? [[...one.cells].map((cell) => cell.textContent).join(' ')] : \
    one.textContent.split('\\n')).map((line) => line.trim().replace(/\\s+/g, ' '))";

#[test]
fn two_windows_are_compared_on_a_page_without_scripts() {
    let directory = Directory::new("live-diff");
    let history = directory.path().join("history");
    history::write(&history, "db1", history::sha256);
    history::write_blocks(&history);
    let live = Live::start(&directory, &["--history", &history.to_string_lossy()]);
    let mut page = Browser::start();
    page.open(&live.url);
    page.wait_until("!document.querySelector('#compare').hidden");
    let link = page.evaluate("document.querySelector('#compare').getAttribute('href')");
    assert!(
        link.as_str()
            .is_some_and(|link| link.starts_with("/diff?before=20")),
        "{link}"
    );
    // Nothing was recorded in the last minutes.
    page.click("document.querySelector('#compare')");
    page.wait_until("location.pathname === '/diff' && document.querySelector('#error') !== null");
    let why = page.evaluate("document.querySelector('#error').textContent");
    assert!(why.to_string().contains("nothing was recorded"), "{why}");

    // The form names the windows, and the page has what the text has.
    for (name, window) in [
        ("before", "2026-11-23 14:00/10m"),
        ("after", "2026-11-23T14:10/10m"),
    ] {
        page.evaluate(&format!(
            "document.querySelector('[name={name}]').value = '{window}'"
        ));
    }
    page.click("document.querySelector('#windows button')");
    page.wait_until("document.querySelector('#link') !== null");
    let words = [
        "diff",
        "--history",
        "history",
        "--deploy",
        "2026-11-23 14:10/10m",
    ];
    let text = finish(&mut directory.tare(words)).stdout;
    let expected: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    assert!(
        expected.iter().any(|line| line.contains("<script>")),
        "{text}"
    );
    assert_eq!(page.evaluate(LINES), serde_json::json!(expected));

    // The link leads to the same.
    let link = page.evaluate("document.querySelector('#link').href");
    assert_eq!(
        link.as_str(),
        Some(&*format!(
            "http://{}/diff?before=2026-11-23+14%3A00%3A00%2F600s&after=2026-11-23+14%3A10%3A00%2F600s",
            live.host
        ))
    );
    page.open(link.as_str().expect("an address"));
    page.wait_until("document.querySelector('#link') !== null");
    assert_eq!(page.evaluate(LINES), serde_json::json!(expected));
    assert_eq!(page.evaluate("document.scripts.length"), 0);
    for dark in [false, true] {
        page.set_window(390, 844, dark);
        page.wait_until("document.documentElement.scrollWidth <= innerWidth");
    }
    if let Some(to) = std::env::var_os("TARE_PICTURES") {
        page.set_window(1280, 1000, false);
        page.write_screenshot(&Path::new(&to).join("diff.png"));
    }
    let (head, _) = live.request("GET /diff", &live.cookie());
    let policy = head
        .lines()
        .find(|line| line.starts_with("content-security-policy: "));
    assert!(
        policy.is_some_and(
            |policy| policy.contains("default-src 'none'") && !policy.contains("script-src")
        ),
        "{head}"
    );
    // A window that is none, with markup.
    page.open(&format!(
        "http://{}/diff?before=%22%3E%3Cb%3E&after=1h",
        live.host
    ));
    page.wait_until("document.querySelector('#error') !== null");
    let entered = page.evaluate("document.querySelector('[name=before]').value");
    assert_eq!(entered, "\"><b>");
    assert_eq!(page.complaints, Vec::<String>::new());
}

/// The tables of what changed: for each its heading, its remarks and its rows, with single spaces.
const CHANGES: &str = "[...document.querySelectorAll('#changes > div > *')].map((part) => \
    (part.tagName === 'P' ? [part] : [...part.querySelectorAll('h3, p, tr')]).map((one) => (one.tagName === 'TR' ? \
    [...one.cells].map((cell) => cell.textContent).join(' ') : one.textContent).replace(/\\s+/g, ' ').trim()))";

/// Opens the page of a statement at twenty minutes of a day, and returns what changed.
fn open_statement(page: &mut Browser, name: &str, day: u64) -> Vec<Vec<String>> {
    let (from, to) = (
        second(day * history::DAY),
        second(day * history::DAY + 1200),
    );
    let digest = history::sha256(name);
    page.evaluate(&format!(
        "location.hash = '#statement={digest}&from={from}&to={to}'"
    ));
    page.wait_until(&format!(
        "document.querySelector('#text').textContent.includes({name:?})"
    ));
    page.wait_until("!document.querySelector('#changes').textContent.includes('Reading')");
    serde_json::from_value(page.evaluate(CHANGES)).expect("texts")
}

/// So many seconds after the start of the histories, in milliseconds since 1970.
fn second(seconds: u64) -> u64 {
    (history::START + seconds) * 1000
}

#[test]
fn a_statement_has_what_changed_and_its_trend_of_before() {
    let directory = Directory::new("live-changes");
    let history = directory.path().join("history");
    history::write(&history, "db1", history::sha256);
    history::write_plans(&history);
    let words = ["--history", &history.to_string_lossy(), "--past", "3650d"];
    let live = Live::start(&directory, &words);
    let mut page = Browser::start();
    page.set_window(1280, 1400, false);
    page.open(&live.url);
    page.wait_until("document.querySelector('.uplot canvas') !== null");
    // Ten minutes of the twenty that were recorded; and the same ten of the day before.
    let orders = open_statement(&mut page, "orders", 1);
    let [previous, day_before] = &orders[..] else {
        panic!("two comparisons: {orders:#?}");
    };
    assert_eq!(previous[0], "Compared with the 10 min before");
    assert_eq!(
        day_before[0],
        "Compared with the same 10 min of the day before"
    );
    let row = |rows: &[String], name: &str| -> String {
        let row = rows.iter().find(|row| row.starts_with(name));
        row.unwrap_or_else(|| panic!("no {name}: {rows:#?}"))
            .clone()
    };
    for rows in [previous, day_before] {
        assert!(
            rows.contains(&"The plan changed.".to_owned()) || rows == day_before,
            "{rows:#?}"
        );
        // By half, as tare diff finds.
        let time = row(rows, "time/call");
        assert!(time.contains(" 1.5") && time.contains(" ms +5"), "{time}");
        assert!(
            row(rows, "calls/s").contains("no change found ["),
            "{rows:#?}"
        );
        assert!(row(rows, "in wait/io/file").contains("+0."), "{rows:#?}");
    }
    // What changes every day is subtracted, where another day was recorded.
    let control = "Control: the same times of 1 day before, whose change is subtracted.";
    assert!(previous.contains(&control.to_owned()), "{previous:#?}");
    assert!(
        !day_before.iter().any(|line| line.contains("ontrol")),
        "{day_before:#?}"
    );
    let reports = open_statement(&mut page, "reports", 1);
    for rows in &reports {
        let calls = row(rows, "calls/s");
        assert!(calls.contains("no change found ["), "{calls}");
    }
    let new = open_statement(&mut page, "new", 1);
    assert!(
        new[0].contains(&"The statement did not run in the earlier time.".to_owned()),
        "{new:#?}"
    );
    assert!(
        row(&new[0], "time/call").ends_with("too few calls"),
        "{new:#?}"
    );
    // The day before it was not recorded.
    let first_day = open_statement(&mut page, "reports", 0);
    row(&first_day[0], "No control: ");
    let calls = row(&first_day[0], "calls/s");
    assert!(calls.contains(" +8"), "{calls}");
    let first_day = open_statement(&mut page, "stable", 0);
    assert!(
        row(&first_day[1], "Not compared: ").contains("nothing was recorded"),
        "{first_day:#?}"
    );
    assert!(
        row(&first_day[0], "time/call").contains("no change found ["),
        "{first_day:#?}"
    );
    // The trend has the means of the history.
    page.wait_until("document.querySelector('#trend canvas') !== null");
    page.wait_until("document.querySelector('#trend-title').textContent === 'Latency over time'");
    let path = format!(
        "/api/statement/changes?sql={}&from={}&to={}",
        history::sha256("orders"),
        second(history::DAY),
        second(history::DAY + 1200)
    );
    let changes = live.json(&path);
    let trend = changes["trend"].as_array().expect("a trend");
    // The last reading is at the excluded end.
    assert_eq!(trend.len(), 119, "{changes:#}");
    let mean = |at: usize| trend[at]["mean"].as_f64().expect("a number") / 1e9;
    assert!(
        (0.9..1.1).contains(&mean(0)) && (1.4..1.6).contains(&mean(118)),
        "{changes:#}"
    );
    open_statement(&mut page, "orders", 1);
    for (width, height, dark) in [
        (1280, 1400, false),
        (1280, 1400, true),
        (390, 844, false),
        (390, 844, true),
    ] {
        page.set_window(width, height, dark);
        page.wait_until("document.documentElement.scrollWidth <= innerWidth");
        if let Some(to) = std::env::var_os("TARE_PICTURES") {
            page.wait_until("document.querySelector('#trend canvas') !== null");
            let name = format!("changes-{width}{}.png", if dark { "-dark" } else { "" });
            page.write_screenshot(&Path::new(&to).join(name));
        }
    }
    assert_eq!(page.complaints, Vec::<String>::new());
}
