//! performance_schema's own variables and status counters, and tare.segments.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::control::EVERY;
use tare_layout::geometry::Limits;
use tare_layout::header::STOPPED;
use tare_layout::primitive::AtomicU64;
use tare_layout::sampling::{GROUP_NAMES, Rule};
use tare_layout::shared::{LOSSES, Lost, Shared};
use tare_layout::sizes;
use tare_mysql::series::Series;
use tare_mysql::variable::find_in;
use tare_reader::classes::text;

use super::host::Host;
use super::{RowsResult, Snapshot, none};
use crate::record::segment::SegmentInfo;
use crate::sampling::EXACT_WINDOW;
use crate::source::Variable;

fn limits(host: &Host) -> Limits {
    host.view().geometry().limits
}

fn classes(host: &Host, kind: Kind) -> u64 {
    let limits = limits(host).classes as u64;
    let limit = host.view().shared().class_limits[kind as usize].load(Ordering::Relaxed);
    match limit.checked_sub(1) {
        Some(limit) => limit.min(limits),
        None => limits,
    }
}

fn age(host: &Host) -> u64 {
    let ticks = host
        .view()
        .control()
        .digest_sample_age
        .load(Ordering::Relaxed);
    ticks / host.clock.ticks_per_second
}

/// A size in effect; of an autosized one, the chosen size. Histories of all types share one
/// size, and so do instances of locks and conditions, and tables and programs.
fn in_effect(host: &Host, size: usize) -> u64 {
    let limits = limits(host);
    let limit = match size {
        sizes::ACCOUNTS => limits.accounts,
        sizes::DIGESTS => limits.digests,
        sizes::STAGES_LONG
        | sizes::STATEMENTS_LONG
        | sizes::TRANSACTIONS_LONG
        | sizes::WAITS_LONG => limits.history_long,
        sizes::STAGES_HISTORY
        | sizes::STATEMENTS_HISTORY
        | sizes::TRANSACTIONS_HISTORY
        | sizes::WAITS_HISTORY => limits.history,
        sizes::HOSTS => limits.hosts,
        sizes::CONDS | sizes::MUTEXES | sizes::RWLOCKS => limits.instances,
        sizes::DIGEST_LENGTH => limits.digest_text_bytes,
        sizes::FILE_HANDLES | sizes::FILES => limits.files,
        sizes::INDEXES => limits.indexes,
        sizes::METADATA_LOCKS => limits.metadata_locks,
        sizes::PREPARED => limits.prepared_statements,
        sizes::PROGRAMS | sizes::TABLES | sizes::TABLE_LOCKS => limits.objects,
        sizes::SOCKETS => limits.sockets,
        sizes::SQL_TEXT_LENGTH => limits.sql_text_bytes,
        sizes::TABLE_HANDLES => limits.table_handles,
        sizes::THREADS => limits.threads,
        sizes::ACTORS => limits.actors,
        sizes::OBJECTS => limits.setup_objects,
        sizes::USERS => limits.users,
        sizes::ERRORS => return classes(host, Kind::Error),
        sizes::COND_CLASSES => return classes(host, Kind::Cond),
        sizes::DIGEST_SAMPLE_AGE => return age(host),
        sizes::FILE_CLASSES => return classes(host, Kind::File),
        sizes::MEMORY_CLASSES => return classes(host, Kind::Memory),
        sizes::MUTEX_CLASSES => return classes(host, Kind::Mutex),
        sizes::RWLOCK_CLASSES => return classes(host, Kind::RwLock),
        sizes::SOCKET_CLASSES => return classes(host, Kind::Socket),
        sizes::STAGE_CLASSES => return classes(host, Kind::Stage),
        sizes::STATEMENT_CLASSES => return classes(host, Kind::Statement),
        sizes::STATEMENT_STACK => sizes::statement_stack(host.view().shared().requested_size(size)),
        sizes::THREAD_CLASSES => return classes(host, Kind::Thread),
        sizes::CONNECT_ATTRS => limits.attribute_bytes,
        _ => 0,
    };
    limit as u64
}

/// Sizes that MySQL lets grow: -1 where none was requested.
const GROWING: &[usize] = &[
    sizes::ACCOUNTS,
    sizes::HOSTS,
    sizes::CONDS,
    sizes::FILES,
    sizes::INDEXES,
    sizes::METADATA_LOCKS,
    sizes::MUTEXES,
    sizes::PREPARED,
    sizes::PROGRAMS,
    sizes::RWLOCKS,
    sizes::SOCKETS,
    sizes::TABLE_HANDLES,
    sizes::TABLES,
    sizes::TABLE_LOCKS,
    sizes::THREADS,
    sizes::ACTORS,
    sizes::OBJECTS,
    sizes::USERS,
];

/// Sizes that share memory in Tare, so that one may be less than what is in effect.
const SHARED: &[usize] = &[
    sizes::STAGES_LONG,
    sizes::STAGES_HISTORY,
    sizes::STATEMENTS_LONG,
    sizes::STATEMENTS_HISTORY,
    sizes::TRANSACTIONS_LONG,
    sizes::TRANSACTIONS_HISTORY,
    sizes::WAITS_LONG,
    sizes::WAITS_HISTORY,
    sizes::CONDS,
    sizes::MUTEXES,
    sizes::RWLOCKS,
    sizes::PROGRAMS,
    sizes::TABLES,
    sizes::TABLE_LOCKS,
];

/// Numbers of classes of each kind, and of open files: Tare's limits are above the defaults of MySQL.
const LARGER_THAN_MYSQL: &[usize] = &[
    sizes::COND_CLASSES,
    sizes::FILE_CLASSES,
    sizes::FILE_HANDLES,
    sizes::MEMORY_CLASSES,
    sizes::MUTEX_CLASSES,
    sizes::RWLOCK_CLASSES,
    sizes::SOCKET_CLASSES,
    sizes::STAGE_CLASSES,
    sizes::STATEMENT_CLASSES,
    sizes::THREAD_CLASSES,
];

/// A size as SHOW VARIABLES of a series has it; `default` is that of the series.
fn display_size(host: &Host, size: usize, default: Option<&str>) -> String {
    match (host.view().shared().requested_size(size), default) {
        (None, _) if GROWING.contains(&size) => "-1".to_owned(),
        (None, Some(default)) if LARGER_THAN_MYSQL.contains(&size) => default.to_owned(),
        (requested, _) => display_fixed_size(host, size, requested),
    }
}

/// A size that does not grow.
fn display_fixed_size(host: &Host, size: usize, requested: Option<u64>) -> String {
    match requested {
        Some(0) if sizes::is_none_at_0(size) => "0".to_owned(),
        // The segment's limit may be above what its writer stores.
        Some(requested) if size == sizes::SQL_TEXT_LENGTH => {
            requested.min(in_effect(host, size)).to_string()
        }
        Some(requested) if SHARED.contains(&size) => requested.to_string(),
        // Clients send at most 65,535 bytes.
        Some(requested) if size == sizes::CONNECT_ATTRS => requested.to_string(),
        _ => in_effect(host, size).to_string(),
    }
}

/// What a counter of MySQL counts in Tare.
enum CounterSource {
    /// These losses.
    Losses(&'static [Lost]),
    /// These, and connections that a size of 0 hides.
    Connections(&'static [Lost], usize),
    /// Classes of these kinds.
    Classes(&'static [Kind]),
    /// Instances of these kinds.
    Instances(&'static [Kind]),
}

/// MySQL 8.0's counters, each with what it counts here. An empty list: nothing can be lost.
#[rustfmt::skip] // One counter, one line.
const COUNTERS: [(&str, CounterSource); 31] = [
    ("accounts_lost", CounterSource::Connections(&[Lost::Accounts], sizes::ACCOUNTS)),
    ("cond_classes_lost", CounterSource::Classes(&[Kind::Cond])),
    ("cond_instances_lost", CounterSource::Instances(&[Kind::Cond])),
    ("digest_evicted", CounterSource::Losses(&[Lost::DigestsEvicted])),
    ("digest_lost", CounterSource::Losses(&[Lost::Digests])),
    ("file_classes_lost", CounterSource::Classes(&[Kind::File])),
    ("file_handles_lost", CounterSource::Losses(&[])),
    ("file_instances_lost", CounterSource::Losses(&[Lost::Files])),
    ("hosts_lost", CounterSource::Connections(&[Lost::Hosts], sizes::HOSTS)),
    ("index_stat_lost", CounterSource::Losses(&[Lost::Indexes])),
    ("locker_lost", CounterSource::Losses(&[Lost::NestedWaits, Lost::SignalEvents, Lost::ThreadEvents, Lost::ClassEvents])),
    ("memory_classes_lost", CounterSource::Classes(&[Kind::Memory])),
    ("metadata_lock_lost", CounterSource::Losses(&[Lost::MetadataLocks])),
    ("mutex_classes_lost", CounterSource::Classes(&[Kind::Mutex])),
    ("mutex_instances_lost", CounterSource::Instances(&[Kind::Mutex])),
    ("nested_statement_lost", CounterSource::Losses(&[Lost::NestedStatements])),
    ("prepared_statements_lost", CounterSource::Losses(&[Lost::PreparedStatements])),
    ("program_lost", CounterSource::Losses(&[Lost::Programs])),
    ("rwlock_classes_lost", CounterSource::Classes(&[Kind::RwLock, Kind::SxLock])),
    ("rwlock_instances_lost", CounterSource::Instances(&[Kind::RwLock, Kind::SxLock])),
    ("session_connect_attrs_lost", CounterSource::Losses(&[Lost::Attributes])),
    ("socket_classes_lost", CounterSource::Classes(&[Kind::Socket])),
    ("socket_instances_lost", CounterSource::Losses(&[Lost::Sockets])),
    ("stage_classes_lost", CounterSource::Classes(&[Kind::Stage])),
    ("statement_classes_lost", CounterSource::Classes(&[Kind::Statement])),
    ("table_handles_lost", CounterSource::Losses(&[Lost::TableHandles])),
    ("table_instances_lost", CounterSource::Losses(&[Lost::Tables])),
    ("table_lock_stat_lost", CounterSource::Losses(&[])),
    ("thread_classes_lost", CounterSource::Classes(&[Kind::Thread])),
    ("thread_instances_lost", CounterSource::Losses(&[Lost::Threads])),
    ("users_lost", CounterSource::Connections(&[Lost::Users], sizes::USERS)),
];

/// Losses that MySQL has no counter for.
const TARE_COUNTERS: [(&str, Lost); 11] = [
    ("Tare_rows_lost", Lost::Rows),
    ("Tare_histograms_lost", Lost::Histograms),
    ("Tare_instance_events_lost", Lost::InstanceEvents),
    ("Tare_schemas_lost", Lost::Schemas),
    ("Tare_thread_events_lost", Lost::ThreadEvents),
    ("Tare_clock_backwards", Lost::ClockBackwards),
    ("Tare_timer_changes", Lost::TimerChanges),
    ("Tare_forks", Lost::Forks),
    ("Tare_metrics_lost", Lost::Metrics),
    ("Tare_sources_lost", Lost::Sources),
    ("Tare_row_locks_lost", Lost::RowLocks),
];

/// MariaDB lacks two counters of MySQL's, and counts an evicted digest as lost.
fn adapt_to_mariadb(status: &mut Vec<Variable>) {
    let evicted = status
        .iter()
        .find(|v| v.name == "Performance_schema_digest_evicted");
    let evicted = evicted.and_then(|v| v.value.parse::<u64>().ok());
    for counter in &mut *status {
        if counter.name == "Performance_schema_digest_lost"
            && let Ok(lost) = counter.value.parse::<u64>()
        {
            counter.value = (lost + evicted.unwrap_or(0)).to_string();
        }
    }
    status.retain(|counter| {
        !matches!(
            counter.name.as_str(),
            "Performance_schema_digest_evicted"
                | "Performance_schema_session_connect_attrs_longest_seen"
        )
    });
}

impl Host {
    fn lost(&self) -> [u64; LOSSES] {
        let lost = &self.view().shared().lost;
        std::array::from_fn(|i| lost[i].load(Ordering::Relaxed))
    }
}

impl Snapshot {
    /// performance_schema's system variables.
    pub fn variables(&self, series: Series) -> Vec<Variable> {
        let host = self.host.as_ref();
        let on = if host.is_some() { "ON" } else { "OFF" };
        let mut variables = vec![Variable::new("performance_schema", on)];
        // As in a MySQL that runs without it, nothing has a size where it is off.
        variables.extend(sizes::NAMES.iter().enumerate().filter_map(|(size, name)| {
            let name = format!("performance_schema_{name}");
            let variable = find_in(series, &name);
            if variable.is_none() && series.is_mariadb() {
                return None;
            }
            let default = variable.map(|variable| variable.default);
            let value =
                host.map_or_else(|| "0".to_owned(), |host| display_size(host, size, default));
            Some(Variable::new(name, value))
        }));
        if let Some(host) = host {
            let control = host.view().control();
            let limit = control.memory_limit.load(Ordering::Relaxed);
            variables.push(Variable::new("tare_lock_timing", lock_timing(host)));
            variables.push(Variable::new("tare_memory_limit", limit));
            variables.push(Variable::new("tare_sampling", sampling(host)));
        }
        variables
    }

    /// performance_schema's status counters, as a series has them.
    pub fn status_of(&self, series: Series) -> Vec<Variable> {
        let mut status = self.status();
        if series.is_mariadb() {
            adapt_to_mariadb(&mut status);
        }
        status
    }

    /// performance_schema's status counters, as MySQL has them.
    pub fn status(&self) -> Vec<Variable> {
        let lost = self.host.as_ref().map_or([0; LOSSES], Host::lost);
        let sum = |of: &[Lost]| of.iter().map(|l| lost[*l as usize]).sum::<u64>();
        let by_kind = |kinds: &[Kind], of: fn(&Shared) -> &[AtomicU64]| {
            self.host.as_ref().map_or(0, |host| {
                let cells = of(host.view().shared());
                kinds
                    .iter()
                    .map(|kind| cells[*kind as usize].load(Ordering::Relaxed))
                    .sum()
            })
        };
        let hidden = |size| self.host.as_ref().map_or(0, |host| self.hidden(host, size));
        let mut status: Vec<Variable> = COUNTERS
            .iter()
            .map(|(name, of)| {
                let value = match of {
                    CounterSource::Losses(losses) => sum(losses),
                    CounterSource::Connections(losses, size) => sum(losses) + hidden(*size),
                    CounterSource::Classes(kinds) => by_kind(kinds, |shared| &shared.classes_lost),
                    CounterSource::Instances(kinds) => {
                        by_kind(kinds, |shared| &shared.instances_lost)
                    }
                };
                Variable::new(format!("Performance_schema_{name}"), value)
            })
            .collect();
        let longest = self.host.as_ref().map_or(0, |host| {
            let longest = &host.view().shared().longest_attributes.0;
            longest.load(Ordering::Relaxed)
        });
        status.push(Variable::new(
            "Performance_schema_session_connect_attrs_longest_seen",
            longest,
        ));
        if let Some(host) = &self.host {
            let (texts, digests) = host.banks().cut_texts();
            status.push(Variable::new("Tare_sampling", sampling(host)));
            status.push(Variable::new("Tare_sql_texts_cut", texts));
            status.push(Variable::new("Tare_digests_cut", digests));
            status.push(Variable::new(
                "Tare_digest_texts_read",
                host.banks().read_texts(),
            ));
            status.extend(
                TARE_COUNTERS
                    .iter()
                    .map(|(name, of)| Variable::new(*name, sum(&[*of]))),
            );
        }
        status
    }

    /// Connections that accounts, users or hosts would count, if their size were not 0.
    fn hidden(&self, host: &Host, size: usize) -> u64 {
        if !host.has_none_of(size) {
            return 0;
        }
        let accounts = self.names(host).accounts.iter().skip(1);
        accounts.map(|account| account.total).sum()
    }

    /// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: the bytes of a row, the limit of rows and the bytes of each
    /// buffer; and the memory in use, which is less than their sum: unused pages take none.
    pub fn engine_status(&self) -> Vec<(String, u64)> {
        let Some(host) = &self.host else {
            return Vec::new();
        };
        let mut rows = Vec::new();
        for (name, extent) in tare_layout::geometry::buffers(host.view().geometry()) {
            rows.push((format!("{name}.size"), extent.stride as u64));
            rows.push((format!("{name}.count"), extent.count as u64));
            rows.push((format!("{name}.memory"), extent.bytes() as u64));
        }
        let reserved = host.view().geometry().total_bytes as u64;
        rows.push(("performance_schema.reserved".into(), reserved));
        rows.push((
            "performance_schema.memory".into(),
            host.segment.resident_bytes(),
        ));
        rows
    }

    /// tare.segments.
    pub fn segments(&self) -> RowsResult<SegmentInfo> {
        let Some(host) = &self.host else {
            return none();
        };
        let view = host.view();
        let (header, shared, control) = (view.header(), view.shared(), view.control());
        let live = host.clock.live;
        let stopped = header.state.load(Ordering::Acquire) == STOPPED;
        let uptime = host
            .clock
            .now()
            .map(|now| host.clock.since_start_ps(now) as f64 / 1e12);
        let classes = self.classes(host);
        let limits = view.geometry().limits;
        let instances = host.used(
            shared.instances_used.0.load(Ordering::Acquire),
            limits.instances,
        );
        let instances =
            (0..instances).filter(|i| view.instance(*i).id.load(Ordering::Relaxed) != 0);
        let row = SegmentInfo {
            pid: host.segment.pid().into(),
            path: host.segment.path().display().to_string(),
            program: text(&header.program),
            layout_version: header.layout_version.load(Ordering::Relaxed).into(),
            state: match (stopped, live) {
                (true, _) => "stopped",
                (false, true) => "live",
                (false, false) => "dead",
            },
            started_us: host.clock.start_unix_ns / 1000,
            uptime_s: uptime,
            resident_bytes: Some(host.segment.resident_bytes()),
            address_bytes: view.geometry().total_bytes as u64,
            bank_bytes: shared.bank_bytes.0.load(Ordering::Relaxed),
            memory_limit: control.memory_limit.load(Ordering::Relaxed),
            threads: self.slots(host).len() as u64,
            classes: classes.iter().count() as u64,
            instances: instances.count() as u64,
            files: host.used(shared.files_used.0.load(Ordering::Relaxed), limits.files) as u64,
            // There is no account if the program ends just now and its segment with it.
            accounts: (self.names(host).accounts.len() as u64).saturating_sub(1),
            digests: tare_reader::digests::used(view).saturating_sub(1) as u64,
            clock: if host.clock.cycles {
                "tsc"
            } else {
                "clock_gettime"
            },
            ticks_per_second: host.clock.ticks_per_second,
            lock_timing: lock_timing(host),
            lost: host.lost(),
        };
        Ok(Box::new(std::iter::once(row)))
    }
}

/// `OFF`, `active`, an exact window, or the rule of each event type that is sampled.
fn sampling(host: &Host) -> String {
    let control = host.view().control();
    if control.has_exact_window() {
        return EXACT_WINDOW.to_owned();
    }
    if control.is_active() {
        return Rule::Active.to_string();
    }
    let mut rules: Vec<String> = Vec::new();
    for (group, name) in GROUP_NAMES.into_iter().enumerate() {
        match control.rule(group) {
            Rule::Every => {}
            rule => rules.push(format!("{name} {rule}")),
        }
    }
    match rules.is_empty() {
        true => "OFF".into(),
        false => rules.join(", "),
    }
}

fn lock_timing(host: &Host) -> &'static str {
    match host.view().control().lock_timing.load(Ordering::Relaxed) {
        EVERY => "every",
        _ => "contended",
    }
}
