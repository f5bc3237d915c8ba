//! Examples and plans of statements, as a history has them.

use std::collections::HashMap;

use serde_json::{Value, json};
use tare_history::{Plan, PlanTree};

use super::timeline::millis;

/// The most plans of a statement.
const MAX_PLANS: usize = 10;

/// Plans by digest, oldest first. Of adjacent plans with the same shape there is the newest.
#[derive(Default)]
pub struct Plans {
    of: HashMap<String, Vec<Plan>>,
}

impl Plans {
    /// Adds a plan that was read after the others.
    pub fn add(&mut self, plan: Plan) {
        let all = self.of.entry(plan.digest.clone()).or_default();
        let is_same = |last: &Plan| last.shape == plan.shape && last.schema == plan.schema;
        if all.last().is_some_and(is_same) {
            all.pop();
        }
        if all.len() >= MAX_PLANS {
            all.remove(0);
        }
        all.push(plan);
    }

    /// The last plan before a time and the one before it, or else the oldest one.
    pub fn state(&self, digest: &str, to: i64) -> Value {
        let all = self.of.get(digest).map_or(&[][..], Vec::as_slice);
        let end = all.partition_point(|plan| millis(plan.at) < to).max(1);
        let last = all[..end.min(all.len())].iter().rev().take(2);
        let plans: Vec<Value> = last.map(of_plan).collect();
        Value::from(plans)
    }
}

fn of_plan(plan: &Plan) -> Value {
    let tree = plan.plan.as_deref().and_then(PlanTree::parse);
    json!({
        "at": millis(plan.at),
        "schema": plan.schema,
        "example": plan.example,
        "problem": plan.problem,
        "lines": tree.map(|tree| tree.lines()),
        "full_scans": plan.full_scans,
        "indexes": plan.indexes,
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use tare_history::PlanReason;

    use super::*;

    #[test]
    fn a_time_has_its_plan_and_the_one_before() {
        let mut plans = Plans::default();
        for (second, shape) in [(10, "a"), (20, "a"), (30, "b")] {
            plans.add(Plan {
                at: UNIX_EPOCH + Duration::from_secs(second),
                schema: None,
                digest: "d".into(),
                reason: PlanReason::New,
                example: Some(shape.into()),
                problem: None,
                plan: None,
                shape: Some(shape.into()),
                full_scans: Vec::new(),
                indexes: Vec::new(),
            });
        }
        let examples = |to| {
            let state = plans.state("d", to);
            let rows = state.as_array().expect("plans").iter();
            let rows = rows.map(|row| {
                (
                    row["at"].as_i64(),
                    row["example"].as_str().map(str::to_owned),
                )
            });
            rows.collect::<Vec<_>>()
        };
        let (a, b) = (
            (Some(20_000), Some("a".into())),
            (Some(30_000), Some("b".into())),
        );
        assert_eq!(examples(60_000), [b, a.clone()]);
        assert_eq!(examples(25_000), examples(0));
        assert_eq!(examples(0), [a]);
        assert_eq!(plans.state("other", 9), json!([]));
    }
}
