//! The setting of a run as text.

use crate::recipe::{Load, Recipe};
use crate::store::Plan;

/// Repetitions, and what each measured: "4 repetitions of 20 turns of 100 ms".
pub fn amount(plan: &Plan) -> String {
    let run = &plan.recipe.run;
    let many = |n: u32, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    // The size of a run that stopped by itself is what it measured.
    let last = plan.cells.iter().map(|cell| cell.repetition).max();
    let repetitions = match (&plan.stopping_rule, last) {
        (Some(_), Some(last)) if run.turns > 0 => {
            return format!("{} in turns of {} ms", many(last, "start"), run.turn_ms);
        }
        (Some(_), Some(last)) => many(last, "repetition"),
        _ => many(run.repetitions, "repetition"),
    };
    match (plan.live.is_some(), run.turns) {
        (true, _) => format!("{repetitions} of windows of {} s", run.seconds),
        (false, 0) => format!("{repetitions} of {} s", run.seconds),
        (false, turns) => format!(
            "{repetitions} of {} of {} ms",
            many(turns, "turn"),
            run.turn_ms
        ),
    }
}

/// The complete setting, as a list.
pub fn words(plan: &Plan, done: usize) -> Vec<String> {
    let run = &plan.recipe.run;
    let quick = if plan.quick { ", quick form" } else { "" };
    let mut words = vec![format!(
        "recipe {}{quick}, {} UTC, seed {}",
        plan.name, plan.machine.started, plan.seed
    )];
    let mut amount = amount(plan);
    if run.warm_up > 0 && plan.live.is_none() {
        amount.push_str(&format!(", after {} s of warm-up each", run.warm_up));
    }
    words.push(amount);
    words.push(format!("{done} of {} cells measured", plan.cells.len()));
    match run.processors {
        0 => {}
        1 => words.push("server and load on one processor".into()),
        n => words.push(format!("server and load on {n} processors")),
    }
    if fills_tables(&plan.recipe) && plan.live.is_none() {
        let data = &plan.recipe.data;
        let tables = if data.tables == 1 { "table" } else { "tables" };
        words.push(format!(
            "{}, {} {tables} of {} rows",
            plan.machine.sysbench, data.tables, data.rows
        ));
    }
    words.push(plan.machine.words());
    words
}

/// Whether sysbench fills tables for one of its loads.
fn fills_tables(recipe: &Recipe) -> bool {
    (recipe.workloads.iter()).any(|workload| workload.load == Load::Sysbench)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    fn plan(name: &str) -> Plan {
        let recipe = Recipe::find(name).expect("shipped").quick().expect("quick");
        Plan {
            quick: true,
            machine: Machine {
                sysbench: "sysbench 1.0.20".into(),
                ..Machine::default()
            },
            ..Plan::new(name, recipe, 1)
        }
    }

    #[test]
    fn the_setting_of_turns_is_printed() {
        let plan = plan("configs");
        assert_eq!(amount(&plan), "4 repetitions of 20 turns of 100 ms");
        let words = words(&plan, 3).join("; ");
        assert!(
            words.contains("sysbench 1.0.20, 1 table of 20000 rows"),
            "{words}"
        );
        assert!(!words.contains(" 60 s"), "{words}");
    }

    #[test]
    fn the_setting_of_a_users_load_has_no_sysbench() {
        let words = words(&plan("own"), 3).join("; ");
        assert!(
            !words.contains("sysbench") && !words.contains("rows"),
            "{words}"
        );
        assert!(
            words.contains("4 repetitions of 2 s, after 1 s of warm-up each"),
            "{words}"
        );
    }
}
