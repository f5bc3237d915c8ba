//! The plans of a statement in the order of time: which one was in effect, and which one before it changed.

use std::time::SystemTime;

use crate::plan::Plan;

/// A plan, as far as it is compared with others of its statement.
pub trait RecordedPlan {
    /// When it was read.
    fn at(&self) -> SystemTime;
    /// The same for plans that differ only in estimates and literals; `None` if EXPLAIN failed.
    fn shape(&self) -> Option<&str>;
}

impl RecordedPlan for Plan {
    fn at(&self) -> SystemTime {
        self.at
    }

    fn shape(&self) -> Option<&str> {
        self.shape.as_deref()
    }
}

/// The plans of a statement of one schema.
#[derive(Clone, Debug)]
pub struct PlanSeries<P> {
    plans: Vec<P>,
}

impl<P> Default for PlanSeries<P> {
    fn default() -> Self {
        Self { plans: Vec::new() }
    }
}

impl<P: RecordedPlan> PlanSeries<P> {
    /// Adds a plan. Of two that were read at the same time, the one that was added later is later.
    pub fn add(&mut self, plan: P) {
        let position = self.plans.partition_point(|one| one.at() <= plan.at());
        self.plans.insert(position, plan);
    }

    /// Leaves so many plans if there are more: of each run with the same shape only the first and the last one, and
    /// then the newest.
    pub fn limit(&mut self, most: usize) {
        if self.plans.len() <= most {
            return;
        }
        let shapes: Vec<Option<String>> = (self.plans.iter())
            .map(|plan| plan.shape().map(str::to_owned))
            .collect();
        let mut at = 0;
        self.plans.retain(|_| {
            let is_inner = at > 0
                && at + 1 < shapes.len()
                && shapes[at - 1] == shapes[at]
                && shapes[at] == shapes[at + 1];
            at += 1;
            !is_inner
        });
        self.plans.drain(..self.plans.len().saturating_sub(most));
    }

    /// The oldest one.
    pub fn first(&self) -> Option<&P> {
        self.plans.first()
    }

    /// The last one.
    pub fn last(&self) -> Option<&P> {
        self.plans.last()
    }

    /// The last one that was read until a time.
    pub fn last_until(&self, to: SystemTime) -> Option<&P> {
        let end = self.plans.partition_point(|plan| plan.at() <= to);
        self.plans[..end].last()
    }

    /// The last one that was read after a time and until another one.
    pub fn last_within(&self, after: SystemTime, to: SystemTime) -> Option<&P> {
        self.last_until(to).filter(|plan| plan.at() > after)
    }

    /// The last one before a plan of this series that has another shape.
    pub fn before_change(&self, plan: &P) -> Option<&P> {
        let shape = plan.shape()?;
        let end = self.plans.partition_point(|one| one.at() <= plan.at());
        let mut earlier = self.plans[..end].iter().rev();
        earlier.find(|one| one.shape().is_some_and(|other| other != shape))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Reading(u64, Option<&'static str>);

    impl RecordedPlan for Reading {
        fn at(&self) -> SystemTime {
            at(self.0)
        }

        fn shape(&self) -> Option<&str> {
            self.1
        }
    }

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    const READ: [Reading; 7] = [
        Reading(10, Some("a")),
        Reading(20, Some("a")),
        Reading(30, Some("a")),
        Reading(40, Some("b")),
        Reading(50, None),
        Reading(60, Some("b")),
        Reading(70, Some("a")),
    ];

    /// The readings, added in this order.
    fn series(order: [usize; 7]) -> PlanSeries<Reading> {
        let mut series = PlanSeries::default();
        for i in order {
            series.add(READ[i].clone());
        }
        series
    }

    #[test]
    fn a_plan_is_in_effect_until_the_next_one_in_any_order_of_reading() {
        for order in [
            [0, 1, 2, 3, 4, 5, 6],
            [6, 5, 4, 3, 2, 1, 0],
            [1, 0, 2, 6, 3, 5, 4],
            [0, 2, 1, 4, 3, 6, 5],
        ] {
            let series = series(order);
            assert_eq!(series.plans, READ, "{order:?}");
            let until = |second| series.last_until(at(second)).map(|plan| plan.0);
            assert_eq!(
                [9, 10, 25, 35, 99].map(until),
                [None, Some(10), Some(20), Some(30), Some(70)]
            );
            let before = |second| {
                let last = series.last_until(at(second))?;
                series.before_change(last).map(|plan| plan.0)
            };
            assert_eq!(
                [35, 40, 50, 60, 99].map(before),
                [None, Some(30), None, Some(30), Some(60)]
            );
            assert_eq!(series.last_within(at(30), at(35)), None);
            assert_eq!(series.last_within(at(29), at(35)), Some(&READ[2]));
        }
    }

    #[test]
    fn plans_within_a_run_are_removed_before_the_oldest() {
        let mut series = series([0, 1, 2, 3, 4, 5, 6]);
        series.limit(7);
        assert_eq!(series.plans, READ);
        series.limit(6);
        assert_eq!(series.plans, [0, 2, 3, 4, 5, 6].map(|i| READ[i].clone()));
        series.limit(2);
        assert_eq!(series.first(), Some(&READ[5]));
        series.limit(9);
        assert_eq!(series.plans.len(), 2);
    }
}
