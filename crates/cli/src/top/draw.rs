//! A view as cells of a terminal. What did not change is not sent again: ratatui compares, and nothing moves by itself.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Clear, Paragraph, Row, Table, TableState, Wrap};

use super::keys::HELP;
use super::pages::PAGES;
use super::sheet::{Column, Measure};
use super::view::View;
use crate::observe::show;
use crate::observe::table::Side;

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Draws all of it.
pub fn draw(view: &mut View, frame: &mut Frame) {
    let notes = notes(view);
    let height = u16::try_from(notes.len())
        .unwrap_or(u16::MAX)
        .min(frame.area().height / 2);
    let [title, tabs, summary, body, remarks, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(height),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(headline(view), title);
    frame.render_widget(page_tabs(view, tabs.width.into()), tabs);
    frame.render_widget(sums(view), summary);
    rows(view, frame, body);
    frame.render_widget(Paragraph::new(notes), remarks);
    frame.render_widget(footer(view), keys);
    if view.help {
        help(frame, body);
    }
}

fn headline(view: &View) -> Line<'static> {
    let mut spans = vec![
        Span::styled("tare top", BOLD),
        Span::raw(format!(
            "  {}  every {} s",
            show::line(&view.headline),
            view.every.as_secs_f64()
        )),
    ];
    if let Some(rules) = view.answer().and_then(|answer| answer.sampling.as_ref()) {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(format!(" SAMPLED {rules} "), REVERSED));
    }
    if view.paused {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(" PAUSED ", REVERSED));
    }
    Line::from(spans)
}

/// The pages and their keys; where all names have no room, only that of the page which is shown.
fn page_tabs(view: &View, width: usize) -> Line<'static> {
    let tab = |number: usize, is_named: bool| {
        let name = if is_named { PAGES[number].name } else { "" };
        format!(" {} {name} ", number + 1)
    };
    let all: usize = (0..PAGES.len()).map(|number| tab(number, true).len()).sum();
    let spans = (0..PAGES.len()).map(|number| {
        let is_shown = number == view.tab();
        let style = if is_shown { REVERSED } else { Style::new() };
        Span::styled(tab(number, is_shown || all <= width), style)
    });
    spans.collect()
}

/// What the page's rows come to, or which row was drilled down from.
fn sums(view: &View) -> Line<'static> {
    let sheet = view.place().sheet;
    if view.depth() > 0 {
        let text = format!(
            "{} of {} {}",
            sheet.name,
            sheet.of,
            show::line(&view.place().title)
        );
        return Line::styled(text, BOLD);
    }
    let Some(answer) = view.answer() else {
        return Line::raw(if view.trouble.is_some() {
            ""
        } else {
            "asking ..."
        });
    };
    let sum = |at: usize| {
        answer
            .rows
            .iter()
            .map(|row| row.figures[at].number())
            .sum::<f64>()
    };
    let mut parts = Vec::new();
    for at in [sheet.by_count(), sheet.by_time()] {
        let column = &sheet.columns[at];
        parts.push(match (column.kind, answer.seconds) {
            (Measure::Count, Some(_)) => {
                format!("{}/s {}", show::count(sum(at)), column.head.to_lowercase())
            }
            (Measure::Count, None) => {
                format!("{} {}", show::count(sum(at)), column.head.to_lowercase())
            }
            (Measure::Time, Some(seconds)) => format!("{} in {seconds:.1} s", show::time(sum(at))),
            (Measure::Time, None) => format!("{} since counting began", show::time(sum(at))),
            (Measure::GaugeBytes, _) => format!("{} in use", show::bytes(sum(at))),
            _ => continue,
        });
    }
    parts.push(match answer.rows.len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    });
    Line::raw(parts.join(", "))
}

/// A head: with its unit, and marked when the rows are in its order.
pub fn head(column: &Column, seconds: Option<f64>) -> String {
    match (column.kind, seconds) {
        (Measure::Count | Measure::Bytes, Some(_)) => format!("{}/s", column.head),
        _ => column.head.to_owned(),
    }
}

/// What a text that takes the rest of the line needs.
const LEAST_TEXT: u16 = 10;

/// The columns that fit into a line whole: those on the right go first, the texts that take the rest and the column
/// of the order stay. A number is never cut.
fn fitting(
    mut shown: Vec<(usize, &'static Column)>,
    order: usize,
    seconds: Option<f64>,
    width: u16,
) -> Vec<(usize, &'static Column)> {
    let needs = |(_, column): &(usize, &Column)| match column.width {
        0 => LEAST_TEXT + 1,
        width => width.max(head(column, seconds).len() as u16) + 1,
    };
    while shown.iter().map(needs).sum::<u16>() > width + 1 {
        let spare = shown
            .iter()
            .rposition(|(at, column)| column.width > 0 && *at != order);
        let Some(spare) = spare else { break };
        shown.remove(spare);
    }
    shown
}

fn rows(view: &mut View, frame: &mut Frame, area: Rect) {
    let sheet = view.place().sheet;
    let Some(answer) = view.answer() else { return };
    let seconds = answer.seconds;
    let order = view.order();
    let shown = fitting(
        sheet.shown(answer.is_estimated()).collect(),
        order.column,
        seconds,
        area.width,
    );
    let fixed: u16 = shown
        .iter()
        .map(|(_, column)| column.width.max(head(column, seconds).len() as u16) + 1)
        .sum();
    let left = area.width.saturating_sub(fixed) as usize;
    let aligned = |text: String, kind: Measure| {
        let alignment = match kind.side() {
            Side::Left => Alignment::Left,
            Side::Right => Alignment::Right,
        };
        Line::from(text).alignment(alignment)
    };
    let heads = shown.iter().map(|(at, column)| {
        let style = if *at == order.column { REVERSED } else { BOLD };
        Cell::from(aligned(head(column, seconds), column.kind)).style(style)
    });
    let heads = Row::new(heads.collect::<Vec<_>>());
    let widths = shown.iter().map(|(_, column)| match column.width {
        0 => Constraint::Min(LEAST_TEXT),
        width => Constraint::Length(width.max(head(column, seconds).len() as u16)),
    });
    let widths: Vec<Constraint> = widths.collect();

    let rows = view.rows();
    let chosen = view.chosen(&rows);
    let height = usize::from(area.height.saturating_sub(1)).max(1);
    // The chosen row is on the screen, and the rows move no more than that takes.
    let top = view
        .top
        .min(chosen)
        .max((chosen + 1).saturating_sub(height));
    let page = rows.iter().skip(top).take(height).map(|row| {
        let waits = sheet
            .waiting()
            .is_some_and(|at| row.figures[at].is_waiting());
        let style = if waits {
            BOLD.fg(Color::Red)
        } else {
            Style::new()
        };
        Row::new(
            shown
                .iter()
                .map(|(at, column)| {
                    let mut text = row.figures[*at].shown(column.kind);
                    if column.width > 0 && column.kind.side() == Side::Left {
                        text = cut(&text, column.width.into());
                    } else if column.width == 0 {
                        text = if column.kind == Measure::Key {
                            cut_front(&text, left.max(10))
                        } else {
                            text
                        };
                    }
                    Cell::from(aligned(text, column.kind))
                })
                .collect::<Vec<_>>(),
        )
        .style(style)
    });
    let table = Table::new(page.collect::<Vec<_>>(), widths)
        .header(heads)
        .column_spacing(1)
        .row_highlight_style(REVERSED);
    let mut state = TableState::default();
    if !rows.is_empty() {
        state.select(Some(chosen - top));
    }
    frame.render_stateful_widget(table, area, &mut state);
    view.top = top;
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
fn cut_front(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    ['~']
        .into_iter()
        .chain(text.chars().skip(length - width + 1))
        .collect()
}

fn notes(view: &View) -> Vec<Line<'static>> {
    let trouble = view
        .trouble
        .iter()
        .map(|text| Line::styled(show::line(text), BOLD));
    let notes = view.answer().into_iter().flat_map(|answer| &answer.notes);
    trouble
        .chain(notes.map(|text| Line::raw(show::line(text))))
        .collect()
}

fn footer(view: &View) -> Line<'static> {
    match (view.typing, view.filter.is_empty()) {
        (true, _) => Line::raw(format!("/{}_", view.filter)),
        (false, false) => Line::raw(format!("only rows with \"{}\" (Esc: all)", view.filter)),
        _ => Line::styled(
            "Enter drill down  Esc back  t time  c count  < > column  r reverse  / filter  p pause  ? keys  q quit",
            DIM,
        ),
    }
}

fn help(frame: &mut Frame, area: Rect) {
    frame.render_widget(Clear, area);
    let lines: Vec<Line> = HELP
        .iter()
        .map(|(keys, what)| Line::raw(format!("{keys:28} {what}")))
        .collect();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}
