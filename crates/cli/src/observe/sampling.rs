//! What a server samples: its rules by event type.

use super::{Observed, Product, Trouble, text, whole};

/// The question.
pub const QUESTION: &str = "SELECT event_type, sampling, one_in FROM tare.setup_sampling";

/// A rule that is not `every`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    event_type: String,
    rule: String,
    one_in: i128,
}

impl Rule {
    fn words(&self) -> String {
        // A budget does not say by itself how many are observed.
        match self.rule.starts_with("1/") {
            true => self.rule.clone(),
            false => format!("{}, now 1/{}", self.rule, self.one_in),
        }
    }
}

/// The event types that are sampled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sampling {
    rules: Vec<Rule>,
    /// How many types there are.
    types: usize,
}

impl Sampling {
    /// Asks. Only Tare samples.
    pub fn ask(observed: &mut Observed) -> Result<Self, Trouble> {
        if observed.about.product != Product::Tare {
            return Ok(Self::default());
        }
        match observed.rows(QUESTION) {
            Ok(rows) => Ok(Self::of(rows.iter().filter_map(|row| {
                Some((text(row.first()?)?, text(row.get(1)?)?, whole(row.get(2)?)?))
            }))),
            // A tare of an older version serves it.
            Err(Trouble::Refused(_)) => Ok(Self::default()),
            Err(lost) => Err(lost),
        }
    }

    /// Of rows: event type, rule, N.
    pub fn of(rows: impl Iterator<Item = (String, String, i128)>) -> Self {
        let mut types = 0;
        let rules = rows
            .inspect(|_| types += 1)
            .filter(|(_, rule, _)| rule != "every")
            .map(|(event_type, rule, one_in)| Rule {
                event_type,
                rule,
                one_in,
            })
            .collect();
        Self { rules, types }
    }

    /// Whether anything is.
    pub fn is_on(&self) -> bool {
        !self.rules.is_empty()
    }

    /// How events of this type are: in words, if they are.
    #[cfg(any(test, feature = "terminal"))]
    pub fn rule(&self, event_type: &str) -> Option<String> {
        // Idle times go with waits.
        let event_type = if event_type == "idle" {
            "wait"
        } else {
            event_type
        };
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.event_type == event_type)?;
        Some(rule.words())
    }

    /// All of it: one rule, or each type's.
    pub fn words(&self) -> String {
        let is_one = |pair: &[Rule]| pair[0].words() == pair[1].words();
        match self.rules.first() {
            Some(first) if self.rules.len() == self.types && self.rules.windows(2).all(is_one) => {
                first.words()
            }
            _ => {
                let each = |rule: &Rule| format!("{} {}", rule.event_type, rule.words());
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
        Sampling::of(rows.map(|(event, rule, n)| ((*event).into(), (*rule).into(), *n)))
    }

    #[test]
    fn rules_are_told_shortly() {
        let none = of(&[("stage", "every", 1), ("wait", "every", 1)]);
        assert!(!none.is_on());
        let all = of(&[("stage", "1/16", 16), ("wait", "1/16", 16)]);
        assert_eq!(all.words(), "1/16");
        let some = of(&[("stage", "every", 1), ("wait", "budget 1 %", 7)]);
        assert_eq!(some.words(), "wait budget 1 %, now 1/7");
        assert_eq!(some.rule("idle").as_deref(), Some("budget 1 %, now 1/7"));
        assert_eq!(some.rule("statement"), None);
    }
}
