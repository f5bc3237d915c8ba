//! Draws the load of the last minutes as bars: calls, active sessions, the top wait.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{RenderDirection, Sparkline, SparklineBar};

use super::grid::cut_front;
use super::load::Load;
use super::theme::Level;
use super::view::View;
use crate::observe::format;

/// The number of lines.
pub const LINES: u16 = 3;

/// Lower screens have no bars.
pub const MIN_SCREEN_HEIGHT: u16 = 20;

/// A line.
struct Spark<'a> {
    label: &'static str,
    value: String,
    bars: Vec<(f64, Level)>,
    /// The text after the bars.
    name: &'a str,
}

/// Draws the lines, with the newest interval on the right.
pub fn draw(view: &View, frame: &mut Frame, area: Rect) {
    let Some(last) = view.load.last() else {
        return;
    };
    let ps = |load: &Load| load.wait.as_ref().map_or(0.0, |wait| wait.ps);
    let bars = |value: &dyn Fn(&Load) -> f64, level: &dyn Fn(f64) -> Level| {
        let beats = view.load.newest().take(area.width.into());
        beats
            .map(|load| (value(load), level(value(load))))
            .collect()
    };
    let usual = |_| Level::Normal;
    let active = |n| view.theme.active(n, view.processors);
    let sparks = [
        Spark {
            label: "calls/s",
            value: format::count(last.calls),
            bars: bars(&|load| load.calls, &usual),
            name: "",
        },
        Spark {
            label: "active",
            value: format::count(last.active),
            bars: bars(&|load| load.active, &active),
            name: "",
        },
        Spark {
            label: "wait/s",
            value: format::time(ps(last)),
            bars: bars(&ps, &usual),
            name: last.wait.as_ref().map_or("", |wait| &wait.name),
        },
    ];
    let lines =
        Layout::vertical([Constraint::Length(1); LINES as usize]).areas::<{ LINES as usize }>(area);
    for (spark, line) in sparks.into_iter().zip(lines) {
        draw_line(view, frame, line, spark);
    }
}

fn draw_line(view: &View, frame: &mut Frame, area: Rect, spark: Spark<'_>) {
    // On wide screens a third of the line is for the name.
    let named = match (spark.name.is_empty(), area.width) {
        (false, 60..) => area.width / 3,
        _ => 0,
    };
    let [label, value, _, bars, _, name] = Layout::horizontal([
        Constraint::Length(8),
        Constraint::Length(10),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(u16::from(named > 0)),
        Constraint::Length(named),
    ])
    .areas(area);
    let level = spark
        .bars
        .first()
        .map_or(Level::Normal, |(_, level)| *level);
    frame.render_widget(Line::raw(format!(" {}", spark.label)), label);
    let text = Line::styled(spark.value, view.theme.style(level));
    frame.render_widget(text.alignment(Alignment::Right), value);
    frame.render_widget(
        sparkline(view, &spark.bars[..spark.bars.len().min(bars.width.into())]),
        bars,
    );
    let text = cut_front(&format::line(spark.name), named.into());
    frame.render_widget(Line::raw(text), name);
}

/// Bars have eight heights, and any value above 0 is visible.
fn sparkline(view: &View, bars: &[(f64, Level)]) -> Sparkline<'static> {
    let most = bars.iter().map(|(value, _)| *value).fold(0.0, f64::max);
    let bar = |(value, level): &(f64, Level)| {
        let height = if most > 0.0 {
            (value / most * 8.0).ceil() as u64
        } else {
            0
        };
        let style = match level {
            Level::Normal => Style::new(),
            level => view.theme.style(*level),
        };
        SparklineBar::from(height).style(Some(style))
    };
    Sparkline::default()
        .data(bars.iter().map(bar))
        .max(8)
        .bar_set(view.theme.bars())
        .direction(RenderDirection::RightToLeft)
}
