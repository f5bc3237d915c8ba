//! report.html in a browser: it renders without errors, its plots have the data, and a click sorts.

mod support;

use std::path::PathBuf;
use std::process::Command;

use tare_lab::analysis::Analysis;
use tare_lab::recipe::Measure;
use tare_lab::report::page;

/// The browser: chromium or chrome, by its usual names.
fn browser() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let browser = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.exists());
    browser.expect("a browser: run `make deps`")
}

/// The script that runs in the page after its own: it clicks, and collects facts.
const PROBE: &str = r##"
<script>
"use strict";
const seen = { errors: window.seenErrors };
const figures = document.querySelector("table.sortable");
const column = (at) => [...figures.tBodies[0].rows].map((row) => row.cells[at].textContent);
seen.before = column(2);
const heading = figures.tHead.rows[0].cells[2];
heading.click();
seen.up = column(2);
seen.sort = heading.getAttribute("aria-sort");
heading.click();
seen.down = column(2);
heading.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
seen.enter = column(2);
seen.sentences = [...document.querySelectorAll("#sentences p")].map((p) => p.textContent);
seen.picture = [...document.querySelectorAll("#picture circle")].map((c) => [c.dataset.series, c.dataset.y]);
seen.circles = [...document.querySelectorAll("figure svg circle")].map((c) =>
  [c.closest("svg.plot, svg.strip").getAttribute("aria-label"), c.dataset.series, c.dataset.x, c.dataset.y]);
seen.bands = document.querySelectorAll("polygon.band").length;
seen.heat = [...document.querySelectorAll(".heat td")].map((td) => td.textContent);
seen.bars = document.querySelectorAll("figure svg rect[data-y]").length;
seen.drawn = [...document.querySelectorAll("figure svg")].every((svg) => svg.closest("details") || svg.getBoundingClientRect().height > 10);
for (const each of document.querySelectorAll("details")) each.open = true;
// An element that is wider than its container is clipped, or needs scrolling.
seen.clipped = [...document.querySelectorAll(".wide")].filter((wide) => wide.scrollWidth > wide.clientWidth + 1).map((wide) => wide.textContent.slice(0, 80));
seen.page = [document.documentElement.scrollWidth, innerWidth];
seen.published = document.querySelector("#published") !== null;
seen.ink = getComputedStyle(document.body).color;
seen.paper = getComputedStyle(document.body).backgroundColor;
seen.hosts = [...document.querySelectorAll("[src], link")].length;
const out = document.createElement("pre");
out.id = "seen";
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>
"##;

/// Runs the page with the probe in the browser. Returns the facts and the browser's console.
fn facts(page: &str, options: &[&str]) -> (serde_json::Value, String) {
    let directory = support::Directory::new("page");
    let listener = "<head><script>window.seenErrors = []; addEventListener('error', (e) => seenErrors.push(String(e.message)));</script>";
    let probed = page
        .replacen("<head>", listener, 1)
        .replace("</body>", &format!("{PROBE}</body>"));
    let file = directory.path().join("report.html");
    std::fs::write(&file, probed).expect("written");
    let output = Command::new(browser())
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            directory.path().join("profile").display()
        ))
        .args(options)
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser starts");
    let (dom, console) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let start = dom
        .find("<pre id=\"seen\">")
        .unwrap_or_else(|| panic!("the probe did not run:\n{console}"));
    let text = &dom[start + 15..];
    let text = text[..text.find("</pre>").expect("closed")]
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let lines: Vec<&str> = console
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    (
        serde_json::from_str(&text).expect("what the probe wrote"),
        lines.join("\n"),
    )
}

/// The number at the start of a cell.
fn numbers(column: &serde_json::Value) -> Vec<f64> {
    let cells = column.as_array().expect("cells").iter();
    cells
        .map(|cell| {
            cell.as_str()
                .expect("text")
                .split(' ')
                .next()
                .expect("a word")
                .parse()
                .expect("a number")
        })
        .collect()
}

#[test]
fn the_page_renders_holds_the_data_and_sorts() {
    let (plan, results) = support::run();
    let analysis = Analysis::of(&plan, &results);
    let page = page::render_page(&plan, &results, &analysis);
    let drawn = page.split("<script>").next().expect("a page");
    for absent in ["http://", "https://", "NaN", "\"inf"] {
        assert!(!drawn.contains(absent), "{absent} is in the page");
    }
    let (facts, console) = facts(&page, &[]);
    assert_eq!(facts["errors"], serde_json::json!([]));
    assert_eq!(console, "", "the browser's console");
    assert_eq!(
        (&facts["drawn"], &facts["published"], &facts["hosts"]),
        (&true.into(), &true.into(), &0.into())
    );

    // The page begins with the sentences and all comparisons, sorted.
    let sentences = facts["sentences"].as_array().expect("sentences");
    assert_eq!(sentences.len(), 3, "{sentences:?}");
    assert_eq!(
        serde_json::Value::from(tare_lab::report::sentences(&plan, &analysis)),
        facts["sentences"]
    );
    let picture = facts["picture"].as_array().expect("dots");
    let compared = (analysis.rows.iter())
        .filter(|row| !row.key.again && row.comparisons.contains_key(&plan.recipe.measure));
    assert_eq!(picture.len(), compared.count());
    let differences: Vec<f64> = (picture.iter())
        .map(|dot| dot[1].as_str().expect("text").parse().expect("a number"))
        .collect();
    assert!(differences.is_sorted_by(|a, b| a >= b), "{differences:?}");
    // Three configurations at six numbers of connections, with curves and bands.
    assert_eq!(facts["heat"].as_array().map(Vec::len), Some(18));
    assert!(facts["bands"].as_u64() >= Some(12), "{}", facts["bands"]);

    // Each figure of each row is a point of its plot.
    let circles = facts["circles"].as_array().expect("circles");
    let has = |plot: &str, series: &str, x: u32, y: f64| {
        circles.iter().any(|circle| {
            let text = |at: usize| circle[at].as_str().expect("text");
            text(0).ends_with(plot)
                && text(1) == series
                && text(2).parse() == Ok(f64::from(x))
                && text(3)
                    .parse::<f64>()
                    .is_ok_and(|value| (value - y).abs() <= 1e-9 * y.abs())
        })
    };
    for row in analysis.rows.iter().filter(|row| row.done > 0) {
        let (label, x) = (row.key.label(), row.key.connections);
        let throughput = row.values[&Measure::Throughput].mean;
        assert!(
            has(": throughput", &label, x, throughput),
            "{label} {x}: {throughput}"
        );
        if let Some(comparison) = row.comparisons.get(&plan.recipe.measure) {
            let percent = comparison.percent.mean;
            assert!(
                has(": difference in server CPU/transaction", &label, x, percent),
                "{label} {x}: {percent}"
            );
        }
    }
    assert!(facts["bars"].as_u64() >= Some(20), "{}", facts["bars"]);

    // First by connections; a click sorts by figures, a second one reverses it, Enter does the same.
    let (before, up, down) = (
        numbers(&facts["before"]),
        numbers(&facts["up"]),
        numbers(&facts["down"]),
    );
    let mut sorted = before.clone();
    sorted.sort_by(f64::total_cmp);
    assert_ne!(
        before, sorted,
        "the data is not in that order to begin with"
    );
    assert_eq!(up, sorted);
    assert_eq!(facts["sort"], "ascending");
    sorted.reverse();
    assert_eq!(down, sorted);
    assert_eq!(numbers(&facts["enter"]), up);
}

#[test]
fn the_page_fits_a_desktop_and_a_telephone() {
    let (plan, results) = support::run();
    let page = page::render_page(&plan, &results, &Analysis::of(&plan, &results));
    let desk = facts(&page, &["--window-size=1280,2000"]).0;
    assert_eq!(desk["clipped"], serde_json::json!([]));
    for wide in [1280, 500, 390] {
        let facts = facts(&page, &[&format!("--window-size={wide},2000")]).0;
        let (content, window) = (&facts["page"][0], &facts["page"][1]);
        assert!(
            content.as_u64() <= window.as_u64(),
            "at {wide}: {content} in {window}"
        );
    }
}

#[test]
fn dark_and_paper_have_their_own_colours() {
    let (plan, results) = support::run();
    let page = page::render_page(&plan, &results, &Analysis::of(&plan, &results));
    let light = facts(&page, &[]).0;
    let dark = facts(&page, &["--blink-settings=preferredColorScheme=0"]).0;
    assert_eq!(light["paper"], "rgb(255, 255, 255)");
    assert_ne!(light["ink"], dark["ink"]);
    assert_eq!(dark["paper"], "rgb(23, 23, 27)");

    // Printing makes a PDF with the page's text.
    let directory = support::Directory::new("paper");
    let (file, pdf) = (
        directory.path().join("report.html"),
        directory.path().join("report.pdf"),
    );
    std::fs::write(&file, page).expect("written");
    let status = Command::new(browser())
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .arg(format!(
            "--user-data-dir={}",
            directory.path().join("profile").display()
        ))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser starts")
        .status;
    assert!(status.success());
    assert!(std::fs::read(&pdf).expect("a PDF").starts_with(b"%PDF"));
}
