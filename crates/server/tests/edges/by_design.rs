//! Where Tare differs from MySQL by design, and the list of the cells that differ and should not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Why a cell differs by design.
pub fn reason(theirs: &str, mine: &str) -> Option<&'static str> {
    if mine == "!1235" {
        return Some("Tare has no such function, and says so");
    }
    if theirs.contains("16383-15-31") {
        return Some("MySQL prints a date that is none");
    }
    None
}

type Open = BTreeMap<String, Vec<usize>>;

/// Reads the list of open cells: a row's key, and the numbers of its cells and their ranges behind a tab.
pub fn read_open(path: &Path) -> Open {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let cells = |list: &str| {
        let number = |text: &str| text.parse::<usize>().expect("a cell's number");
        let range = |part: &str| match part.split_once('-') {
            Some((first, last)) => number(first)..=number(last),
            None => number(part)..=number(part),
        };
        list.split(' ').flat_map(range).collect()
    };
    text.lines()
        .filter_map(|line| line.rsplit_once('\t'))
        .map(|(key, list)| (key.to_owned(), cells(list)))
        .collect()
}

/// Writes what `read_open` reads.
pub fn write_open(path: &Path, open: &Open) {
    let mut text = String::new();
    for (key, cells) in open {
        let ranges = cells.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        });
        let ranges: Vec<String> = ranges.collect();
        let _ = writeln!(text, "{key}\t{}", ranges.join(" "));
    }
    std::fs::write(path, text).expect("the list is written");
}
