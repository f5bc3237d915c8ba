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
