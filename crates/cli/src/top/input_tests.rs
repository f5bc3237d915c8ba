//! Tests of the mouse, and of keys for tabs, bars, blocked sessions and KILL.

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::style::Color;

use super::draw::draw;
use super::keys::{Effect, press};
use super::load::{Load, Wait};
use super::mouse::handle;
use super::pages::PAGES;
use super::sheet::Measure;
use super::snapshot::{Figure, Snapshot, growth};
use super::source::{Answer, Request, Update};
use super::theme::Theme;
use super::view::View;
use crate::config::Thresholds;
use crate::output::Cell;

/// Page threads with sessions of thread 10, 11, ... and connection 0, 1, ...
fn sessions(count: u64) -> View {
    let sheet = &PAGES[6];
    let row = |n: u64| {
        let word = |text: &str| Cell::Text(text.to_owned());
        vec![
            Cell::Unsigned((n + 1) * 1_000_000_000),
            Cell::Unsigned(n),
            Cell::Unsigned(10 + n),
            Cell::Unsigned(n),
            word("u"),
            word("h"),
            word("shop"),
            word("Query"),
            Cell::Unsigned(n),
            word(&format!("UPDATE {n}")),
        ]
    };
    let theme = Theme {
        has_colour: true,
        has_blocks: true,
        thresholds: Thresholds::default(),
    };
    let mut view = View::new("db1".into(), sheet, Duration::from_secs(3), theme);
    let now = Snapshot::new(sheet, (0..count).map(row).collect(), Instant::now());
    let answer = Answer {
        rows: growth(sheet, None, &now),
        seconds: Some(3.0),
        ..Answer::default()
    };
    view.apply(Update::Answer(view.place().clone(), answer));
    view
}

/// Page threads, where connection 3 waits for connection 1.
fn blocked() -> View {
    let mut view = sessions(5);
    let sheet = view.place().sheet;
    let place = |kind: Measure| sheet.find(|own| own == kind).expect("a column");
    let mut answer = view.answer().expect("there").clone();
    for row in &mut answer.rows {
        match row.key[0].as_deref() {
            Some("13") => row.figures[place(Measure::BlockedBy)] = Figure::Text("1".into()),
            Some("11") => row.figures[place(Measure::Blocks)] = Figure::Number(1.0),
            _ => {}
        }
    }
    view.apply(Update::Answer(view.place().clone(), answer));
    view
}

fn terminal(view: &mut View, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a backend");
    terminal.draw(|frame| draw(view, frame)).expect("drawn");
    terminal
}

fn draw_text(view: &mut View, width: u16, height: u16) -> Vec<String> {
    let terminal = terminal(view, width, height);
    let buffer = terminal.backend().buffer();
    let line = |y| {
        (0..width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
    };
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

fn key(view: &mut View, c: char) -> Effect {
    press(view, KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))
}

fn mouse(view: &mut View, kind: MouseEventKind, column: u16, row: u16) -> Effect {
    let modifiers = KeyModifiers::NONE;
    handle(
        view,
        MouseEvent {
            kind,
            column,
            row,
            modifiers,
        },
    )
}

fn click(view: &mut View, column: u16, row: u16) -> Effect {
    mouse(view, MouseEventKind::Down(MouseButton::Left), column, row)
}

/// The position of a text on the screen.
fn place(view: &mut View, text: &str) -> (u16, u16) {
    let lines = draw_text(view, 132, 24);
    let position = lines
        .iter()
        .enumerate()
        .find_map(|(y, line)| Some((line.find(text)?, y)));
    let (x, y) = position.unwrap_or_else(|| panic!("no {text:?} in {lines:?}"));
    (x as u16, y as u16)
}

fn threads(view: &View) -> Vec<String> {
    view.rows()
        .iter()
        .filter_map(|row| row.key[0].clone())
        .collect()
}

#[test]
fn blocked_sessions_come_first_with_their_blocker() {
    let mut view = blocked();
    assert_eq!(threads(&view), ["13", "11", "14", "12", "10"]);
    key(&mut view, 'r');
    assert_eq!(threads(&view), ["13", "11", "10", "12", "14"]);
    let lines = draw_text(&mut view, 132, 10);
    assert!(
        lines[3].contains("CONN BLOCKED BY BLOCKS     TRX USER"),
        "{lines:?}"
    );
    let words: Vec<_> = lines[4].split_whitespace().collect();
    assert_eq!(words[4..8], ["13", "3", "1", "u"], "{lines:?}");
    // On narrow screens this column stays.
    for width in [60, 80, 100] {
        let lines = draw_text(&mut view, width, 10);
        assert!(lines[3].contains("BLOCKED BY"), "{width}: {lines:?}");
    }
    // Without blocked sessions there is no such column.
    assert!(!draw_text(&mut sessions(3), 132, 10)[3].contains("BLOCKED BY"));
}

#[test]
fn a_click_sorts_chooses_and_turns_pages() {
    let mut view = sessions(5);
    let (x, y) = place(&mut view, "THREAD");
    click(&mut view, x, y);
    assert_eq!(threads(&view), ["14", "13", "12", "11", "10"]);
    click(&mut view, x + 5, y);
    assert_eq!(threads(&view), ["10", "11", "12", "13", "14"]);
    let (x, y) = place(&mut view, "UPDATE 3");
    click(&mut view, x, y);
    assert_eq!(view.chosen(&view.rows()), 3);
    // Below the last row there is nothing.
    click(&mut view, x, y + 2);
    assert_eq!(view.chosen(&view.rows()), 3);
    let (x, y) = place(&mut view, "2 waits");
    assert!(
        matches!(click(&mut view, x, y), Effect::Request(Request::Open(place)) if place.sheet.name == "waits")
    );
}

#[test]
fn the_wheel_scrolls() {
    let mut view = sessions(50);
    let lines = draw_text(&mut view, 100, 10);
    assert!(lines[4].contains("UPDATE 49"), "{lines:?}");
    for _ in 0..5 {
        mouse(&mut view, MouseEventKind::ScrollDown, 5, 5);
    }
    let lines = draw_text(&mut view, 100, 10);
    assert!(
        !lines.concat().contains("UPDATE 49") && lines.concat().contains("UPDATE 34"),
        "{lines:?}"
    );
    // Clicks account for the scroll position.
    click(&mut view, 5, 5);
    let rows = view.rows();
    assert_eq!(
        rows[view.chosen(&rows)].key[0].as_deref(),
        Some(&*format!("{}", 59 - view.top - 1))
    );
    for _ in 0..50 {
        mouse(&mut view, MouseEventKind::ScrollUp, 5, 5);
    }
    assert_eq!(view.chosen(&view.rows()), 0);
}

#[test]
fn a_kill_needs_confirmation_and_its_outcome_is_displayed() {
    let mut view = sessions(5);
    draw_text(&mut view, 100, 10);
    press(&mut view, KeyEvent::new(KeyCode::Down, KeyModifiers::NONE));
    assert!(matches!(key(&mut view, 'K'), Effect::None));
    let prompt = draw_text(&mut view, 100, 10).pop().expect("a line");
    assert_eq!(
        prompt,
        "KILL QUERY 3? y: yes, any other key: no  (u h shop UPDATE 3)"
    );
    // Neither the mouse nor another key confirms.
    click(&mut view, 5, 5);
    assert!(matches!(key(&mut view, 'n'), Effect::None));
    assert!(draw_text(&mut view, 100, 10)[8].contains("nothing was killed"));
    assert!(
        matches!(key(&mut view, 'y'), Effect::None),
        "it asked only once"
    );
    key(&mut view, 'X');
    let Effect::Request(Request::Kill(kill)) = key(&mut view, 'y') else {
        panic!("a wish")
    };
    assert_eq!(kill.statement(), "KILL 3");
    view.apply(Update::Done(
        "KILL 3: ERROR 1095 (HY000): You are not owner of thread 3".into(),
    ));
    assert!(draw_text(&mut view, 100, 10)[8].contains("ERROR 1095"));
    // Rows without a session cannot be killed.
    view.turn(0);
    key(&mut view, 'K');
    assert!(view.confirming.is_none());
    assert!(
        view.notice
            .as_deref()
            .is_some_and(|text| text.contains("page 7"))
    );
}

fn load(calls: f64, active: f64, ps: f64) -> Update {
    Update::Load(Load {
        seconds: 3.0,
        calls,
        active,
        wait: Some(Wait {
            name: "wait/io/file/innodb/innodb_data_file".into(),
            ps,
        }),
    })
}

#[test]
fn the_last_minutes_are_bars() {
    let mut view = sessions(3);
    view.processors = Some(2.0);
    for n in 0..9 {
        view.apply(load(f64::from(n) * 100.0, f64::from(n), 228.64e9));
    }
    let lines = draw_text(&mut view, 80, 24);
    assert_eq!(
        lines[2].trim_end(),
        format!(" calls/s       800 {}▁▂▃▄▅▆▇█", " ".repeat(53))
    );
    assert!(lines[3].starts_with(" active          8 "), "{lines:?}");
    let wait = format!(
        " wait/s  228.64 ms {}█████████ ~e/innodb/innodb_data_file",
        " ".repeat(25)
    );
    assert_eq!(lines[4], wait);
    // The newest intervals are displayed if not all fit.
    view.apply(load(0.0, 1.0, 0.0));
    let lines = draw_text(&mut view, 40, 24);
    assert!(lines[2].ends_with("▅▆▇█"), "{lines:?}");
    // More active sessions than processors, and twice as many.
    let terminal = terminal(&mut view, 80, 24);
    let cell = |x: u16| terminal.backend().buffer()[(x, 3)].fg;
    assert_eq!(
        (cell(79), cell(78), cell(73)),
        (Color::Reset, Color::Red, Color::Yellow)
    );
    // Low screens have no bars, and key g hides them.
    assert!(!draw_text(&mut view, 80, 19).concat().contains("calls/s "));
    key(&mut view, 'g');
    assert!(!draw_text(&mut view, 80, 24).concat().contains("wait/s"));
}

#[test]
fn bars_are_ascii_where_the_locale_is() {
    let mut view = sessions(3);
    view.theme.has_blocks = false;
    for n in 0..9 {
        view.apply(load(f64::from(n), 0.0, 0.0));
    }
    let lines = draw_text(&mut view, 80, 24);
    assert!(lines[2].ends_with(".:-=+*##"), "{lines:?}");
    assert!(lines.concat().is_ascii(), "{lines:?}");
}

#[test]
fn servers_have_tabs() {
    let mut view = sessions(3);
    view.servers = vec![("prod1".into(), true), ("prod2".into(), false)];
    let lines = draw_text(&mut view, 80, 12);
    assert_eq!(lines[1], " prod1  prod2!");
    assert!(matches!(key(&mut view, ']'), Effect::Server(1)));
    assert!(matches!(key(&mut view, '['), Effect::Server(1)));
    let (x, y) = place(&mut view, "prod2!");
    assert!(matches!(click(&mut view, x, y), Effect::Server(1)));
    // A single server has no tab.
    view.servers.pop();
    assert!(!draw_text(&mut view, 80, 12).concat().contains("prod1"));
    assert!(matches!(key(&mut view, ']'), Effect::None));
}

#[test]
fn long_statements_are_marked_and_no_color_is_honoured() {
    let mut view = sessions(12);
    let (x, y) = place(&mut view, "10.00 s");
    let colour = |view: &mut View| terminal(view, 132, 24).backend().buffer()[(x, y)].fg;
    assert_eq!(colour(&mut view), Color::Yellow);
    view.theme.has_colour = false;
    let terminal = terminal(&mut view, 132, 24);
    let cells = terminal.backend().buffer().content();
    assert!(
        cells
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
    );
}
