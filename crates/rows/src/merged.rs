//! Variables and status counters: the server's, and performance_schema's own.

use crate::server::VariableInfo;
use crate::source::Variable;
use crate::view::View;
use tare_mysql::variable::Scope;

fn merged(mut server: Vec<Variable>, own: Vec<Variable>) -> Vec<Variable> {
    // What the segment says is the truth; a server may not contradict it.
    server.retain(|s| !own.iter().any(|o| o.name.eq_ignore_ascii_case(&s.name)));
    server.extend(own);
    server.sort_by_cached_key(|v| v.name.to_ascii_lowercase());
    server
}

/// The variables of a scope, performance_schema's own among them.
pub fn variables(view: &View, scope: Scope) -> Vec<Variable> {
    merged(view.source.variables(scope), view.snapshot.variables())
}

/// The status counters of a scope, performance_schema's own among them.
pub fn status(view: &View, scope: Scope) -> Vec<Variable> {
    merged(view.source.status(scope), view.snapshot.status())
}

/// Where the values of the variables come from, performance_schema's own among them.
pub fn variables_info(view: &View) -> Vec<VariableInfo> {
    let mut all = view.source.variables_info();
    for own in view.snapshot.variables() {
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
