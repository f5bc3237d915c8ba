//! Tests of the screen as text, and of keys.

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::draw::draw;
use super::keys::{Effect, press};
use super::pages::PAGES;
use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Snapshot, growth};
use super::source::{Answer, Place, Request, Update};
use super::theme::Theme;
use super::view::View;
use crate::config::Thresholds;
use crate::output::Cell;

const MS: u64 = 1_000_000_000;

/// Statements of a server: time, calls, sent, examined, errors, schema, digest, text.
fn statements(rows: &[(u64, u64, &str)], second: u64, start: Instant) -> Snapshot {
    let rows = rows.iter().map(|(ms, calls, text)| {
        let number = Cell::Unsigned;
        let words = |text: &str| Cell::Text(text.to_owned());
        vec![
            number(ms * MS),
            number(*calls),
            number(*calls),
            number(calls * 10),
            number(0),
            words("shop"),
            words(text),
            words(text),
        ]
    });
    Snapshot::new(
        &PAGES[0],
        rows.collect(),
        start + Duration::from_secs(second),
    )
}

fn view_of(page: &'static Sheet) -> View {
    View::new(
        "mysql://u@db1:3306 (MySQL 8.0.15)".into(),
        page,
        Duration::from_secs(2),
        theme(),
    )
}

/// The theme of an empty environment.
pub fn theme() -> Theme {
    Theme::new(Thresholds::default(), |_| None)
}

/// A view after one interval of two seconds.
fn view() -> View {
    let mut view = view_of(&PAGES[0]);
    let start = Instant::now();
    let before = statements(&[(100, 10, "SELECT `a`"), (5, 5, "UPDATE `b`")], 0, start);
    let now = statements(
        &[
            (400, 20, "SELECT `a`"),
            (105, 405, "UPDATE `b`"),
            (1, 1, "COMMIT"),
        ],
        2,
        start,
    );
    let rows = growth(&PAGES[0], Some(&before), &now);
    answer(&mut view, rows);
    view
}

fn answer(view: &mut View, rows: Vec<super::snapshot::Row>) {
    let answer = Answer {
        rows,
        seconds: Some(2.0),
        notes: Vec::new(),
        ..Answer::default()
    };
    view.apply(Update::Answer(view.place().clone(), answer));
}

fn draw_text(view: &mut View, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a backend");
    terminal.draw(|frame| draw(view, frame)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let line = |y: u16| {
        (0..width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
            .trim_end()
            .to_owned()
    };
    (0..height).map(line).collect()
}

fn key(view: &mut View, code: KeyCode) -> Effect {
    press(view, KeyEvent::new(code, KeyModifiers::NONE))
}

fn keys(view: &mut View, text: &str) {
    for c in text.chars() {
        key(view, KeyCode::Char(c));
    }
}

fn texts(view: &View) -> Vec<String> {
    let text =
        |row: &&super::snapshot::Row| row.key.last().and_then(Clone::clone).unwrap_or_default();
    view.rows().iter().map(text).collect()
}

#[test]
fn advice_is_wrapped_and_not_cut() {
    let mut view = view();
    let advice = "nothing is counted: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' \
                  WHERE NAME LIKE 'wait/%'";
    let mut of_place = view.answer().expect("an answer").clone();
    of_place.notes = vec![advice.to_owned()];
    view.apply(Update::Answer(view.place().clone(), of_place));
    for width in [40, 60, 132] {
        let lines = draw_text(&mut view, width, 20);
        let all = lines
            .join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(all.contains(advice), "{width}: {lines:#?}");
    }
}

#[test]
fn idle_sessions_and_threads_of_the_server_can_be_hidden() {
    let sheet = &PAGES[6];
    let mut view = view_of(sheet);
    let row = |id: u64, connection: Option<u64>, command: &str, blocks: bool| {
        let figures = sheet
            .columns
            .iter()
            .map(|column| match (column.head, column.kind) {
                ("CONN", _) => connection.map_or(Figure::Empty, |n| Figure::Number(n as f64)),
                ("COMMAND", _) => Figure::Text(command.into()),
                ("THREAD", _) => Figure::Number(id as f64),
                (_, Measure::Blocks) if blocks => Figure::Number(1.0),
                _ => Figure::Empty,
            });
        super::snapshot::Row {
            key: vec![Some(id.to_string())],
            figures: figures.collect(),
        }
    };
    let rows = vec![
        row(1, None, "Daemon", false),
        row(2, Some(2), "Sleep", false),
        row(3, Some(3), "Sleep", true),
        row(4, Some(4), "Query", false),
    ];
    answer(&mut view, rows);
    let ids = |view: &View| {
        let mut ids: Vec<_> = view
            .rows()
            .iter()
            .map(|row| row.key[0].clone().expect("an id"))
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&view), ["1", "2", "3", "4"]);
    key(&mut view, KeyCode::Char('i'));
    assert_eq!(ids(&view), ["3", "4"]);
    assert!(draw_text(&mut view, 100, 20)[0].contains("IDLE HIDDEN"));
    key(&mut view, KeyCode::Char('i'));
    assert_eq!(ids(&view).len(), 4);
}

#[test]
fn a_page_has_its_interval_its_order_and_its_sums() {
    let expected = [
        "tare top  mysql://u@db1:3306 (MySQL 8.0.15)  every 2 s",
        " 1 statements  2 waits  3 stages  4 files  5 tables  6 locks  7 threads  8  9  S  R  T  C",
        "206/s calls, 401.00 ms in 2.0 s, 3 rows",
        "      TIME     %  CALLS/s        AVG   SENT/s EXAMINED/s ERRORS/s DB           STATEMENT",
        " 300.00 ms  74.8        5   30.00 ms        5         50        0 shop         SELECT `a`",
        " 100.00 ms  24.9      200  250.00 us      200       2000        0 shop         UPDATE `b`",
        "   1.00 ms   0.2     0.50    1.00 ms     0.50          5        0 shop         COMMIT",
        "",
        "Enter drill down  Esc back  t time  c count  < > column  r reverse  / filter  p pause  ? keys  q",
    ];
    assert_eq!(draw_text(&mut view(), 96, 9), expected);
}

#[test]
fn a_narrow_screen_has_fewer_columns_and_no_cut_number() {
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let wide = draw_text(&mut view(), 200, 9);
    for width in [40, 60, 80, 100, 132, 200] {
        let narrow = draw_text(&mut view(), width, 9);
        for at in 3..7 {
            let (all, some) = (words(&wide[at]), words(&narrow[at]));
            let is_subset = some.iter().all(|word| all.contains(word));
            assert!(is_subset, "{width}: {:?} of {:?}", narrow[at], wide[at]);
        }
        assert!(narrow[4].contains("300.00 ms"), "{width}: {:?}", narrow[4]);
        assert!(narrow[4].contains("SELECT `a`"), "{width}: {:?}", narrow[4]);
    }
    // The order's column stays wherever it is.
    let mut view = view();
    key(&mut view, KeyCode::Char('c'));
    assert!(draw_text(&mut view, 40, 9)[3].contains("CALLS/s"));
}

#[test]
fn a_page_without_rows_has_sums_of_0() {
    let mut view = view_of(&PAGES[0]);
    answer(&mut view, Vec::new());
    assert!(draw_text(&mut view, 96, 9)[2].starts_with("0/s calls, 0 in 2.0 s, 0 rows"));
}

#[test]
fn rows_are_sorted_by_time_by_count_and_by_any_column_both_ways() {
    let mut view = view();
    key(&mut view, KeyCode::Char('c'));
    assert_eq!(texts(&view), ["UPDATE `b`", "SELECT `a`", "COMMIT"]);
    key(&mut view, KeyCode::Char('r'));
    assert_eq!(texts(&view), ["COMMIT", "SELECT `a`", "UPDATE `b`"]);
    key(&mut view, KeyCode::Char('t'));
    assert_eq!(texts(&view), ["SELECT `a`", "UPDATE `b`", "COMMIT"]);
    // To the left of the first column is the last: the text.
    key(&mut view, KeyCode::Char('<'));
    assert_eq!(texts(&view), ["COMMIT", "SELECT `a`", "UPDATE `b`"]);
}

#[test]
fn a_filter_leaves_rows_out_until_it_is_dropped() {
    let mut view = view();
    keys(&mut view, "/Sel");
    assert_eq!(draw_text(&mut view, 60, 9).last().unwrap(), "/Sel_");
    key(&mut view, KeyCode::Enter);
    assert_eq!(texts(&view), ["SELECT `a`"]);
    assert_eq!(
        draw_text(&mut view, 60, 9).last().unwrap(),
        "only rows with \"Sel\" (Esc: all)"
    );
    key(&mut view, KeyCode::Esc);
    assert_eq!(view.rows().len(), 3);
}

#[test]
fn the_chosen_row_stays_chosen_when_others_overtake_it() {
    let mut view = view();
    key(&mut view, KeyCode::Down);
    let start = Instant::now();
    let rows = |ms| {
        growth(
            &PAGES[0],
            Some(&statements(&[], 0, start)),
            &statements(&[(50, 1, "SELECT `a`"), (ms, 1, "UPDATE `b`")], 2, start),
        )
    };
    answer(&mut view, rows(90));
    assert_eq!(texts(&view), ["UPDATE `b`", "SELECT `a`"]);
    assert_eq!(view.chosen(&view.rows()), 0);
    answer(&mut view, rows(10));
    assert_eq!(view.chosen(&view.rows()), 1);
}

#[test]
fn a_statement_is_drilled_down_into_and_left_again() {
    let mut view = view();
    let Effect::Request(Request::Open(place)) = key(&mut view, KeyCode::Enter) else {
        panic!("a request")
    };
    assert_eq!(
        place.keys,
        [Some("shop".to_owned()), Some("SELECT `a`".to_owned())]
    );
    let row = |name: &str, ms: u64| {
        vec![
            Cell::Unsigned(ms * MS),
            Cell::Unsigned(2),
            Cell::Text("stage".into()),
            Cell::Text(name.into()),
        ]
    };
    let snapshot = Snapshot::new(
        place.sheet,
        vec![row("stage/sql/executing", 30), row("stage/sql/init", 10)],
        Instant::now(),
    );
    let answer = Answer {
        rows: growth(place.sheet, None, &snapshot),
        seconds: None,
        notes: vec!["the last 2 executions".into()],
        ..Answer::default()
    };
    view.apply(Update::Answer(place, answer));
    let expected = [
        "tare top  mysql://u@db1:3306 (MySQL 8.0.15)  every 2 s",
        " 1 statements  2 waits  3  4  5  6  7  8  9  S  R  T  C",
        "stages and waits of statement SELECT `a`",
        "      TIME     %     COUNT        AVG TYPE      EVENT",
    ];
    let lines = draw_text(&mut view, 60, 9);
    assert_eq!(lines[0..4], expected);
    assert!(
        lines[4].starts_with("  30.00 ms  75.0         2   15.00 ms stage     ~"),
        "{lines:?}"
    );
    assert_eq!(lines[7], "the last 2 executions");
    assert!(
        matches!(key(&mut view, KeyCode::Esc), Effect::Request(Request::Open(place)) if place.keys.is_empty())
    );
    assert!(matches!(key(&mut view, KeyCode::Esc), Effect::None));
}

#[test]
fn a_lost_server_is_reported_and_its_last_figures_stay() {
    let mut view = view();
    view.apply(Update::Lost("Server shutdown in progress".into()));
    let lines = draw_text(&mut view, 80, 9);
    assert!(lines[4].contains("SELECT `a`"), "{lines:?}");
    // Not all names fit.
    assert!(
        lines[1].starts_with(" 1 statements  2 waits  3 stages  4 files  5 tables  6  7 "),
        "{lines:?}"
    );
    assert_eq!(
        lines[7],
        "waiting for the server: Server shutdown in progress"
    );
    view.apply(Update::Back("db1 (MySQL 8.0.15)".into(), None));
    let lines = draw_text(&mut view, 80, 9);
    assert_eq!(
        (lines[0].as_str(), lines[2].as_str()),
        ("tare top  db1 (MySQL 8.0.15)  every 2 s", "asking ...")
    );
}

#[test]
fn an_answer_about_another_page_is_dropped() {
    let mut view = view();
    key(&mut view, KeyCode::Char('2'));
    view.apply(Update::Answer(Place::page(&PAGES[0]), Answer::default()));
    assert!(view.answer().is_none());
    view.apply(Update::Refused(
        Place::page(&PAGES[1]),
        "ERROR 1142 (42000): SELECT command denied".into(),
    ));
    assert_eq!(
        draw_text(&mut view, 60, 6)[4],
        "ERROR 1142 (42000): SELECT command denied"
    );
}

#[test]
fn pause_and_interval_are_sent_to_the_servers_thread() {
    let mut view = view();
    assert!(matches!(
        key(&mut view, KeyCode::Char('p')),
        Effect::Request(Request::Pause(true))
    ));
    assert!(
        draw_text(&mut view, 80, 9)[0].ends_with("PAUSED"),
        "it is displayed"
    );
    assert!(matches!(
        key(&mut view, KeyCode::Char(' ')),
        Effect::Request(Request::Pause(false))
    ));
    assert!(
        matches!(key(&mut view, KeyCode::Char('+')), Effect::Request(Request::Every(every)) if every.as_secs() == 3)
    );
    assert!(
        matches!(key(&mut view, KeyCode::Char('-')), Effect::Request(Request::Every(every)) if every.as_secs() == 2)
    );
}

#[test]
fn every_page_draws_on_every_size_of_terminal() {
    for page in PAGES {
        for (width, height) in [(1, 1), (20, 3), (80, 24), (300, 100)] {
            let mut view = view_of(page);
            draw_text(&mut view, width, height);
            let cells = page
                .columns
                .iter()
                .filter(|column| !column.kind.is_derived())
                .map(|_| Cell::Text("x\u{1b}[2J\u{4e16}".repeat(40)));
            let snapshot = Snapshot::new(page, vec![cells.collect()], Instant::now());
            answer(&mut view, growth(page, None, &snapshot));
            let lines = draw_text(&mut view, width, height);
            assert!(!lines.concat().contains('\u{1b}'), "{lines:?}");
            key(&mut view, KeyCode::Char('?'));
            draw_text(&mut view, width, height);
        }
    }
}

#[test]
fn little_is_drawn_again_when_little_changed() {
    let mut view = view();
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a backend");
    terminal
        .draw(|frame| draw(&mut view, frame))
        .expect("drawn");
    let before = terminal.backend().buffer().clone();
    key(&mut view, KeyCode::Down);
    terminal
        .draw(|frame| draw(&mut view, frame))
        .expect("drawn");
    let sent = before.diff(terminal.backend().buffer()).len();
    // The row that was chosen and the one that is now.
    assert!(sent <= 2 * 120, "{sent} cells");
}

#[test]
fn estimates_are_marked_with_their_error() {
    let page = &PAGES[1];
    let mut view = view_of(page);
    let waits = |count: u64, second: u64| {
        let name = Cell::Text("wait/io/file/sql/binlog".into());
        let numbers = [count * MS, count, MS].map(Cell::Unsigned);
        let row = numbers.into_iter().chain([name]).collect();
        Snapshot::new(
            page,
            vec![row],
            Instant::now() + Duration::from_secs(second),
        )
    };
    let mut rows = growth(page, Some(&waits(10, 0)), &waits(30, 2));
    answer(&mut view, rows.clone());
    assert!(!draw_text(&mut view, 140, 12).concat().contains("+-%"));
    let error = page.find(|kind| kind == super::sheet::Measure::Error);
    rows[0].figures[error.expect("a column")] = super::snapshot::Figure::Number(12.34);
    let answer = Answer {
        rows,
        seconds: Some(2.0),
        notes: vec![super::errors::note(page, "1/16")],
        sampling: Some("1/16".into()),
        estimated: Some("1/16".into()),
        ..Answer::default()
    };
    view.apply(Update::Answer(view.place().clone(), answer));
    let lines = draw_text(&mut view, 140, 12);
    assert!(lines[0].contains("SAMPLED 1/16"), "{lines:?}");
    let text = lines.concat();
    for expected in [
        "+-%",
        " 12.3 ",
        "sampled 1/16: counts and times are estimates",
    ] {
        assert!(text.contains(expected), "no {expected:?} in {lines:?}");
    }
}

#[test]
fn a_plan_is_in_place_of_the_rows_until_a_key() {
    let mut view = view();
    let Effect::Request(Request::Plan(statement)) = key(&mut view, KeyCode::Char('P')) else {
        panic!("no request");
    };
    // From the drill-down it is the same statement.
    key(&mut view, KeyCode::Enter);
    let again = key(&mut view, KeyCode::Char('P'));
    assert!(matches!(again, Effect::Request(Request::Plan(again)) if again == statement));
    key(&mut view, KeyCode::Esc);
    view.apply(Update::Plan(
        statement.without_plan("it locks the rows that it reads"),
    ));
    let lines = draw_text(&mut view, 80, 12);
    let text = lines.join("\n");
    assert!(
        text.contains("plan of SELECT `a`\nit locks the rows"),
        "{text}"
    );
    key(&mut view, KeyCode::Down);
    let text = draw_text(&mut view, 80, 12).join("\n");
    assert!(!text.contains("plan of"), "{text}");
    assert!(text.contains("it locks the rows"), "{text}");
    key(&mut view, KeyCode::Char('x'));
    assert!(view.plan.is_none());
    // Another page has no statement.
    let mut waits = view_of(&PAGES[1]);
    assert!(matches!(key(&mut waits, KeyCode::Char('P')), Effect::None));
    assert!(waits.notice.is_some_and(|why| why.contains("page 1")));
}

#[test]
fn a_message_of_the_chosen_row_that_does_not_fit_is_below_the_rows() {
    let advice = "On disk were 93 % of the temporary tables; tmp_table_size is 1024 bytes, and \
                  internal_tmp_mem_storage_engine is MEMORY, so that larger ones go to disk";
    for (name, head) in [
        ("status", "ADVICE"),
        ("replication", "ERROR"),
        ("transactions", "STATEMENT"),
        ("threads", "STATE, STATEMENT"),
    ] {
        let page = PAGES.iter().find(|page| page.name == name).expect("a page");
        let row = |key: &str, text: &str| super::snapshot::Row {
            key: vec![Some(key.to_owned())],
            figures: (page.columns.iter())
                .map(|column| match column.head == head {
                    true => Figure::Text(text.into()),
                    false => Figure::Text("x".into()),
                })
                .collect(),
        };
        let mut view = view_of(page);
        answer(&mut view, vec![row("a", advice), row("b", "short")]);
        let is_complete = |view: &mut View, width| {
            let lines = draw_text(view, width, 20).join(" ");
            let words: Vec<_> = lines.split_whitespace().collect();
            words.join(" ").contains(advice)
        };
        for width in [60, 80, 120] {
            view.choose(0);
            assert!(is_complete(&mut view, width), "{name} at {width}");
            view.choose(1);
            assert!(!is_complete(&mut view, width), "{name} at {width}");
        }
        view.choose(0);
        let lines = draw_text(&mut view, 300, 20).join("\n");
        assert_eq!(lines.matches(advice).count(), 1, "{name}: {lines}");
    }
}

#[test]
fn a_page_of_sessions_has_what_they_do_at_120_columns() {
    let page = &PAGES[6];
    let figure = |column: &super::sheet::Column| match column.kind {
        Measure::Text | Measure::TransactionState => Figure::Text("word".into()),
        _ => Figure::Number(7.0),
    };
    let mut view = view_of(page);
    let row = super::snapshot::Row {
        key: vec![Some("1".to_owned())],
        figures: page.columns.iter().map(figure).collect(),
    };
    answer(&mut view, vec![row]);
    let heads = |view: &mut View, width| draw_text(view, width, 9)[3].clone();
    let narrow = heads(&mut view, 120);
    for head in [
        "CONN",
        "BLOCKED BY",
        "BLOCKS",
        "TRX",
        "USER",
        "COMMAND",
        "FOR",
    ] {
        assert!(narrow.contains(head), "{narrow}");
    }
    assert!(heads(&mut view, 200).contains("TRX STATE"));
}
