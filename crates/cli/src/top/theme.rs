//! Colours of figures, which NO_COLOR switches off, and characters of bars.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::bar;

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::config::Thresholds;

pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);
pub const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Commands of connections that run nothing.
const IDLE_COMMANDS: [&str; 5] = [
    "Sleep",
    "Daemon",
    "Connect",
    "Binlog Dump",
    "Binlog Dump GTID",
];

/// A figure's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Normal,
    High,
    Critical,
}

impl Level {
    fn of(value: f64, [high, critical]: [f64; 2]) -> Self {
        match value {
            value if value >= critical => Self::Critical,
            value if value >= high => Self::High,
            _ => Self::Normal,
        }
    }
}

/// Colours, characters and thresholds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// Whether colours are used.
    pub has_colour: bool,
    /// Whether characters beyond ASCII are used.
    pub has_blocks: bool,
    /// Thresholds of the levels.
    pub thresholds: Thresholds,
}

impl Theme {
    /// From the environment.
    pub fn new(thresholds: Thresholds, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&set);
        let locale = locale.unwrap_or_default().to_lowercase();
        Self {
            has_colour: set("NO_COLOR").is_none(),
            has_blocks: locale.contains("utf-8") || locale.contains("utf8"),
            thresholds,
        }
    }

    /// The style of a level.
    pub fn style(&self, level: Level) -> Style {
        match (level, self.has_colour) {
            (Level::Normal, _) => Style::new(),
            (Level::High, true) => Style::new().fg(Color::Yellow),
            (Level::Critical, true) => BOLD.fg(Color::Red),
            (Level::High, false) => BOLD,
            (Level::Critical, false) => BOLD.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// The level of active sessions on a machine of so many processors.
    pub fn active(&self, sessions: f64, processors: Option<f64>) -> Level {
        let usual = || processors.map(|n| [n, 2.0 * n]);
        let thresholds = self.thresholds.active.or_else(usual);
        thresholds.map_or(Level::Normal, |thresholds| Level::of(sessions, thresholds))
    }

    /// The level of a figure of a row.
    pub fn level(&self, sheet: &Sheet, row: &Row, at: usize) -> Level {
        let (column, figure) = (&sheet.columns[at], &row.figures[at]);
        let Figure::Number(n) = figure else {
            return Level::Normal;
        };
        match (column.kind, column.head) {
            (Measure::Average, _) if sheet.instruments == "statement/%" => {
                Level::of(n / 1e12, self.thresholds.average_s)
            }
            (Measure::Count, "ERRORS") => Level::of(*n, self.thresholds.errors_per_s),
            (Measure::GaugeSeconds, _) if runs(sheet, row) => {
                Level::of(*n, self.thresholds.running_s)
            }
            (Measure::TransactionAge, _) => Level::of(*n, self.thresholds.running_s),
            _ => Level::Normal,
        }
    }

    /// The characters of bars.
    pub fn bars(&self) -> bar::Set<'static> {
        const PLAIN: bar::Set<'static> = bar::Set {
            full: "#",
            seven_eighths: "#",
            three_quarters: "*",
            five_eighths: "+",
            half: "=",
            three_eighths: "-",
            one_quarter: ":",
            one_eighth: ".",
            empty: " ",
        };
        match self.has_blocks {
            true => bar::NINE_LEVELS,
            false => PLAIN,
        }
    }
}

/// Whether a session's row is of one that runs a statement.
fn runs(sheet: &Sheet, row: &Row) -> bool {
    sheet.column("COMMAND").is_some_and(|at| {
        matches!(&row.figures[at], Figure::Text(command) if !IDLE_COMMANDS.contains(&command.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGES;
    use super::*;

    fn theme(set: &[(&str, &str)]) -> Theme {
        Theme::new(Thresholds::default(), |name| {
            let value = set.iter().find(|(of, _)| *of == name);
            value.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn no_color_is_honoured_and_the_locale_chooses_the_bars() {
        let plain = theme(&[("NO_COLOR", "1"), ("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]);
        assert!(!plain.has_colour && !plain.has_blocks);
        for level in [Level::Normal, Level::High, Level::Critical] {
            assert_eq!(plain.style(level).fg, None, "{level:?}");
        }
        // An empty one is none: https://no-color.org
        let other = theme(&[("NO_COLOR", ""), ("LANG", "C.utf8")]);
        assert!(other.has_colour && other.has_blocks);
        assert_eq!(other.style(Level::Critical).fg, Some(Color::Red));
    }

    #[test]
    fn thresholds_are_where_they_were_set() {
        let theme = theme(&[]);
        let sheet = &PAGES[6];
        let level = |command: &str, seconds: f64| {
            let mut figures = vec![Figure::Empty; sheet.columns.len()];
            let at = sheet.column("FOR").expect("a column");
            figures[at] = Figure::Number(seconds);
            figures[sheet.column("COMMAND").expect("a column")] = Figure::Text(command.into());
            let row = Row {
                key: vec![],
                figures,
            };
            theme.level(sheet, &row, at)
        };
        assert_eq!(level("Query", 9.0), Level::Normal);
        assert_eq!(level("Query", 10.0), Level::High);
        assert_eq!(level("Execute", 60.0), Level::Critical);
        assert_eq!(level("Sleep", 86_400.0), Level::Normal);
        assert_eq!(theme.active(4.0, Some(2.0)), Level::Critical);
        assert_eq!(theme.active(4.0, None), Level::Normal);
    }
}
