//! A server's sampling rules by event type.

pub use tare_rows::sampling::EXACT_WINDOW;

use super::{ObservedServer, Product, QueryError, integer, text};

/// The query that reads them.
pub const QUERY: &str = "SELECT event_type, sampling, one_in FROM tare.setup_sampling";

/// The rule of the level at which only statements are counted, in total (docs/active.md).
pub const ACTIVE: &str = "active";

/// What is not counted at the level `active`, and how to count it if the program still runs.
#[cfg(feature = "tools")]
pub fn active_note(is_live: bool) -> String {
    let note = "the level active counts only statements, in total";
    match is_live {
        true => format!("{note}. To count every event: {COUNT_EVERY}"),
        false => note.to_owned(),
    }
}

/// The statement that ends the level `active`.
pub const COUNT_EVERY: &str = "UPDATE tare.setup_sampling SET sampling = 'every'";

/// A rule that is not `every`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    event_type: String,
    rule: String,
    one_in: i128,
}

impl Rule {
    fn is_active(&self) -> bool {
        self.rule == ACTIVE
    }

    fn summary(&self) -> String {
        // The rule of a budget does not contain the current sampling period.
        match self.rule.starts_with("1/") || self.is_active() {
            true => self.rule.clone(),
            false => format!("{}, now 1/{}", self.rule, self.one_in),
        }
    }
}

/// The event types that are sampled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sampling {
    rules: Vec<Rule>,
    /// The number of all event types.
    types: usize,
    has_exact_window: bool,
}

impl Sampling {
    /// Reads the rules. Only Tare's engine samples.
    pub fn query(observed: &mut ObservedServer) -> Result<Self, QueryError> {
        if observed.about.product != Product::Tare {
            return Ok(Self::default());
        }
        match observed.rows(QUERY) {
            Ok(rows) => Ok(Self::from_rows(rows.iter().filter_map(|row| {
                Some((
                    text(row.first()?)?,
                    text(row.get(1)?)?,
                    integer(row.get(2)?)?,
                ))
            }))),
            // An older version of Tare has no such table.
            Err(QueryError::Refused(_)) => Ok(Self::default()),
            Err(lost) => Err(lost),
        }
    }

    /// From rows of event type, rule and N.
    pub fn from_rows(rows: impl Iterator<Item = (String, String, i128)>) -> Self {
        let mut types = 0;
        let mut has_exact_window = false;
        let rules = rows
            .inspect(|(_, rule, _)| {
                types += 1;
                has_exact_window |= rule == EXACT_WINDOW;
            })
            .filter(|(_, rule, _)| rule != "every" && rule != EXACT_WINDOW)
            .map(|(event_type, rule, one_in)| Rule {
                event_type,
                rule,
                one_in,
            })
            .collect();
        Self {
            rules,
            types,
            has_exact_window,
        }
    }

    /// Whether anything is sampled.
    pub fn is_on(&self) -> bool {
        !self.rules.is_empty()
    }

    /// What a headline says: the rules if anything is sampled, or that an exact window is open.
    #[cfg(any(test, feature = "tools"))]
    pub fn headline(&self) -> Option<String> {
        match self.has_exact_window {
            true => Some(EXACT_WINDOW.to_owned()),
            false => self.is_on().then(|| self.summary()),
        }
    }

    /// Whether the level is `active`, which is that of all event types.
    pub fn is_active(&self) -> bool {
        self.rules.iter().any(Rule::is_active)
    }

    /// The rule for events of this type, if their counts are estimates.
    #[cfg(any(test, feature = "tools"))]
    pub fn rule(&self, event_type: &str) -> Option<String> {
        // The rule for waits applies to idle.
        let event_type = if event_type == "idle" {
            "wait"
        } else {
            event_type
        };
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.event_type == event_type && !rule.is_active())?;
        Some(rule.summary())
    }

    /// A summary: the one rule of all types, or each type's.
    pub fn summary(&self) -> String {
        let is_one = |pair: &[Rule]| pair[0].summary() == pair[1].summary();
        match self.rules.first() {
            Some(first) if self.rules.len() == self.types && self.rules.windows(2).all(is_one) => {
                first.summary()
            }
            _ => {
                let each = |rule: &Rule| format!("{} {}", rule.event_type, rule.summary());
                self.rules.iter().map(each).collect::<Vec<_>>().join("; ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rules: &[(&str, &str, i128)]) -> Sampling {
        let rows = rules.iter();
        Sampling::from_rows(rows.map(|(event, rule, n)| ((*event).into(), (*rule).into(), *n)))
    }

    #[test]
    fn equal_rules_are_summarised() {
        let none = of(&[("stage", "every", 1), ("wait", "every", 1)]);
        assert!(!none.is_on());
        let all = of(&[("stage", "1/16", 16), ("wait", "1/16", 16)]);
        assert_eq!(all.summary(), "1/16");
        let some = of(&[("stage", "every", 1), ("wait", "budget 1 %", 7)]);
        assert_eq!(some.summary(), "wait budget 1 %, now 1/7");
        assert_eq!(some.rule("idle").as_deref(), Some("budget 1 %, now 1/7"));
        assert_eq!(some.rule("statement"), None);
        assert!(!some.is_active());
        let active = of(&[("stage", "active", 1), ("wait", "active", 1)]);
        assert_eq!(
            (active.summary().as_str(), active.is_active()),
            ("active", true)
        );
        assert_eq!(active.rule("wait"), None, "nothing is estimated");
        let window = of(&[("stage", EXACT_WINDOW, 1), ("wait", EXACT_WINDOW, 1)]);
        assert_eq!(window.headline().as_deref(), Some(EXACT_WINDOW));
        assert!(
            !window.is_active() && !window.is_on(),
            "every event is counted"
        );
        assert_eq!(some.headline(), Some(some.summary()));
        assert_eq!(of(&[("wait", "every", 1)]).headline(), None);
    }
}
