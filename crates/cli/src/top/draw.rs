//! Draws a view. ratatui sends only cells that have changed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Wrap};

use super::grid;
use super::keys::HELP;
use super::mouse::ClickAreas;
use super::pages::KEYS;
use super::sheet::Measure;
use super::sparks;
use super::theme::{BOLD, DIM, Level, REVERSED};
use super::view::View;
use crate::observe::format;
use crate::observe::sampling::{ACTIVE, EXACT_WINDOW};

/// The lines that are neither rows nor notes: headline, servers, pages, sums, heads and keys.
const FIXED_LINES: u16 = 6;

/// Draws the complete screen.
pub fn draw(view: &mut View, frame: &mut Frame) {
    let area = frame.area();
    let notes = notes(view, area.width.into());
    let height = u16::try_from(notes.len()).unwrap_or(u16::MAX);
    let most_notes = (area.height / 2).max(area.height.saturating_sub(FIXED_LINES + 3));
    let has_sparks = view.has_sparks && area.height >= sparks::MIN_SCREEN_HEIGHT;
    let has_sparks = has_sparks && view.load.last().is_some();
    let [title, servers, tabs, bars, summary, body, remarks, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(u16::from(view.servers.len() > 1)),
        Constraint::Length(1),
        Constraint::Length(if has_sparks { sparks::LINES } else { 0 }),
        Constraint::Length(1),
        Constraint::Min(1),
        // Advice is not cut, as long as three rows are left.
        Constraint::Length(height.min(most_notes)),
        Constraint::Length(1),
    ])
    .areas(area);
    view.click_areas = ClickAreas::default();
    frame.render_widget(headline(view), title);
    if view.servers.len() > 1 {
        frame.render_widget(server_tabs(view, servers), servers);
    }
    frame.render_widget(page_tabs(view, tabs), tabs);
    if has_sparks {
        sparks::draw(view, frame, bars);
    }
    frame.render_widget(sums(view), summary);
    grid::rows(view, frame, body);
    frame.render_widget(Paragraph::new(notes), remarks);
    frame.render_widget(footer(view), keys);
    if let Some(plan) = &view.plan {
        plan.draw(frame, body);
    }
    if view.help {
        help(frame, body);
    }
}

fn headline(view: &View) -> Line<'static> {
    let answer = view.answer();
    let past = answer.and_then(|answer| Some((answer.seconds?, answer.until_ms?)));
    let when = match past {
        Some((seconds, until)) => format!("{seconds} s until {} UTC", format::in_utc(until)),
        None => format!("every {} s", view.every.as_secs_f64()),
    };
    let mut spans = vec![
        Span::styled("tare top", BOLD),
        Span::raw(format!("  {}  {when}", format::line(&view.headline))),
    ];
    if let Some(rules) = view.answer().and_then(|answer| answer.sampling.as_ref()) {
        let label = match rules.as_str() {
            ACTIVE => " LEVEL ACTIVE ".to_owned(),
            EXACT_WINDOW => " EXACT WINDOW ".to_owned(),
            rules => format!(" SAMPLED {rules} "),
        };
        spans.push(Span::raw("  "));
        spans.push(Span::styled(label, REVERSED));
    }
    if let Some(seconds) = view.silence() {
        spans.push(Span::raw("  "));
        let style = view.theme.style(Level::Critical);
        spans.push(Span::styled(format!(" no answer for {seconds} s "), style));
    }
    if view.hides_idle {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(" IDLE HIDDEN ", REVERSED));
    }
    if view.paused {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(" PAUSED ", REVERSED));
    }
    Line::from(spans)
}

/// The tabs of servers. Names of lost servers have a `!`.
fn server_tabs(view: &mut View, area: Rect) -> Line<'static> {
    let (mut spans, mut left) = (Vec::new(), area.x);
    for (number, (name, is_there)) in view.servers.iter().enumerate() {
        let text = format!(
            " {}{} ",
            format::line(name),
            if *is_there { "" } else { "!" }
        );
        let style = match (number == view.server, is_there) {
            (true, _) => REVERSED,
            (false, true) => Style::new(),
            (false, false) => view.theme.style(Level::Critical),
        };
        let right = left + u16::try_from(text.chars().count()).unwrap_or(area.width);
        view.click_areas.servers.push((area.y, left..right, number));
        left = right;
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// The tabs of pages with their keys. If not all names fit, the current page has its name, and those on the left.
fn page_tabs(view: &mut View, area: Rect) -> Line<'static> {
    let pages = view.pages();
    let tab = |number: usize, is_named: bool| match is_named {
        true => format!(" {} {} ", KEYS[number], pages[number].name),
        false => format!(" {} ", KEYS[number]),
    };
    let name_length = |number: usize| tab(number, true).len() - tab(number, false).len();
    let keys: usize = (0..pages.len())
        .map(|number| tab(number, false).len())
        .sum();
    let fixed = keys + name_length(view.tab());
    let mut left_for_names = usize::from(area.width).saturating_sub(fixed);
    let (mut spans, mut left) = (Vec::new(), area.x);
    for number in 0..pages.len() {
        let is_current = number == view.tab();
        let style = if is_current { REVERSED } else { Style::new() };
        let length = if is_current { 0 } else { name_length(number) };
        let is_named = length <= left_for_names;
        left_for_names = if is_named { left_for_names - length } else { 0 };
        let text = tab(number, is_named);
        let right = left + text.len() as u16;
        view.click_areas.pages.push((area.y, left..right, number));
        left = right;
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// The sums of the page's rows, or the row that was drilled down from.
fn sums(view: &View) -> Line<'static> {
    let sheet = view.place().sheet;
    if view.depth() > 0 {
        let text = format!(
            "{} of {} {}",
            sheet.name,
            sheet.of,
            format::line(&view.place().title)
        );
        return Line::styled(text, BOLD);
    }
    let Some(answer) = view.answer() else {
        return Line::raw(if view.error_text.is_some() {
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
                format!(
                    "{}/s {}",
                    format::count(sum(at)),
                    column.head.to_lowercase()
                )
            }
            (Measure::Count, None) => {
                format!("{} {}", format::count(sum(at)), column.head.to_lowercase())
            }
            (Measure::Time, Some(seconds)) => {
                format!("{} in {seconds:.1} s", format::time(sum(at)))
            }
            (Measure::Time, None) => format!("{} since counting began", format::time(sum(at))),
            (Measure::GaugeBytes, _) => format!("{} in use", format::bytes(sum(at))),
            _ => continue,
        });
    }
    parts.push(match answer.rows.len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    });
    Line::raw(parts.join(", "))
}

/// The notes, in lines of the screen's width.
fn notes(view: &View, width: usize) -> Vec<Line<'static>> {
    let styled = |text: &String, style: Style| {
        let lines = wrap(&format::line(text), width.max(1)).into_iter();
        lines.map(move |line| Line::styled(line, style))
    };
    let errors = view.error_text.iter();
    let notes = view.answer().into_iter().flat_map(|answer| &answer.notes);
    let chosen = grid::chosen_text(view, u16::try_from(width).unwrap_or(u16::MAX));
    let notes = chosen.iter().chain(notes);
    let notes = notes.chain(&view.changes).chain(&view.recording);
    let notice = view.notice.iter();
    errors
        .flat_map(|text| styled(text, BOLD))
        .chain(notes.flat_map(|text| styled(text, Style::new())))
        .chain(notice.flat_map(|text| styled(text, BOLD)))
        .collect()
}

/// Breaks a text into lines of at most `width` characters, at blanks where there are any.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        let used = lines[lines.len() - 1].chars().count();
        match used {
            0 => {}
            used if used + 1 + word.len() <= width => lines.last_mut().expect("one").push(' '),
            _ => lines.push(String::new()),
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.last_mut().expect("one").extend(word);
            lines.push(String::new());
            word = rest;
        }
        lines.last_mut().expect("one").extend(word);
    }
    lines
}

fn footer(view: &View) -> Line<'static> {
    if let Some(kill) = &view.confirming {
        return Line::styled(kill.question(), view.theme.style(Level::Critical));
    }
    if view.plan.is_some() {
        return Line::styled("Up, Down, PgUp, PgDn scroll  any other key goes back", DIM);
    }
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
