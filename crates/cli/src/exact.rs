//! The options of exact windows: `--exact-when`, `--exact-for` and `--budget`.

use std::sync::Arc;
use std::time::Duration;

use tare_history::{Condition, ExactRule, ExactWindows, Source};
use tare_reader::exact::MAX_LENGTH;
use tare_reader::{ExactError, ExactWindow, Segment};

use crate::exit::{FAILED, Failure};
use crate::option_values::parse_duration;
use crate::sql::Target;

/// When a program at the level active counts every event for a while, and what that may cost.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Exact windows")]
pub struct ExactOptions {
    /// At the level active, count every event for a while when this has held:
    /// 'active_sessions > 2 * cpus for 5s'. Also waiting_for_cpu, blocked, statements_per_second,
    /// errors_per_second
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    exact_when: Option<Condition>,

    /// The length of such a window, from 1s to 10m
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "10s", requires = "exact_when")]
    exact_for: Duration,

    /// The part of the server's CPU time that windows may cost in an hour
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%", requires = "exact_when")]
    budget: f64,
}

impl ExactOptions {
    /// The option that needs exact windows, if one was given.
    pub fn option(&self) -> Option<&'static str> {
        self.exact_when.is_some().then_some("--exact-when")
    }

    /// The rule, if there is one.
    ///
    /// # Errors
    /// The target is read in SQL, so that its level cannot be changed.
    pub fn rule(&self, target: &Target) -> Result<Option<ExactRule>, Failure> {
        let Some(condition) = &self.exact_when else {
            return Ok(None);
        };
        check_segment(self.option(), target)?;
        Ok(Some(ExactRule {
            condition: condition.clone(),
            length: self.exact_for,
            share: self.budget,
        }))
    }

    /// The windows of the rule, if there is one, and a warning.
    ///
    /// # Errors
    /// The settings of the program cannot be changed, or its CPU time not be read.
    pub fn windows(
        &self,
        target: &Target,
        source: &dyn Source,
    ) -> Result<Option<(ExactWindows, Option<String>)>, Failure> {
        let (Some(rule), Some(segment)) = (self.rule(target)?, source.attached()) else {
            return Ok(None);
        };
        let windows = ExactWindows::new(Arc::clone(segment), rule);
        let windows = windows.map_err(|why| cannot_open(&why))?;
        Ok(Some((windows, warning(segment))))
    }
}

/// Fails if an option needs exact windows, and the target is not read from shared memory.
pub fn check_segment(option: Option<&str>, target: &Target) -> Result<(), Failure> {
    match option {
        Some(option) if !target.is_segment() => Err(Failure::new(
            FAILED,
            format!(
                "{option} needs shared memory: it works for a program that uses Tare, or a server behind tare run, \
                 named by --pid or --segment. A server that is named by --dsn is read in SQL"
            ),
        )),
        _ => Ok(()),
    }
}

/// Fails if an option needs exact windows: there is no program that uses Tare.
pub fn check_none(option: Option<&str>) -> Result<(), Failure> {
    match option {
        None => Ok(()),
        Some(option) => Err(Failure::new(
            FAILED,
            format!("{option} needs a program that uses Tare, and this is none"),
        )),
    }
}

/// The failure of a target without exact windows.
pub fn cannot_open(why: &dyn std::fmt::Display) -> Failure {
    Failure::new(FAILED, format!("exact windows cannot be opened: {why}"))
}

/// Why no window opens at the present level.
pub fn warning(segment: &Segment) -> Option<String> {
    let error = ExactWindow::check(segment).err()?;
    matches!(error, ExactError::NotActive { .. }).then(|| error.to_string())
}

fn length(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text}: give a time from 1s to 10m");
    let length = parse_duration(text).map_err(|_| wrong())?;
    match (Duration::from_secs(1)..=MAX_LENGTH).contains(&length) {
        true => Ok(length),
        false => Err(wrong()),
    }
}

/// Reads `1%` or `0.5 %` as a part of 1.
fn share(text: &str) -> Result<f64, String> {
    let wrong =
        || format!("{text}: give a percentage such as 1% or 0.5%, above 0 and at most 100%");
    let number = text.strip_suffix('%').ok_or_else(wrong)?;
    let percent: f64 = number.trim_end().parse().map_err(|_| wrong())?;
    match percent > 0.0 && percent <= 100.0 {
        true => Ok(percent / 100.0),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_budgets_have_bounds() {
        assert_eq!(length("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(length("10m"), Ok(MAX_LENGTH));
        for wrong in ["0.5s", "11m", "soon"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.5 %"), Ok(0.005));
        for wrong in ["1", "0%", "-1%", "101%", "nan%", "%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
