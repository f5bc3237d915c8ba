//! Whether the plan of a statement changed: the last plan of each of two windows.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use tare_history::{Past, PlanSeries, PlanTree, RecordedPlan};

use super::recording::{Place, Recording, StatementKey};
use super::rows::Rows;
use crate::exit::Failure;
use crate::observe::format::in_utc;

/// A plan that was recorded.
struct Reading {
    /// When it was read, in milliseconds since 1970.
    at: i64,
    shape: String,
    /// The plan, as the server gave it.
    plan: String,
}

impl RecordedPlan for Reading {
    fn at(&self) -> SystemTime {
        time(self.at)
    }

    fn shape(&self) -> Option<&str> {
        Some(&self.shape)
    }
}

impl Reading {
    fn tree(&self) -> Tree {
        Tree {
            at: self.at,
            shape: self.shape.clone(),
            lines: PlanTree::parse(&self.plan).unwrap_or_default().lines(),
        }
    }
}

/// The tree of a plan.
#[derive(Clone, Debug)]
pub struct Tree {
    at: i64,
    shape: String,
    lines: Vec<String>,
}

fn time(ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms.clamp(0, 1 << 50) as u64)
}

/// The plans of a statement.
#[derive(Clone, Debug, Default)]
pub struct StatementPlans {
    /// The last one until the end of the earlier window, which may be older than the window.
    before: Option<Tree>,
    /// The last one between the ends of both windows.
    after: Option<Tree>,
}

/// Plans by statement.
pub type Plans = BTreeMap<StatementKey, StatementPlans>;

/// Reads the plans of two windows, of all statements or of one.
pub fn read(
    (first, before): (&Place, &Recording),
    (second, after): (&Place, &Recording),
    digest: Option<&str>,
) -> Result<Plans, Failure> {
    let mut plans = Plans::new();
    let (start, end) = (time(before.window.to), time(after.window.to));
    let is_same = first.directory == second.directory;
    let last = before.window.to.max(after.window.to);
    let all = read_until(first, before, last, digest)?;
    for (key, series) in &all {
        plans.entry(key.clone()).or_default().before = series.last_until(start).map(Reading::tree);
    }
    // Another directory may be of an earlier time than the window before.
    let other = match is_same {
        true => all,
        false => read_until(second, after, after.window.to, digest)?,
    };
    for (key, series) in other {
        let last = match is_same {
            true => series.last_within(start, end),
            false => series.last_until(end),
        };
        plans.entry(key).or_default().after = last.map(Reading::tree);
    }
    Ok(plans)
}

/// The plans of each statement of a server until a time.
fn read_until(
    place: &Place,
    of: &Recording,
    to: i64,
    digest: Option<&str>,
) -> Result<BTreeMap<StatementKey, PlanSeries<Reading>>, Failure> {
    let past = Past {
        directory: place.directory.clone(),
        from: i64::MIN,
        to,
        host: Some(of.host.clone()),
        server: Some(of.server.clone()),
    };
    let mut plans: BTreeMap<StatementKey, PlanSeries<Reading>> = BTreeMap::new();
    let mut rows = Rows::scan(&past, "plans", &["schema", "digest", "plan", "shape"])?;
    while rows.advance()? {
        let (Some(of_row), Some(plan), Some(shape)) = (rows.text(1), rows.text(2), rows.text(3))
        else {
            continue;
        };
        let at = rows.at();
        if digest.is_none_or(|digest| digest == of_row) && at <= to && rows.server() == of.server {
            let key = (rows.text(0).map(str::to_owned), of_row.to_owned());
            let (shape, plan) = (shape.to_owned(), plan.to_owned());
            let series = plans.entry(key).or_default();
            series.add(Reading { at, shape, plan });
        }
    }
    Ok(plans)
}

impl StatementPlans {
    /// Whether the plan changed; `None` if there are not two.
    pub fn is_changed(&self) -> Option<bool> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        Some(before.shape != after.shape)
    }

    /// Both trees if the plan changed, and otherwise the one that there is.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |heading: &str, plan: &Tree| {
            lines.push(format!("{heading}, read at {}", in_utc(plan.at)));
            lines.extend(plan.lines.iter().map(|line| format!("  {line}")));
        };
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before.shape != after.shape => {
                add("the plan changed; before", before);
                add("after", after);
            }
            (_, Some(after)) if self.before.is_some() => add("the plan is the same", after),
            (None, Some(after)) => add("plan, not recorded before", after),
            (Some(before), None) => add("plan, not read again", before),
            _ => {}
        }
        lines
    }

    /// As docs/schemas/diff.json describes it.
    pub fn json(&self) -> Json {
        let plan = |plan: &Tree| {
            json!({
                "sampled_at": in_utc(plan.at),
                "shape": plan.shape,
                "tree": plan.lines,
            })
        };
        json!({
            "is_changed": self.is_changed(),
            "before": self.before.as_ref().map(plan),
            "after": self.after.as_ref().map(plan),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(at: i64, shape: &str, line: &str) -> Option<Tree> {
        Some(Tree {
            at,
            shape: shape.to_owned(),
            lines: vec![line.to_owned()],
        })
    }

    #[test]
    fn both_trees_are_printed_if_the_plan_changed() {
        let (by_index, scan) = (
            plan(60_000, "1", "t: by index a"),
            plan(120_000, "2", "t: full scan"),
        );
        let plans = |before, after| StatementPlans { before, after };
        let changed = plans(by_index.clone(), scan.clone());
        assert_eq!(changed.is_changed(), Some(true));
        assert_eq!(
            changed.lines(),
            [
                "the plan changed; before, read at 1970-01-01 00:01:00",
                "  t: by index a",
                "after, read at 1970-01-01 00:02:00",
                "  t: full scan",
            ]
        );
        let same = plans(by_index.clone(), by_index.clone());
        assert_eq!(same.is_changed(), Some(false));
        assert_eq!(same.lines().len(), 2);
        let once = plans(by_index, None);
        assert_eq!(once.is_changed(), None);
        assert!(once.lines()[0].starts_with("plan, not read again, read at"));
        assert!(plans(None, scan).lines()[0].starts_with("plan, not recorded before"));
        assert_eq!(plans(None, None).lines(), Vec::<String>::new());
    }
}
