//! Draws the rows of a page as a table.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row as Drawn, Table, TableState};

use super::mouse::ClickArea;
use super::sheet::{Column, Measure, Sheet};
use super::snapshot::Row;
use super::theme::{BOLD, Level, REVERSED, Theme};
use super::view::View;
use crate::observe::table::Side;

/// The head of a column, with its unit.
pub fn head(column: &Column, seconds: Option<f64>) -> String {
    match (column.kind, seconds) {
        (Measure::Count | Measure::Bytes, Some(_)) => format!("{}/s", column.head),
        _ => column.head.to_owned(),
    }
}

/// The smallest width of a text that takes the rest of the line.
const MIN_TEXT_WIDTH: u16 = 10;

/// Optional columns are dropped until the text that takes the rest of the line has this width.
const GOOD_TEXT_WIDTH: u16 = 30;

/// A column on the screen: its index in the sheet and its width, where 0 is the rest of the line.
struct ScreenColumn {
    at: usize,
    column: &'static Column,
    width: u16,
}

impl ScreenColumn {
    fn min_width(&self) -> u16 {
        match self.width {
            0 => MIN_TEXT_WIDTH + 1,
            width => width + 1,
        }
    }
}

/// The columns that fit into a line. Optional ones are dropped first, to the benefit of the text that takes the rest
/// of the line, and then those on the right, except that text, the column of the order, and that of waiting sessions.
/// A column is as wide as its widest number.
fn fit_columns(view: &View, rows: &[&Row], width: u16) -> Vec<ScreenColumn> {
    let (sheet, order) = (view.place().sheet, view.order().column);
    let answer = view.answer();
    let seconds = answer.and_then(|answer| answer.seconds);
    let has_errors = answer.is_some_and(|answer| answer.is_estimated());
    let has_blocked = answer.is_some_and(|answer| answer.has_blocked(sheet));
    let columns = sheet
        .visible_columns(has_errors, has_blocked)
        .map(|(at, column)| {
            let widest = match (column.width, column.kind.side()) {
                (0, _) => 0,
                (width, Side::Left) => width.max(length(&head(column, seconds))),
                (width, Side::Right) => rows
                    .iter()
                    .map(|row| length(&row.figures[at].text(column.kind)))
                    .fold(width.max(length(&head(column, seconds))), u16::max),
            };
            ScreenColumn {
                at,
                column,
                width: widest,
            }
        });
    let mut columns: Vec<ScreenColumn> = columns.collect();
    let min_width =
        |columns: &[ScreenColumn]| columns.iter().map(ScreenColumn::min_width).sum::<u16>();
    let for_good_text = GOOD_TEXT_WIDTH - MIN_TEXT_WIDTH;
    for head in sheet.optional {
        if min_width(&columns) + for_good_text > width + 1 {
            columns.retain(|entry| entry.column.head != *head || entry.at == order);
        }
    }
    while min_width(&columns) > width + 1 {
        let spare = columns.iter().rposition(|entry| {
            entry.width > 0 && entry.at != order && Some(entry.at) != sheet.waiting()
        });
        let Some(spare) = spare else { break };
        columns.remove(spare);
    }
    columns
}

fn length(text: &str) -> u16 {
    u16::try_from(text.chars().count()).unwrap_or(u16::MAX / 64)
}

/// The width of the text that takes the rest of a line.
fn text_width(columns: &[ScreenColumn], width: u16) -> usize {
    let fixed: u16 = columns.iter().map(|entry| entry.width + 1).sum();
    width.saturating_sub(fixed).into()
}

/// The text of the chosen row that does not fit into its line, on pages that display it below the rows.
pub fn chosen_text(view: &View, width: u16) -> Option<String> {
    let sheet = view.place().sheet;
    let rows = view.rows();
    let row = rows
        .get(view.chosen(&rows))
        .filter(|_| sheet.completes_chosen)?;
    let columns = fit_columns(view, &rows, width);
    let column = columns.iter().find(|entry| entry.width == 0)?;
    let text = row.figures[column.at].text(column.column.kind);
    (usize::from(length(&text)) > text_width(&columns, width)).then_some(text)
}

/// Draws the rows under their heads.
pub fn rows(view: &mut View, frame: &mut Frame, area: Rect) {
    let sheet = view.place().sheet;
    let Some(answer) = view.answer() else { return };
    let seconds = answer.seconds;
    let order = view.order();
    let rows = view.rows();
    let columns = fit_columns(view, &rows, area.width);
    let left = text_width(&columns, area.width);
    let heads = columns.iter().map(|entry| {
        let style = if entry.at == order.column {
            REVERSED
        } else {
            BOLD
        };
        Cell::from(aligned(head(entry.column, seconds), entry.column.kind)).style(style)
    });
    let heads = Drawn::new(heads.collect::<Vec<_>>());
    let widths = columns.iter().map(|entry| match entry.width {
        0 => Constraint::Min(MIN_TEXT_WIDTH),
        width => Constraint::Length(width),
    });
    let widths: Vec<Constraint> = widths.collect();
    let chosen = view.chosen(&rows);
    let height = usize::from(area.height.saturating_sub(1)).max(1);
    // Scroll just as far as the chosen row needs.
    let top = view
        .top
        .min(chosen)
        .max((chosen + 1).saturating_sub(height));
    let page = rows.iter().skip(top).take(height);
    let page = page.map(|row| line(sheet, row, &columns, left, &view.theme));
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
    let heads = click_areas(&columns, area);
    view.top = top;
    view.click_areas.heads = heads;
    view.click_areas.rows = area.y + 1..area.y + 1 + drawn;
}

/// The areas of the heads, which the table separates by one blank.
fn click_areas(columns: &[ScreenColumn], area: Rect) -> Vec<ClickArea> {
    let mut left = area.x;
    let click_area = |entry: &ScreenColumn| {
        let right = match entry.width {
            0 => area.right(),
            width => (left + width).min(area.right()),
        };
        let click_area = (area.y, left..right, entry.at);
        left = right + 1;
        click_area
    };
    columns.iter().map(click_area).collect()
}

/// Draws one row.
fn line(
    sheet: &Sheet,
    row: &Row,
    columns: &[ScreenColumn],
    left: usize,
    theme: &Theme,
) -> Drawn<'static> {
    let waits = sheet
        .waiting()
        .is_some_and(|at| row.figures[at].is_waiting());
    let style = theme.style(if waits {
        Level::Critical
    } else {
        Level::Normal
    });
    let cells = columns.iter().map(|entry| {
        let kind = entry.column.kind;
        let text = row.figures[entry.at].text(kind);
        let text = match (entry.width, kind.side()) {
            (0, _) if kind == Measure::Key => cut_front(&text, left.max(MIN_TEXT_WIDTH.into())),
            (1.., Side::Left) => cut(&text, entry.width.into()),
            _ => text,
        };
        let level = theme.level(sheet, row, entry.at);
        Cell::from(aligned(text, kind)).style(theme.style(level))
    });
    Drawn::new(cells.collect::<Vec<_>>()).style(style)
}

fn aligned(text: String, kind: Measure) -> Line<'static> {
    Line::from(text).alignment(match kind.side() {
        Side::Left => Alignment::Left,
        Side::Right => Alignment::Right,
    })
}

/// Cuts the end of a text.
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

/// Cuts the front of a name, because the end distinguishes events and files.
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
