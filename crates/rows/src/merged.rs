//! Variables and status counters: the server's, and performance_schema's own.

use std::collections::HashMap;

use crate::performance_schema::telemetry::{lost, settings};
use crate::server::VariableInfo;
use crate::snapshot::Snapshot;
use crate::source::Variable;
use crate::telemetry;
use crate::view::View;
use tare_mysql::series::Series;
use tare_mysql::variable::Scope;

fn merged(mut server: Vec<Variable>, own: Vec<Variable>) -> Vec<Variable> {
    // The segment has the current values; those of the server do not override them.
    server.retain(|s| !own.iter().any(|o| o.name.eq_ignore_ascii_case(&s.name)));
    server.extend(own);
    server.sort_by_cached_key(|v| v.name.to_ascii_lowercase());
    server
}

/// performance_schema's own variables, with those that MySQL 9.7 added.
fn own_variables(view: &View) -> Vec<Variable> {
    let mut own = view.snapshot.variables(view.source.series());
    if view.source.series().has_telemetry() {
        let on = view.source.segment().is_some();
        let limits = settings(view).limits;
        let sizes = telemetry::SIZES.iter().zip(limits);
        own.extend(
            sizes.map(|((name, _), limit)| Variable::new(*name, if on { limit } else { 0 })),
        );
        // A server has its own.
        if view.source.telemetry().is_none() {
            own.push(Variable::new("performance_schema_show_processlist", "OFF"));
        }
    }
    own
}

/// performance_schema's own status counters, with those that MySQL 9.7 added.
fn own_status(view: &View) -> Vec<Variable> {
    let mut own = view.snapshot.status_of(view.source.series());
    let before = view.source.flushed_losses();
    for counter in &mut own {
        let value = counter.value.parse::<u64>();
        if let (Some(before), Ok(value)) = (before.get(&counter.name), value) {
            counter.value = value.saturating_sub(*before).to_string();
        }
    }
    if view.source.series().has_telemetry() {
        let on = view.source.segment().is_some();
        let lost = ["logger", "meter", "metric"].into_iter().zip(lost(view));
        own.extend(lost.map(|(what, lost)| {
            let name = format!("Performance_schema_{what}_lost");
            Variable::new(name, if on { lost } else { 0 })
        }));
    }
    own
}

/// The variables of a scope, performance_schema's own among them.
pub fn variables(view: &View, scope: Scope) -> Vec<Variable> {
    merged(view.source.variables(scope), own_variables(view))
}

/// The counters that FLUSH STATUS resets: MySQL's losses. Those of schema tare stay.
pub fn losses(snapshot: &Snapshot, series: Series) -> HashMap<String, u64> {
    let is_loss =
        |v: &Variable| v.name.starts_with("Performance_schema_") && v.name.ends_with("_lost");
    let counters = snapshot.status_of(series).into_iter().filter(is_loss);
    counters
        .filter_map(|v| Some((v.name, v.value.parse().ok()?)))
        .collect()
}

/// The status counters of a scope, performance_schema's own among them.
pub fn status(view: &View, scope: Scope) -> Vec<Variable> {
    merged(view.source.status(scope), own_status(view))
}

/// Where the values of the variables come from, performance_schema's own among them.
pub fn variables_info(view: &View) -> Vec<VariableInfo> {
    let mut all = view.source.variables_info();
    for own in own_variables(view) {
        if !all.iter().any(|v| v.name == own.name) {
            all.push(VariableInfo {
                name: own.name,
                source: "COMPILED",
                min: "0",
                max: "0",
                ..VariableInfo::default()
            });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
