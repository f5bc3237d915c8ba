//! Examples and plans of statements, as a history has them.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tare_history::{Plan, PlanSeries, PlanTree};

use super::timeline::millis;

/// The most plans of a statement of a schema.
const MAX_PLANS: usize = 20;

/// Plans by digest and schema.
#[derive(Default)]
pub struct Plans {
    of: HashMap<String, BTreeMap<Option<String>, PlanSeries<Plan>>>,
}

impl Plans {
    /// Adds a plan that was read after the others.
    pub fn add(&mut self, plan: Plan) {
        let schemas = self.of.entry(plan.digest.clone()).or_default();
        let series = schemas.entry(plan.schema.clone()).or_default();
        series.add(plan);
        series.limit(MAX_PLANS);
    }

    /// The last plan until a time, and the one before it changed; or else the oldest one.
    pub fn state(&self, digest: &str, to: i64) -> Value {
        let to = UNIX_EPOCH + Duration::from_millis(to.max(0) as u64);
        let schemas = self.of.get(digest);
        let all = || schemas.into_iter().flat_map(BTreeMap::values);
        let until = |series| PlanSeries::last_until(series, to).map(|plan| (plan, series));
        let last = all().filter_map(until).max_by_key(|(plan, _)| plan.at);
        let plans = match last {
            Some((last, series)) => vec![Some(last), series.before_change(last)],
            None => vec![
                all()
                    .filter_map(PlanSeries::first)
                    .min_by_key(|plan| plan.at),
            ],
        };
        plans.into_iter().flatten().map(of_plan).collect()
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
    use tare_history::PlanReason;

    use super::*;

    #[test]
    fn a_time_has_its_plan_and_the_one_before() {
        let mut plans = Plans::default();
        let read = [
            (10, "s", "a"),
            (20, "s", "a"),
            (30, "s", "b"),
            (40, "t", "c"),
        ];
        for (second, schema, shape) in read {
            plans.add(Plan {
                at: UNIX_EPOCH + Duration::from_secs(second),
                schema: Some(schema.into()),
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
        // Another schema has another plan: it did not change.
        assert_eq!(examples(60_000), [(Some(40_000), Some("c".into()))]);
        assert_eq!(examples(35_000), [b, a.clone()]);
        assert_eq!(examples(25_000), [a]);
        assert_eq!(examples(0), [(Some(10_000), Some("a".into()))]);
        assert_eq!(plans.state("other", 9), json!([]));
    }
}
