//! Configurations that a running server can be switched between: what each of them sets is learnt once, and taken back or set
//! again between turns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::beside::Beside;
use super::unplanned;
use crate::ask::{Ask, Row};
use crate::matrix::{Key, process};
use crate::recipe::{Configuration, Kind, Recipe, Server};
use crate::server::Running;
use crate::stats::compare::Baseline;
use crate::trouble::Trouble;

/// Names in one statement: well below any server's packet size.
const NAMES: usize = 200;

/// What is switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Instrument,
    Consumer,
    Timer,
    TareTimer,
    Sampling,
    Metric,
    Variable,
}

/// Everything that configurations switch, with its values.
type State = BTreeMap<(What, String), Vec<Option<String>>>;

/// The configurations of one process.
pub(super) struct Switchboard {
    /// What SQL sets; none of servers that are switched by commands.
    states: BTreeMap<String, State>,
    /// The commands of the others.
    commands: BTreeMap<String, Vec<String>>,
    now: State,
    /// Programs that run in some configurations alone.
    beside: Beside,
    /// The configuration that the server is in; none when that is not known.
    current: Option<String>,
}

/// The configurations of a server that one process serves in turn, this one among them. None when it has a process of its
/// own: because nobody can share it, or because what it sets cannot be taken back.
pub(super) fn together<'a>(
    recipe: &'a Recipe,
    server: &Server,
    configuration: &Configuration,
) -> Vec<&'a Configuration> {
    let by_sql =
        |one: &Configuration| one.switch.is_empty() && one.sql.iter().all(|sql| is_known(sql));
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
    let shares = |one: &&Configuration| can(one) && place(one) == place(configuration);
    let together: Vec<&Configuration> = all().filter(shares).collect();
    // A process that several share has more of the turns, and is warmer for it: it is compared with itself alone.
    let with_baseline = (recipe.baseline.as_ref())
        .is_none_or(|baseline| together.iter().any(|each| each.name == *baseline));
    // Alone in its process: an A/A pair beside others is two processes, as they are.
    let alone = together.len() < 2 && all().count() > 1;
    match alone || !with_baseline {
        true => Vec::new(),
        false => together,
    }
}

/// The same for a cell. Where some configurations have processes of their own, so has the second of the A/A pair: it is their baseline, and
/// has as few of the turns as they have.
pub(super) fn seated<'a>(recipe: &'a Recipe, key: &Key) -> Vec<&'a Configuration> {
    let Some(parts) = recipe.parts(key) else {
        return Vec::new();
    };
    let together = together(recipe, parts.server, parts.configuration);
    let all = recipe.configurations.iter();
    let mixed = together.len() < all.filter(|each| each.is_for(parts.server)).count();
    match key.again && mixed {
        true => Vec::new(),
        false => together,
    }
}

/// Which of the A/A pair a cell is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twins {
    /// With both: all have processes of their own, or all share one.
    Both,
    /// With the first, whose process it shares.
    First,
    /// With the second, which has a process of its own as it has.
    Again,
}

impl Twins {
    /// Of a cell, and the first of its group's A/A pair.
    pub(crate) fn of(recipe: &Recipe, baseline: &Key, key: &Key) -> Self {
        let again = Key {
            again: true,
            ..baseline.clone()
        };
        let mixed = recipe.run.turns > 0
            && !seated(recipe, baseline).is_empty()
            && seated(recipe, &again).is_empty();
        match mixed {
            false => Self::Both,
            true if seated(recipe, key).is_empty() => Self::Again,
            true => Self::First,
        }
    }

    /// What is left of a baseline.
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

/// Whether two cells of a server are measured in one process. One at most is shared: the baseline's.
pub(crate) fn one_process(recipe: &Recipe, one: &Key, other: &Key) -> bool {
    let shared = |key: &Key| !seated(recipe, key).is_empty();
    shared(one) && shared(other)
}

/// What is the same of configurations that share a process: all but what is switched.
fn place(configuration: &Configuration) -> String {
    let load = (
        &configuration.generator_preload,
        &configuration.load_options,
    );
    format!("{} {load:?}", process(configuration))
}

/// Whether a statement only sets what can be read, and so taken back.
fn is_known(sql: &str) -> bool {
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
    // More than one in a statement is not taken apart.
    let alone = !sql.contains(',') && !sql.contains(';');
    (alone && !name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

impl Switchboard {
    /// Tries each configuration once, and sees that it can be taken back.
    pub(super) fn learn(
        running: &mut Running,
        configurations: &[&Configuration],
    ) -> Result<Self, Trouble> {
        let mut switches = Self {
            states: BTreeMap::new(),
            commands: BTreeMap::new(),
            now: State::new(),
            beside: Beside::default(),
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
        let ask = &mut running.ask;
        let base = read(ask, &variables);
        for configuration in configurations {
            for sql in &configuration.sql {
                send(ask, sql)?;
            }
            let state = read(ask, &variables);
            for sql in between(&state, &base) {
                send(ask, &sql)?;
            }
            let back = read(ask, &variables);
            if let Some(((_, name), _)) = base
                .iter()
                .find(|(key, value)| back.get(key) != Some(value))
            {
                let configuration = &configuration.name;
                return Err(Trouble::failed(format!(
                    "what configuration '{configuration}' does to {name} cannot be taken back in a running server: give \
                     run.switch = false, and each has a process of its own"
                )));
            }
            switches.states.insert(configuration.name.clone(), state);
        }
        switches.now = base;
        Ok(switches)
    }

    /// Starts what runs beside the server, see [`Beside::start`].
    pub(super) fn start_beside(
        &mut self,
        running: &Running,
        configurations: &[&Configuration],
        tare: &Path,
        directory: &Path,
    ) -> Result<(), Trouble> {
        self.beside = Beside::start(running, configurations, tare, directory)?;
        Ok(())
    }

    /// The configurations.
    pub(super) fn names(&self) -> Vec<String> {
        (self.states.keys().chain(self.commands.keys()))
            .cloned()
            .collect()
    }

    /// Switchboard the server; whether there was anything to switch.
    pub(super) fn to(&mut self, running: &mut Running, name: &str) -> Result<bool, Trouble> {
        if self.current.as_deref() == Some(name) {
            return Ok(false);
        }
        self.current = None;
        self.beside.to(name)?;
        if let Some(commands) = self.commands.get(name) {
            (commands.iter()).try_for_each(|command| running.shell(command))?;
        } else {
            let state = self.states.get(name).ok_or_else(unplanned)?;
            for sql in between(&self.now, state) {
                send(&mut running.ask, &sql)?;
            }
            self.now = state.clone();
        }
        self.current = Some(name.to_owned());
        Ok(true)
    }
}

fn send(ask: &mut Ask, sql: &str) -> Result<(), Trouble> {
    let refused = |error| Trouble::failed(format!("the server refused '{}': {error}", short(sql)));
    ask.query(sql).map(drop).map_err(refused)
}

fn short(sql: &str) -> String {
    sql.chars().take(200).collect()
}

/// What there is; a table that the server does not have is left out.
fn read(ask: &mut Ask, variables: &BTreeSet<String>) -> State {
    let mut state = State::new();
    let mut add = |what: What, rows: Result<Vec<Row>, String>| {
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
        What::Instrument,
        ask.query(&schema("NAME, ENABLED, TIMED", "setup_instruments")),
    );
    add(
        What::Consumer,
        ask.query(&schema("NAME, ENABLED", "setup_consumers")),
    );
    for (what, schema) in [
        (What::Timer, "performance_schema"),
        (What::TareTimer, "tare"),
    ] {
        let sql = format!("SELECT NAME, TIMER_NAME FROM {schema}.setup_timers");
        add(what, ask.query(&sql));
    }
    add(
        What::Sampling,
        ask.query("SELECT event_type, sampling FROM tare.setup_sampling"),
    );
    // MySQL says enabled and disabled, MariaDB 1 and 0.
    let metrics = |column: &str, on: &str| {
        format!(
            "SELECT NAME, IF({column} = {on}, 'enable', 'disable') FROM information_schema.INNODB_METRICS"
        )
    };
    let rows = ask.query(&metrics("STATUS", "'enabled'"));
    add(
        What::Metric,
        rows.or_else(|_| ask.query(&metrics("ENABLED", "1"))),
    );
    for name in variables {
        let rows = ask.query(&format!(
            "SHOW GLOBAL VARIABLES LIKE '{}'",
            name.replace('_', "\\_")
        ));
        add(What::Variable, rows);
    }
    state
}

/// The statements that lead from one state to another.
fn between(from: &State, to: &State) -> Vec<String> {
    let mut alike: BTreeMap<(What, &Vec<Option<String>>), Vec<&str>> = BTreeMap::new();
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
            What::Instrument => {
                let timed = value.get(1).cloned().flatten();
                let timed = timed
                    .map(|timed| format!(", TIMED = '{timed}'"))
                    .unwrap_or_default();
                let sets = format!("ENABLED = '{first}'{timed}");
                let of_names = |names| update("performance_schema.setup_instruments", &sets, names);
                // MySQL 8.0.15 does not find an sxlock by the key that its name is; it finds it when it looks at each.
                let (found, unfound): (Vec<&str>, Vec<&str>) =
                    (names.iter()).partition(|name| !name.starts_with("wait/synch/sxlock/"));
                statements.extend(found.chunks(NAMES).map(of_names));
                let each =
                    |names| of_names(names).replacen("WHERE NAME IN", "WHERE CONCAT(NAME) IN", 1);
                statements.extend(unfound.chunks(NAMES).map(each));
            }
            What::Consumer => statements.push(update(
                "performance_schema.setup_consumers",
                &format!("ENABLED = '{first}'"),
                &names,
            )),
What::Timer => statements.push(update(
                "performance_schema.setup_timers",
                &format!("TIMER_NAME = '{first}'"),
                &names,
            )),
            What::TareTimer => statements.push(update(
                "tare.setup_timers",
                &format!("TIMER_NAME = '{first}'"),
                &names,
            )),
            What::Sampling => statements.extend(names.iter().map(|name| {
                format!("UPDATE tare.setup_sampling SET sampling = '{first}' WHERE event_type = '{name}'")
            })),
            // Not one by one: some are switched as modules alone.
            What::Metric => {}
            What::Variable => {
                let number = first.parse::<f64>().is_ok();
                let value = if number {
                    first
                } else {
                    format!("'{}'", first.replace('\'', "''"))
                };
                statements.extend(
                    names
                        .into_iter()
                        .map(|name| format!("SET GLOBAL {name} = {value}")),
                );
            }
        }
    }
    statements.extend(metrics(from, to));
    statements
}

/// The statements that set InnoDB's metrics. All of them are set to what most are, and the others one by one after it, because
/// those of a module that is switched as a whole refuse to be named.
fn metrics(from: &State, to: &State) -> Vec<String> {
    let of = |state: &State| -> BTreeMap<String, bool> {
        let metrics = state.iter().filter(|((what, _), _)| *what == What::Metric);
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
    fn statements_that_can_be_taken_back_are_known() {
        assert!(is_known(
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO'"
        ));
        assert!(is_known("UPDATE tare.setup_sampling SET sampling = '1/16'"));
        assert!(is_known("SET GLOBAL innodb_monitor_disable = 'all'"));
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
            assert!(!is_known(sql), "{sql}");
        }
    }

    #[test]
    fn sampling_is_set_by_event_type_and_taken_back() {
        let state = |stage: &str, wait: &str| -> State {
            let value = |text: &str| vec![Some(text.to_owned())];
            BTreeMap::from([
                ((What::Sampling, "stage".to_owned()), value(stage)),
                ((What::Sampling, "wait".to_owned()), value(wait)),
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
    fn configurations_share_a_process_where_they_can_and_the_others_have_their_own() {
        let recipe = Recipe::find("configs").expect("shipped");
        let server = recipe.server("tare").expect("there");
        let of = |name: &str| -> Vec<&str> {
            let configuration = recipe.configuration(server, name).expect("there");
            let together = together(&recipe, server, configuration);
            together.iter().map(|each| each.name.as_str()).collect()
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
        // The A/A pair is one of each kind, and each cell is compared with its own kind.
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
        assert_eq!(seated(&turns, &off).len(), 6);
        assert!(seated(&turns, &key("off", true)).is_empty());
        assert!(!one_process(&turns, &off, &key("off", true)));
        assert!(one_process(&turns, &off, &key("thread timed", false)));
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
        assert_eq!(seated(&same, &key("off", true)).len(), 6);
        turns.run.turns = 0;
        assert_eq!(
            Twins::of(&turns, &off, &key("disabled", false)),
            Twins::Both
        );
        // Who is not compared with the baseline in one process shares none.
        let mut plain = recipe.clone();
        plain.baseline = Some("disabled".into());
        let timed = plain.configuration(server, "thread timed").expect("there");
        assert!(super::together(&plain, server, timed).is_empty());
        let mut apart = recipe.clone();
        apart.run.switch = false;
        let off = apart.configuration(server, "off").expect("there");
        assert!(super::together(&apart, server, off).is_empty());
        // An A/A pair with nothing beside it is one process.
        let mut alone = recipe.clone();
        alone.configurations.retain(|each| each.name == "off");
        let off = alone.configuration(server, "off").expect("there");
        assert_eq!(super::together(&alone, server, off).len(), 1);
    }

    #[test]
    fn a_switch_sets_what_differs_and_back() {
        let value = |values: &[&str]| {
            values
                .iter()
                .map(|value| Some((*value).to_owned()))
                .collect()
        };
        let state = |timed: &str, metric: &str, limit: &str| -> State {
            [
                ((What::Instrument, "a"), value(&["YES", timed])),
                ((What::Instrument, "b"), value(&["YES", "YES"])),
                ((What::Metric, "m"), value(&[metric])),
                ((What::Variable, "v"), value(&[limit])),
            ]
            .into_iter()
            .map(|((what, name), value)| ((what, name.to_owned()), value))
            .collect()
        };
        let sxlock = |enabled: &str| -> State {
            let name = "wait/synch/sxlock/innodb/x".to_owned();
            [((What::Instrument, name), value(&[enabled, "NO"]))].into()
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
        mixed.insert((What::Metric, "n".into()), value(&["disable"]));
        mixed.insert((What::Metric, "o".into()), value(&["enable"]));
        let all = ["disable = 'all'", "enable = 'o'"]
            .map(|end| format!("SET GLOBAL innodb_monitor_{end}"));
        assert_eq!(metrics(&one, &mixed), all);
    }
}
