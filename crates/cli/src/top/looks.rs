//! How figures are marked: by colour, or without one where NO_COLOR says so; and with which characters bars are drawn.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::bar;

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::config::Thresholds;

pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);
pub const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Commands of connections that run nothing, for however long.
const AT_REST: [&str; 5] = [
    "Sleep",
    "Daemon",
    "Connect",
    "Binlog Dump",
    "Binlog Dump GTID",
];

/// How much there is of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Usual,
    Much,
    TooMuch,
}

impl Level {
    fn of(value: f64, [much, too_much]: [f64; 2]) -> Self {
        match value {
            value if value >= too_much => Self::TooMuch,
            value if value >= much => Self::Much,
            _ => Self::Usual,
        }
    }
}

/// What this terminal and this user want.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looks {
    /// Colours are used.
    pub has_colour: bool,
    /// Characters beyond ASCII are.
    pub has_blocks: bool,
    /// From where on what is marked.
    pub marks: Thresholds,
}

impl Looks {
    /// As the environment says.
    pub fn of(marks: Thresholds, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&set);
        let locale = locale.unwrap_or_default().to_lowercase();
        Self {
            has_colour: set("NO_COLOR").is_none(),
            has_blocks: locale.contains("utf-8") || locale.contains("utf8"),
            marks,
        }
    }

    /// How something of this level is drawn.
    pub fn style(&self, level: Level) -> Style {
        match (level, self.has_colour) {
            (Level::Usual, _) => Style::new(),
            (Level::Much, true) => Style::new().fg(Color::Yellow),
            (Level::TooMuch, true) => BOLD.fg(Color::Red),
            (Level::Much, false) => BOLD,
            (Level::TooMuch, false) => BOLD.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// How much it is that so many sessions are active on a machine of so many processors.
    pub fn active(&self, sessions: f64, processors: Option<f64>) -> Level {
        let usual = || processors.map(|n| [n, 2.0 * n]);
        let marks = self.marks.active.or_else(usual);
        marks.map_or(Level::Usual, |marks| Level::of(sessions, marks))
    }

    /// How much a figure of a row is.
    pub fn level(&self, sheet: &Sheet, row: &Row, at: usize) -> Level {
        let (column, figure) = (&sheet.columns[at], &row.figures[at]);
        let Figure::Number(n) = figure else {
            return Level::Usual;
        };
        match (column.kind, column.head) {
            (Measure::Average, _) if sheet.instruments == "statement/%" => {
                Level::of(n / 1e12, self.marks.average_s)
            }
            (Measure::Count, "ERRORS") => Level::of(*n, self.marks.errors_per_s),
            (Measure::GaugeSeconds, _) if runs(sheet, row) => Level::of(*n, self.marks.running_s),
            _ => Level::Usual,
        }
    }

    /// What bars are made of.
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

/// Whether a session's row says that it runs a statement.
fn runs(sheet: &Sheet, row: &Row) -> bool {
    let at = sheet
        .columns
        .iter()
        .position(|column| column.head == "COMMAND");
    at.is_some_and(|at| {
        matches!(&row.figures[at], Figure::Text(command) if !AT_REST.contains(&command.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGES;
    use super::*;

    fn looks(set: &[(&str, &str)]) -> Looks {
        Looks::of(Thresholds::default(), |name| {
            let found = set.iter().find(|(of, _)| *of == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn no_color_is_honoured_and_the_locale_chooses_the_bars() {
        let plain = looks(&[("NO_COLOR", "1"), ("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]);
        assert!(!plain.has_colour && !plain.has_blocks);
        for level in [Level::Usual, Level::Much, Level::TooMuch] {
            assert_eq!(plain.style(level).fg, None, "{level:?}");
        }
        // An empty one is none: https://no-color.org
        let other = looks(&[("NO_COLOR", ""), ("LANG", "C.utf8")]);
        assert!(other.has_colour && other.has_blocks);
        assert_eq!(other.style(Level::TooMuch).fg, Some(Color::Red));
    }

    #[test]
    fn thresholds_are_where_they_were_set() {
        let looks = looks(&[]);
        let sheet = &PAGES[6];
        let level = |command: &str, seconds: f64| {
            let mut figures = vec![Figure::Empty; sheet.columns.len()];
            let place = |head: &str| sheet.columns.iter().position(|c| c.head == head);
            let at = place("FOR").expect("a column");
            figures[at] = Figure::Number(seconds);
            figures[place("COMMAND").expect("a column")] = Figure::Text(command.into());
            let row = Row {
                key: vec![],
                figures,
            };
            looks.level(sheet, &row, at)
        };
        assert_eq!(level("Query", 9.0), Level::Usual);
        assert_eq!(level("Query", 10.0), Level::Much);
        assert_eq!(level("Execute", 60.0), Level::TooMuch);
        assert_eq!(level("Sleep", 86_400.0), Level::Usual);
        assert_eq!(looks.active(4.0, Some(2.0)), Level::TooMuch);
        assert_eq!(looks.active(4.0, None), Level::Usual);
    }
}
