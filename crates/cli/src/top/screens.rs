//! Compares every page, drawn at five widths, with reviewed files: `tests/screens/PAGE.txt`.
//! `TARE_SCREENS=write` draws them anew.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::draw::draw;
use super::drills::{EXECUTIONS, LOCK_HOLDERS, TABLE_BY_INDEX, THREAD_EVENTS, WAIT_BY_THREAD};
use super::pages::PAGES;
use super::process_pages::PROCESS_PAGES;
use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Snapshot, growth};
use super::source::{Answer, Update};
use super::view::View;
use crate::output::Cell;

const WIDTHS: [u16; 5] = [60, 80, 100, 132, 200];

/// Three rows of a sheet: a busy one, a slow one, and one with the widest numbers.
fn rows(sheet: &Sheet, second: u64) -> Vec<Vec<Cell>> {
    const TEXTS: [&str; 3] = [
        "alpha",
        "a name that is longer than most columns have room for",
        "omega",
    ];
    (0..3_u64)
        .map(|row| {
            let mut texts = 0;
            let selected = sheet.columns.iter().filter(|c| !c.kind.is_derived());
            let cell = |(at, column): (usize, &super::sheet::Column)| {
                let at = at as u64 + 1;
                let grown = second * (row + 1) * at;
                match column.kind {
                    Measure::Key | Measure::Text => {
                        texts += 1;
                        Cell::Text(format!("{} {texts}", TEXTS[row as usize]))
                    }
                    Measure::KeyNumber => Cell::Unsigned([7, 41, 12_345_678][row as usize] + at),
                    Measure::Time => Cell::Unsigned(grown * 228_640_000_000),
                    Measure::Count => Cell::Unsigned(grown * [9, 4711, 8_999_999][row as usize]),
                    Measure::Bytes => Cell::Unsigned(grown * [100, 1023, 1 << 41][row as usize]),
                    Measure::Gauge => Cell::Unsigned([1, 988, 12_345_678][row as usize]),
                    Measure::GaugeBytes => {
                        Cell::Unsigned([12, 1023 << 10, 1023 << 40][row as usize])
                    }
                    Measure::GaugeTime => {
                        Cell::Unsigned([999, 63_820_000_000, u64::MAX][row as usize])
                    }
                    Measure::Real => Cell::Real([0.0, 99.25, 12_345_678.9][row as usize]),
                    Measure::GaugeSeconds => Cell::Unsigned([0, 59, 86_399][row as usize]),
                    _ => Cell::Null,
                }
            };
            selected.enumerate().map(cell).collect()
        })
        .collect()
}

fn view(sheet: &'static Sheet) -> View {
    let start = Instant::now();
    let at = |second| {
        Snapshot::new(
            sheet,
            rows(sheet, second),
            start + Duration::from_secs(second),
        )
    };
    let name = "mysql://u@db1:3306 (MySQL 8.0.15)";
    let mut view = View::new(
        name.into(),
        sheet,
        Duration::from_secs(2),
        super::tests::theme(),
    );
    let mut rows = growth(sheet, Some(&at(1)), &at(3));
    for row in &mut rows {
        for (column, figure) in sheet.columns.iter().zip(&mut row.figures) {
            match column.kind {
                Measure::TransactionAge => *figure = Figure::Number(754.0),
                Measure::TransactionState => *figure = Figure::Text("LOCK WAIT".into()),
                _ => {}
            }
        }
    }
    let answer = Answer {
        rows,
        seconds: Some(2.0),
        ..Answer::default()
    };
    view.apply(Update::Answer(view.place().clone(), answer));
    view
}

fn draw_text(view: &mut View, width: u16) -> Vec<String> {
    let height = 9;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a backend");
    terminal.draw(|frame| draw(view, frame)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let line = |y| {
        (0..width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
    };
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

fn sheets() -> Vec<(String, &'static Sheet)> {
    let below: [&'static Sheet; 5] = [
        &EXECUTIONS,
        &LOCK_HOLDERS,
        &TABLE_BY_INDEX,
        &THREAD_EVENTS,
        &WAIT_BY_THREAD,
    ];
    let of_process = |page: &'static Sheet| (format!("{} of a process", page.name), page);
    let below = below
        .iter()
        .map(|sheet| (format!("{} of a {}", sheet.name, sheet.of), *sheet));
    PAGES
        .iter()
        .map(|page| (page.name.to_owned(), page))
        .chain(below)
        .chain(PROCESS_PAGES.iter().map(of_process))
        .collect()
}

#[test]
fn every_page_is_drawn_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    for (name, sheet) in sheets() {
        let widths = WIDTHS.map(|width| {
            let rule: String = (0..width)
                .map(|at| if at % 10 == 9 { '|' } else { '-' })
                .collect();
            format!(
                "{rule}\n{}\n",
                draw_text(&mut view(sheet), width).join("\n")
            )
        });
        let text = widths.concat();
        let path = folder.join(format!("{}.txt", name.replace(' ', "-")));
        if std::env::var_os("TARE_SCREENS").is_some_and(|what| what == "write") {
            fs::write(&path, &text).expect("written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(text, expected, "{name}; TARE_SCREENS=write draws it anew");
    }
}

#[test]
fn no_page_cuts_a_number_at_any_width() {
    for (name, sheet) in sheets() {
        let view_of = view(sheet);
        let numbers: Vec<String> = (view_of.rows().iter())
            .flat_map(|row| row.figures.iter().zip(sheet.columns))
            .filter(|(_, column)| column.kind.side() == crate::observe::table::Side::Right)
            .flat_map(|(figure, column)| {
                let text = figure.text(column.kind);
                text.split(' ').map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        for width in WIDTHS.into_iter().chain(40..60) {
            for line in &draw_text(&mut view(sheet), width)[4..7] {
                let words = line.split_whitespace();
                let cut = words
                    .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                    // A text's own number is one digit.
                    .find(|word| word.len() > 1 && !numbers.contains(&(*word).to_owned()));
                assert_eq!(cut, None, "{name} at {width}: {line:?}");
            }
        }
    }
}
