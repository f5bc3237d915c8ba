//! The rows of a page as a table on the screen.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row as Drawn, Table, TableState};

use super::looks::{BOLD, Level, Looks, REVERSED};
use super::mouse::Spot;
use super::sheet::{Column, Measure, Sheet};
use super::snapshot::Row;
use super::view::View;
use crate::observe::table::Side;

/// A head: with its unit, and marked when the rows are in its order.
pub fn head(column: &Column, seconds: Option<f64>) -> String {
    match (column.kind, seconds) {
        (Measure::Count | Measure::Bytes, Some(_)) => format!("{}/s", column.head),
        _ => column.head.to_owned(),
    }
}

/// What a text that takes the rest of the line needs.
const LEAST_TEXT: u16 = 10;

/// A column on the screen: its place in the sheet, and how wide it is; 0 is what is left.
struct Shown {
    at: usize,
    column: &'static Column,
    width: u16,
}

impl Shown {
    fn needs(&self) -> u16 {
        match self.width {
            0 => LEAST_TEXT + 1,
            width => width + 1,
        }
    }
}

/// The columns that fit into a line whole: those on the right go first, the texts that take the rest and the columns
/// of the order and of who waits stay. A number is never cut: its column is as wide as the widest that stands in it.
fn fitting(view: &View, rows: &[&Row], width: u16) -> Vec<Shown> {
    let (sheet, order) = (view.place().sheet, view.order().column);
    let answer = view.answer();
    let seconds = answer.and_then(|answer| answer.seconds);
    let has_errors = answer.is_some_and(|answer| answer.is_estimated());
    let has_blocked = answer.is_some_and(|answer| answer.has_blocked(sheet));
    let shown = sheet.shown(has_errors, has_blocked).map(|(at, column)| {
        let widest = match (column.width, column.kind.side()) {
            (0, _) => 0,
            (width, Side::Left) => width.max(length(&head(column, seconds))),
            (width, Side::Right) => rows
                .iter()
                .map(|row| length(&row.figures[at].shown(column.kind)))
                .fold(width.max(length(&head(column, seconds))), u16::max),
        };
        Shown {
            at,
            column,
            width: widest,
        }
    });
    let mut shown: Vec<Shown> = shown.collect();
    while shown.iter().map(Shown::needs).sum::<u16>() > width + 1 {
        let spare = shown.iter().rposition(|shown| {
            shown.width > 0 && shown.at != order && Some(shown.at) != sheet.waiting()
        });
        let Some(spare) = spare else { break };
        shown.remove(spare);
    }
    shown
}

fn length(text: &str) -> u16 {
    u16::try_from(text.chars().count()).unwrap_or(u16::MAX / 64)
}

/// Draws them under their heads.
pub fn rows(view: &mut View, frame: &mut Frame, area: Rect) {
    let sheet = view.place().sheet;
    let Some(answer) = view.answer() else { return };
    let seconds = answer.seconds;
    let order = view.order();
    let rows = view.rows();
    let shown = fitting(view, &rows, area.width);
    let fixed: u16 = shown.iter().map(|shown| shown.width + 1).sum();
    let left = area.width.saturating_sub(fixed) as usize;
    let heads = shown.iter().map(|shown| {
        let style = if shown.at == order.column {
            REVERSED
        } else {
            BOLD
        };
        Cell::from(aligned(head(shown.column, seconds), shown.column.kind)).style(style)
    });
    let heads = Drawn::new(heads.collect::<Vec<_>>());
    let widths = shown.iter().map(|shown| match shown.width {
        0 => Constraint::Min(LEAST_TEXT),
        width => Constraint::Length(width),
    });
    let widths: Vec<Constraint> = widths.collect();
    let chosen = view.chosen(&rows);
    let height = usize::from(area.height.saturating_sub(1)).max(1);
    // The chosen row is on the screen, and the rows move no more than that takes.
    let top = view
        .top
        .min(chosen)
        .max((chosen + 1).saturating_sub(height));
    let page = rows.iter().skip(top).take(height);
    let page = page.map(|row| line(sheet, row, &shown, left, &view.looks));
    let table = Table::new(page.collect::<Vec<_>>(), widths)
        .header(heads)
        .column_spacing(1)
        .row_highlight_style(REVERSED);
    let mut state = TableState::default();
    if !rows.is_empty() {
        state.select(Some(chosen - top));
    }
    frame.render_stateful_widget(table, area, &mut state);
    let drawn = rows.len().saturating_sub(top).min(height) as u16;
    let heads = spots(&shown, area);
    view.top = top;
    view.spots.heads = heads;
    view.spots.rows = area.y + 1..area.y + 1 + drawn;
}

/// Where the heads are. The table puts them beside each other with a blank between two.
fn spots(shown: &[Shown], area: Rect) -> Vec<Spot> {
    let mut left = area.x;
    let spot = |shown: &Shown| {
        let right = match shown.width {
            0 => area.right(),
            width => (left + width).min(area.right()),
        };
        let spot = (area.y, left..right, shown.at);
        left = right + 1;
        spot
    };
    shown.iter().map(spot).collect()
}

/// One row.
fn line(sheet: &Sheet, row: &Row, shown: &[Shown], left: usize, looks: &Looks) -> Drawn<'static> {
    let waits = sheet
        .waiting()
        .is_some_and(|at| row.figures[at].is_waiting());
    let style = looks.style(if waits { Level::TooMuch } else { Level::Usual });
    let cells = shown.iter().map(|shown| {
        let kind = shown.column.kind;
        let text = row.figures[shown.at].shown(kind);
        let text = match (shown.width, kind.side()) {
            (0, _) if kind == Measure::Key => cut_front(&text, left.max(LEAST_TEXT.into())),
            (1.., Side::Left) => cut(&text, shown.width.into()),
            _ => text,
        };
        let level = looks.level(sheet, row, shown.at);
        Cell::from(aligned(text, kind)).style(looks.style(level))
    });
    Drawn::new(cells.collect::<Vec<_>>()).style(style)
}

fn aligned(text: String, kind: Measure) -> Line<'static> {
    Line::from(text).alignment(match kind.side() {
        Side::Left => Alignment::Left,
        Side::Right => Alignment::Right,
    })
}

/// The beginning of a text.
fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some(_) => text
            .chars()
            .take(width.saturating_sub(1))
            .chain(['~'])
            .collect(),
        None => text.to_owned(),
    }
}

/// The end of a name: what tells events and files apart stands there.
pub fn cut_front(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    ['~']
        .into_iter()
        .chain(text.chars().skip(length - width + 1))
        .collect()
}
