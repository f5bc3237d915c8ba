//! Switches a running server between configurations. The settings of each configuration are read once,
//! and set or reverted between turns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::sidecar::Sidecars;
use super::unplanned;
use crate::connection::{Connection, Row};
use crate::error::CellError;
use crate::matrix::{Key, process};
use crate::recipe::{Configuration, Kind, Recipe, Server};
use crate::server::RunningServer;
use crate::stats::compare::Baseline;

/// The most names in one statement, which stays below any server's packet size.
const MAX_NAMES: usize = 200;

/// A kind of setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Setting {
    Instrument,
    Consumer,
    Timer,
    TareTimer,
    Sampling,
    Metric,
    Variable,
}

/// The values of all settings.
type State = BTreeMap<(Setting, String), Vec<Option<String>>>;

/// The configurations of one process.
pub(super) struct Switchboard {
    /// The states of configurations that SQL sets.
    states: BTreeMap<String, State>,
    /// The commands of the other configurations.
    commands: BTreeMap<String, Vec<String>>,
    now: State,
    /// Programs that run only in some configurations.
    sidecars: Sidecars,
    /// The server's configuration; `None` if it is not known.
    current: Option<String>,
}

/// The configurations of a server that share the process of this one, itself included. Empty if it has
/// its own process: because no other can share it, or because its settings cannot be reverted.
pub(super) fn shared_process<'a>(
    recipe: &'a Recipe,
    server: &Server,
    configuration: &Configuration,
) -> Vec<&'a Configuration> {
    let by_sql =
        |one: &Configuration| one.switch.is_empty() && one.sql.iter().all(|sql| is_reversible(sql));
    let can = |one: &Configuration| match server.kind {
        Kind::Command => !one.switch.is_empty() && one.sql.is_empty(),
        Kind::Tare | Kind::Mariadb | Kind::Mysql => by_sql(one),
        Kind::Dsn | Kind::None => false,
    };
    if !recipe.run.switch || !can(configuration) {
        return Vec::new();
    }
    let all = || {
        recipe
            .configurations
            .iter()
            .filter(|each| each.is_for(server))
    };
    let shares = |one: &&Configuration| can(one) && process_key(one) == process_key(configuration);
    let sharing: Vec<&Configuration> = all().filter(shares).collect();
    // A shared process has more turns and warmer caches, so it is only compared with a baseline in the
    // same process.
    let with_baseline = (recipe.baseline.as_ref())
        .is_none_or(|baseline| sharing.iter().any(|each| each.name == *baseline));
    // Where others have their own processes, so have both cells of an A/A pair.
    let has_own_process = sharing.len() < 2 && all().count() > 1;
    match has_own_process || !with_baseline {
        true => Vec::new(),
        false => sharing,
    }
}

/// The same for a cell. Where some configurations have their own processes, so has the second cell of
/// the A/A pair, which is their baseline.
pub(super) fn shared_process_of_cell<'a>(recipe: &'a Recipe, key: &Key) -> Vec<&'a Configuration> {
    let Some(parts) = recipe.parts(key) else {
        return Vec::new();
    };
    let sharing = shared_process(recipe, parts.server, parts.configuration);
    let all = recipe.configurations.iter();
    let mixed = sharing.len() < all.filter(|each| each.is_for(parts.server)).count();
    match key.again && mixed {
        true => Vec::new(),
        false => sharing,
    }
}

/// The cells of the A/A pair that a cell is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twins {
    /// Both: all cells have their own processes, or all share one.
    Both,
    /// The first, whose process the cell shares.
    First,
    /// The second, which has its own process like the cell.
    Again,
}

impl Twins {
    /// For a cell, and the first cell of its group's A/A pair.
    pub(crate) fn of(recipe: &Recipe, baseline: &Key, key: &Key) -> Self {
        let again = Key {
            again: true,
            ..baseline.clone()
        };
        let mixed = recipe.run.turns > 0
            && !shared_process_of_cell(recipe, baseline).is_empty()
            && shared_process_of_cell(recipe, &again).is_empty();
        match mixed {
            false => Self::Both,
            true if shared_process_of_cell(recipe, key).is_empty() => Self::Again,
            true => Self::First,
        }
    }

    /// The part of a baseline that applies.
    pub(crate) fn baseline(self, baseline: &Baseline) -> Baseline {
        let mut left = baseline.clone();
        match self {
            Self::Both => {}
            Self::First => left.again.clear(),
            Self::Again => left.first.clear(),
        }
        left
    }
}

/// Whether two cells of a server share a process. At most one process is shared: the baseline's.
pub(crate) fn is_same_process(recipe: &Recipe, one: &Key, other: &Key) -> bool {
    let shared = |key: &Key| !shared_process_of_cell(recipe, key).is_empty();
    shared(one) && shared(other)
}

/// What configurations that share a process have in common.
fn process_key(configuration: &Configuration) -> String {
    let load = (
        &configuration.generator_preload,
        &configuration.load_options,
    );
    format!("{} {load:?}", process(configuration))
}

/// Whether a statement sets only what can be read and so reverted.
fn is_reversible(sql: &str) -> bool {
    let sql = sql.trim().to_ascii_lowercase();
    let tables = [
        "performance_schema.setup_instruments",
        "performance_schema.setup_consumers",
        "performance_schema.setup_timers",
        "tare.setup_timers",
        "tare.setup_sampling",
    ];
    let sets = |table: &&str| sql.starts_with(&format!("update {table} "));
    tables.iter().any(sets) || variable(&sql).is_some()
}

/// The variable that a statement sets.
fn variable(sql: &str) -> Option<String> {
    let sql = sql.trim().to_ascii_lowercase();
    let name = sql.strip_prefix("set global ")?.split('=').next()?.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A statement with more than one assignment is not parsed.
    let is_single = !sql.contains(',') && !sql.contains(';');
    (is_single && !name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

impl Switchboard {
    /// Sets each configuration once, reads its state, and checks that it can be reverted.
    pub(super) fn read_states(
        running: &mut RunningServer,
        configurations: &[&Configuration],
    ) -> Result<Self, CellError> {
        let mut switches = Self {
            states: BTreeMap::new(),
            commands: BTreeMap::new(),
            now: State::new(),
            sidecars: Sidecars::default(),
            current: None,
        };
        if configurations.iter().any(|each| !each.switch.is_empty()) {
            let of = |each: &&Configuration| (each.name.clone(), each.switch.clone());
            switches.commands = configurations.iter().map(of).collect();
            return Ok(switches);
        }
        let variables: BTreeSet<String> = (configurations.iter())
            .flat_map(|each| &each.sql)
            .filter_map(|sql| variable(sql))
            .filter(|name| !name.starts_with("innodb_monitor_"))
            .collect();
        let connection = &mut running.connection;
        let base = read(connection, &variables);
        for configuration in configurations {
            for sql in &configuration.sql {
                send(connection, sql)?;
            }
            let state = read(connection, &variables);
            for sql in between(&state, &base) {
                send(connection, &sql)?;
            }
            let back = read(connection, &variables);
            if let Some(((_, name), _)) = base
                .iter()
                .find(|(key, value)| back.get(key) != Some(value))
            {
                let configuration = &configuration.name;
                return Err(CellError::failed(format!(
                    "what configuration '{configuration}' does to {name} cannot be taken back in a running server: give \
                     run.switch = false, and each has a process of its own"
                )));
            }
            switches.states.insert(configuration.name.clone(), state);
        }
        switches.now = base;
        Ok(switches)
    }

    /// Starts the sidecars of the server, see [`Sidecars::start`].
    pub(super) fn start_sidecars(
        &mut self,
        running: &RunningServer,
        configurations: &[&Configuration],
        tare: &Path,
        directory: &Path,
    ) -> Result<(), CellError> {
        self.sidecars = Sidecars::start(running, configurations, tare, directory)?;
        Ok(())
    }

    /// The configurations.
    pub(super) fn names(&self) -> Vec<String> {
        (self.states.keys().chain(self.commands.keys()))
            .cloned()
            .collect()
    }

    /// Switches the server. Returns whether there was anything to switch.
    pub(super) fn switch_to(
        &mut self,
        running: &mut RunningServer,
        name: &str,
    ) -> Result<bool, CellError> {
        if self.current.as_deref() == Some(name) {
            return Ok(false);
        }
        self.current = None;
        self.sidecars.switch_to(name)?;
        if let Some(commands) = self.commands.get(name) {
            (commands.iter()).try_for_each(|command| running.shell(command))?;
        } else {
            let state = self.states.get(name).ok_or_else(unplanned)?;
            for sql in between(&self.now, state) {
                send(&mut running.connection, &sql)?;
            }
            self.now = state.clone();
        }
        self.current = Some(name.to_owned());
        Ok(true)
    }
}

fn send(connection: &mut Connection, sql: &str) -> Result<(), CellError> {
    connection.query(sql).map(drop).map_err(|error| {
        let beginning: String = sql.chars().take(200).collect();
        CellError::failed(format!("the server refused '{beginning}': {error}"))
    })
}

/// Reads the state; a table that the server does not have is skipped.
fn read(connection: &mut Connection, variables: &BTreeSet<String>) -> State {
    let mut state = State::new();
    let mut add = |what: Setting, rows: Result<Vec<Row>, String>| {
        for row in rows.unwrap_or_default() {
            let mut row = row.into_iter();
            if let Some(Some(name)) = row.next() {
                state.insert((what, name), row.collect());
            }
        }
    };
    let schema =
        |columns: &str, table: &str| format!("SELECT {columns} FROM performance_schema.{table}");
    add(
        Setting::Instrument,
        connection.query(&schema("NAME, ENABLED, TIMED", "setup_instruments")),
    );
    add(
        Setting::Consumer,
        connection.query(&schema("NAME, ENABLED", "setup_consumers")),
    );
    for (what, schema) in [
        (Setting::Timer, "performance_schema"),
        (Setting::TareTimer, "tare"),
    ] {
        let sql = format!("SELECT NAME, TIMER_NAME FROM {schema}.setup_timers");
        add(what, connection.query(&sql));
    }
    add(
        Setting::Sampling,
        connection.query("SELECT event_type, sampling FROM tare.setup_sampling"),
    );
    // The column has enabled and disabled in MySQL, 1 and 0 in MariaDB.
    let metrics = |column: &str, on: &str| {
        format!(
            "SELECT NAME, IF({column} = {on}, 'enable', 'disable') FROM information_schema.INNODB_METRICS"
        )
    };
    let rows = connection.query(&metrics("STATUS", "'enabled'"));
    add(
        Setting::Metric,
        rows.or_else(|_| connection.query(&metrics("ENABLED", "1"))),
    );
    for name in variables {
        let rows = connection.query(&format!(
            "SHOW GLOBAL VARIABLES LIKE '{}'",
            name.replace('_', "\\_")
        ));
        add(Setting::Variable, rows);
    }
    state
}

/// The statements that change one state into another.
fn between(from: &State, to: &State) -> Vec<String> {
    let mut alike: BTreeMap<(Setting, &Vec<Option<String>>), Vec<&str>> = BTreeMap::new();
    for ((what, name), value) in to {
        if from.get(&(*what, name.clone())) != Some(value) {
            alike.entry((*what, value)).or_default().push(name);
        }
    }
    let mut statements = Vec::new();
    for ((what, value), names) in alike {
        let first = value.first().cloned().flatten().unwrap_or_default();
        let update = |table: &str, sets: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            let names = names.join(", ");
            format!("UPDATE {table} SET {sets} WHERE NAME IN ({names})")
        };
        match what {
            Setting::Instrument => {
                let timed = value.get(1).cloned().flatten();
                let timed = timed
                    .map(|timed| format!(", TIMED = '{timed}'"))
                    .unwrap_or_default();
                let sets = format!("ENABLED = '{first}'{timed}");
                let of_names = |names| update("performance_schema.setup_instruments", &sets, names);
                // MySQL 8.0.15 does not find an sxlock by the table's key; it does in a scan of the
                // table.
                let (by_name, by_scan): (Vec<&str>, Vec<&str>) =
                    (names.iter()).partition(|name| !name.starts_with("wait/synch/sxlock/"));
                statements.extend(by_name.chunks(MAX_NAMES).map(of_names));
                let each =
                    |names| of_names(names).replacen("WHERE NAME IN", "WHERE CONCAT(NAME) IN", 1);
                statements.extend(by_scan.chunks(MAX_NAMES).map(each));
            }
            Setting::Consumer => statements.push(update(
                "performance_schema.setup_consumers",
                &format!("ENABLED = '{first}'"),
                &names,
            )),
            Setting::Timer | Setting::TareTimer => {
                let schema = match what {
                    Setting::Timer => "performance_schema",
                    _ => "tare",
                };
                let sets = format!("TIMER_NAME = '{first}'");
                statements.push(update(&format!("{schema}.setup_timers"), &sets, &names));
            }
            Setting::Sampling => {
                let set = format!("UPDATE tare.setup_sampling SET sampling = '{first}'");
                let of_type = |name| format!("{set} WHERE event_type = '{name}'");
                statements.extend(names.into_iter().map(of_type));
            }
            // `metrics` sets them, because some can only be switched as modules.
            Setting::Metric => {}
            Setting::Variable => {
                let value = match first.parse::<f64>() {
                    Ok(_) => first,
                    Err(_) => format!("'{}'", first.replace('\'', "''")),
                };
                let set = |name| format!("SET GLOBAL {name} = {value}");
                statements.extend(names.into_iter().map(set));
            }
        }
    }
    statements.extend(metrics(from, to));
    statements
}

/// The statements that set InnoDB's metrics: all are set to the value of the majority, then the others
/// one by one, because metrics that are switched only as modules refuse their own names.
fn metrics(from: &State, to: &State) -> Vec<String> {
    let of = |state: &State| -> BTreeMap<String, bool> {
        let metrics = state
            .iter()
            .filter(|((what, _), _)| *what == Setting::Metric);
        let enabled = |value: &Vec<Option<String>>| value[0].as_deref() == Some("enable");
        metrics
            .map(|((_, name), value)| (name.clone(), enabled(value)))
            .collect()
    };
    let (from, to) = (of(from), of(to));
    if from == to {
        return Vec::new();
    }
    let mostly = to.values().filter(|enabled| **enabled).count() * 2 > to.len();
    let word = |enabled: bool| if enabled { "enable" } else { "disable" };
    let set = |enabled: bool, name: &str| {
        format!("SET GLOBAL innodb_monitor_{} = '{name}'", word(enabled))
    };
    let others = to.iter().filter(|(_, enabled)| **enabled != mostly);
    std::iter::once(set(mostly, "all"))
        .chain(others.map(|(name, enabled)| set(*enabled, name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reversible_statements_are_recognised() {
        assert!(is_reversible(
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO'"
        ));
        assert!(is_reversible(
            "UPDATE tare.setup_sampling SET sampling = '1/16'"
        ));
        assert!(is_reversible("SET GLOBAL innodb_monitor_disable = 'all'"));
        assert_eq!(
            variable("SET GLOBAL long_query_time = 1").as_deref(),
            Some("long_query_time")
        );
        for sql in [
            "CREATE TABLE t (i INT)",
            "SET GLOBAL a = 1, b = 2",
            "SET GLOBAL a = 1; DROP TABLE t",
            "UPDATE performance_schema.setup_actors SET ENABLED = 'NO'",
            "SET SESSION a = 1",
        ] {
            assert!(!is_reversible(sql), "{sql}");
        }
    }

    #[test]
    fn sampling_is_set_and_reverted_by_event_type() {
        let state = |stage: &str, wait: &str| -> State {
            let value = |text: &str| vec![Some(text.to_owned())];
            BTreeMap::from([
                ((Setting::Sampling, "stage".to_owned()), value(stage)),
                ((Setting::Sampling, "wait".to_owned()), value(wait)),
            ])
        };
        let every = state("every", "every");
        let sampled = state("1/4", "1/16");
        assert_eq!(
            between(&every, &sampled),
            [
                "UPDATE tare.setup_sampling SET sampling = '1/16' WHERE event_type = 'wait'",
                "UPDATE tare.setup_sampling SET sampling = '1/4' WHERE event_type = 'stage'",
            ]
        );
        assert_eq!(between(&sampled, &every).len(), 2);
        assert!(between(&every, &every).is_empty());
    }

    #[test]
    fn switchable_configurations_share_a_process() {
        let recipe = Recipe::find("configs").expect("shipped");
        let server = recipe.server("tare").expect("there");
        let of = |name: &str| -> Vec<&str> {
            let configuration = recipe.configuration(server, name).expect("there");
            let sharing = shared_process(&recipe, server, configuration);
            sharing.iter().map(|each| each.name.as_str()).collect()
        };
        let shared = [
            "off",
            "global counted",
            "global timed",
            "thread counted",
            "thread timed",
            "thread all-cycles",
        ];
        for name in shared {
            assert_eq!(of(name), shared);
        }
        assert_eq!(of("not compiled in"), [""; 0]);
        assert_eq!(of("disabled"), [""; 0]);
        // The A/A pair has one cell of each kind, and each cell is compared with its own kind.
        let mut turns = recipe.clone();
        turns.run.turns = 9;
        let key = |configuration: &str, again: bool| Key {
            server: "tare".into(),
            workload: "read-only".into(),
            connections: 8,
            configuration: configuration.into(),
            again,
        };
        let off = key("off", false);
        assert_eq!(shared_process_of_cell(&turns, &off).len(), 6);
        assert!(shared_process_of_cell(&turns, &key("off", true)).is_empty());
        assert!(!is_same_process(&turns, &off, &key("off", true)));
        assert!(is_same_process(&turns, &off, &key("thread timed", false)));
        let twins = |name: &str| Twins::of(&turns, &off, &key(name, false));
        assert_eq!(twins("thread timed"), Twins::First);
        assert_eq!(twins("disabled"), Twins::Again);
        let mut same = turns.clone();
        same.configurations
            .retain(|each| shared.contains(&each.name.as_str()));
        assert_eq!(
            Twins::of(&same, &off, &key("thread timed", false)),
            Twins::Both
        );
        assert_eq!(shared_process_of_cell(&same, &key("off", true)).len(), 6);
        turns.run.turns = 0;
        assert_eq!(
            Twins::of(&turns, &off, &key("disabled", false)),
            Twins::Both
        );
        // A configuration whose process the baseline cannot share has its own.
        let mut plain = recipe.clone();
        plain.baseline = Some("disabled".into());
        let timed = plain.configuration(server, "thread timed").expect("there");
        assert!(super::shared_process(&plain, server, timed).is_empty());
        let mut apart = recipe.clone();
        apart.run.switch = false;
        let off = apart.configuration(server, "off").expect("there");
        assert!(super::shared_process(&apart, server, off).is_empty());
        // An A/A pair without other configurations is one process.
        let mut only_off = recipe.clone();
        only_off.configurations.retain(|each| each.name == "off");
        let off = only_off.configuration(server, "off").expect("there");
        assert_eq!(super::shared_process(&only_off, server, off).len(), 1);
    }

    #[test]
    fn a_switch_sets_only_differences() {
        let value = |values: &[&str]| {
            values
                .iter()
                .map(|value| Some((*value).to_owned()))
                .collect()
        };
        let state = |timed: &str, metric: &str, limit: &str| -> State {
            [
                ((Setting::Instrument, "a"), value(&["YES", timed])),
                ((Setting::Instrument, "b"), value(&["YES", "YES"])),
                ((Setting::Metric, "m"), value(&[metric])),
                ((Setting::Variable, "v"), value(&[limit])),
            ]
            .into_iter()
            .map(|((what, name), value)| ((what, name.to_owned()), value))
            .collect()
        };
        let sxlock = |enabled: &str| -> State {
            let name = "wait/synch/sxlock/innodb/x".to_owned();
            [((Setting::Instrument, name), value(&[enabled, "NO"]))].into()
        };
        assert_eq!(
            between(&sxlock("NO"), &sxlock("YES")),
            [
                "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'NO' WHERE CONCAT(NAME) IN \
                 ('wait/synch/sxlock/innodb/x')"
            ]
        );
        let (one, other) = (state("NO", "disable", "1"), state("YES", "enable", "ON"));
        assert_eq!(between(&one, &one), Vec::<String>::new());
        assert_eq!(
            between(&one, &other),
            [
                "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME IN ('a')",
                "SET GLOBAL v = 'ON'",
                "SET GLOBAL innodb_monitor_enable = 'all'",
            ]
        );
        assert_eq!(between(&other, &one).len(), 3);
        let mut mixed = one.clone();
        mixed.insert((Setting::Metric, "n".into()), value(&["disable"]));
        mixed.insert((Setting::Metric, "o".into()), value(&["enable"]));
        let all = ["disable = 'all'", "enable = 'o'"]
            .map(|end| format!("SET GLOBAL innodb_monitor_{end}"));
        assert_eq!(metrics(&one, &mixed), all);
    }
}
