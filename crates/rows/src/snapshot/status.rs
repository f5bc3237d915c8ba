//! performance_schema's own variables and status counters, and tare.segments.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::control::EVERY;
use tare_layout::geometry::Limits;
use tare_layout::header::STOPPED;
use tare_layout::primitive::AtomicU64;
use tare_layout::sampling::{GROUP_NAMES, Rule};
use tare_layout::shared::{LOSSES, Lost, Shared};
use tare_layout::slot::STATEMENT_DEPTH;
use tare_reader::classes::text;

use super::host::Host;
use super::{Listed, Snapshot, none};
use crate::record::segment::SegmentInfo;
use crate::source::Variable;

/// Bytes of a thread's connection attributes (`Slot::attributes`).
const ATTRIBUTES: usize = 31 * 8;

fn limits(host: &Host) -> Limits {
    host.view().geometry().limits
}

fn classes(host: &Host, kind: Kind) -> u64 {
    let limits = n(limits(host).classes);
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

fn n(limit: usize) -> u64 {
    limit as u64
}

/// A size as it is in effect.
type Size = fn(&Host) -> u64;

/// MySQL 8.0's variables, as they are in effect: what is autosized shows the size chosen. Histories of
/// all types share one size, and so do instances of locks and conditions.
const SIZES: &[(&str, Size)] = &[
    ("accounts_size", |h| n(limits(h).accounts)),
    ("digests_size", |h| n(limits(h).digests)),
    ("error_size", |h| classes(h, Kind::Error)),
    ("events_stages_history_long_size", |h| {
        n(limits(h).history_long)
    }),
    ("events_stages_history_size", |h| n(limits(h).history)),
    ("events_statements_history_long_size", |h| {
        n(limits(h).history_long)
    }),
    ("events_statements_history_size", |h| n(limits(h).history)),
    ("events_transactions_history_long_size", |h| {
        n(limits(h).history_long)
    }),
    ("events_transactions_history_size", |h| n(limits(h).history)),
    ("events_waits_history_long_size", |h| {
        n(limits(h).history_long)
    }),
    ("events_waits_history_size", |h| n(limits(h).history)),
    ("hosts_size", |h| n(limits(h).hosts)),
    ("max_cond_classes", |h| classes(h, Kind::Cond)),
    ("max_cond_instances", |h| n(limits(h).instances)),
    ("max_digest_length", |h| n(limits(h).digest_text_bytes)),
    ("max_digest_sample_age", |h| age(h)),
    ("max_file_classes", |h| classes(h, Kind::File)),
    ("max_file_handles", |h| n(limits(h).files)),
    ("max_file_instances", |h| n(limits(h).files)),
    ("max_index_stat", |h| n(limits(h).indexes)),
    ("max_memory_classes", |h| classes(h, Kind::Memory)),
    ("max_metadata_locks", |h| n(limits(h).metadata_locks)),
    ("max_mutex_classes", |h| classes(h, Kind::Mutex)),
    ("max_mutex_instances", |h| n(limits(h).instances)),
    ("max_prepared_statements_instances", |h| {
        n(limits(h).prepared_statements)
    }),
    ("max_program_instances", |h| n(limits(h).objects)),
    ("max_rwlock_classes", |h| classes(h, Kind::RwLock)),
    ("max_rwlock_instances", |h| n(limits(h).instances)),
    ("max_socket_classes", |h| classes(h, Kind::Socket)),
    ("max_socket_instances", |h| n(limits(h).sockets)),
    ("max_sql_text_length", |h| n(limits(h).sql_text_bytes)),
    ("max_stage_classes", |h| classes(h, Kind::Stage)),
    ("max_statement_classes", |h| classes(h, Kind::Statement)),
    ("max_statement_stack", |_| n(STATEMENT_DEPTH)),
    ("max_table_handles", |h| n(limits(h).table_handles)),
    ("max_table_instances", |h| n(limits(h).objects)),
    ("max_table_lock_stat", |h| n(limits(h).objects)),
    ("max_thread_classes", |h| classes(h, Kind::Thread)),
    ("max_thread_instances", |h| n(limits(h).threads)),
    ("session_connect_attrs_size", |_| n(ATTRIBUTES)),
    ("setup_actors_size", |h| n(limits(h).actors)),
    ("setup_objects_size", |h| n(limits(h).setup_objects)),
    ("users_size", |h| n(limits(h).users)),
];

/// What a counter of MySQL's counts here.
enum Of {
    /// These losses.
    Losses(&'static [Lost]),
    /// Classes of these kinds.
    Classes(&'static [Kind]),
    /// Instances of these kinds.
    Instances(&'static [Kind]),
}

/// MySQL 8.0's counters, each with what it counts here. Where nothing stands nothing can be lost.
const COUNTERS: [(&str, Of); 30] = [
    ("accounts_lost", Of::Losses(&[Lost::Accounts])),
    ("cond_classes_lost", Of::Classes(&[Kind::Cond])),
    ("cond_instances_lost", Of::Instances(&[Kind::Cond])),
    ("digest_evicted", Of::Losses(&[Lost::DigestsEvicted])),
    ("digest_lost", Of::Losses(&[Lost::Digests])),
    ("file_classes_lost", Of::Classes(&[Kind::File])),
    ("file_handles_lost", Of::Losses(&[])),
    ("file_instances_lost", Of::Losses(&[Lost::Files])),
    ("hosts_lost", Of::Losses(&[Lost::Hosts])),
    ("index_stat_lost", Of::Losses(&[Lost::Indexes])),
    (
        "locker_lost",
        Of::Losses(&[
            Lost::NestedWaits,
            Lost::SignalEvents,
            Lost::ThreadEvents,
            Lost::ClassEvents,
        ]),
    ),
    ("memory_classes_lost", Of::Classes(&[Kind::Memory])),
    ("metadata_lock_lost", Of::Losses(&[Lost::MetadataLocks])),
    ("mutex_classes_lost", Of::Classes(&[Kind::Mutex])),
    ("mutex_instances_lost", Of::Instances(&[Kind::Mutex])),
    (
        "nested_statement_lost",
        Of::Losses(&[Lost::NestedStatements]),
    ),
    (
        "prepared_statements_lost",
        Of::Losses(&[Lost::PreparedStatements]),
    ),
    ("program_lost", Of::Losses(&[Lost::Programs])),
    (
        "rwlock_classes_lost",
        Of::Classes(&[Kind::RwLock, Kind::SxLock]),
    ),
    (
        "rwlock_instances_lost",
        Of::Instances(&[Kind::RwLock, Kind::SxLock]),
    ),
    ("socket_classes_lost", Of::Classes(&[Kind::Socket])),
    ("socket_instances_lost", Of::Losses(&[Lost::Sockets])),
    ("stage_classes_lost", Of::Classes(&[Kind::Stage])),
    ("statement_classes_lost", Of::Classes(&[Kind::Statement])),
    ("table_handles_lost", Of::Losses(&[Lost::TableHandles])),
    ("table_instances_lost", Of::Losses(&[Lost::Tables])),
    ("table_lock_stat_lost", Of::Losses(&[])),
    ("thread_classes_lost", Of::Classes(&[Kind::Thread])),
    ("thread_instances_lost", Of::Losses(&[Lost::Threads])),
    ("users_lost", Of::Losses(&[Lost::Users])),
];

/// Losses that MySQL has no counter for.
const OWN: [(&str, Lost); 11] = [
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

impl Host {
    fn lost(&self) -> [u64; LOSSES] {
        let lost = &self.view().shared().lost;
        std::array::from_fn(|i| lost[i].load(Ordering::Relaxed))
    }
}

impl Snapshot {
    /// performance_schema's system variables.
    pub fn variables(&self) -> Vec<Variable> {
        let host = self.host.as_ref();
        let on = if host.is_some() { "ON" } else { "OFF" };
        let mut variables = vec![Variable::new("performance_schema", on)];
        // As in a MySQL that runs without it, nothing has a size where it is off.
        variables.extend(SIZES.iter().map(|(name, size)| {
            Variable::new(format!("performance_schema_{name}"), host.map_or(0, *size))
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

    /// performance_schema's status counters.
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
        let mut status: Vec<Variable> = COUNTERS
            .iter()
            .map(|(name, of)| {
                let value = match of {
                    Of::Losses(losses) => sum(losses),
                    Of::Classes(kinds) => by_kind(kinds, |shared| &shared.classes_lost),
                    Of::Instances(kinds) => by_kind(kinds, |shared| &shared.instances_lost),
                };
                Variable::new(format!("Performance_schema_{name}"), value)
            })
            .collect();
        let longest = self.host.as_ref().map_or(0, |host| {
            let slots = self.slots(host).iter();
            slots.map(|s| s.attributes.len()).max().unwrap_or(0)
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
                OWN.iter()
                    .map(|(name, of)| Variable::new(*name, sum(&[*of]))),
            );
        }
        status
    }

    /// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: of each buffer the bytes of a row, the rows there may be,
    /// and the bytes of them all; and what the whole takes, which is less, since only what is used has
    /// memory.
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
    pub fn segments(&self) -> Listed<SegmentInfo> {
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
            // None at all, where the program ends just now and its segment with it.
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

/// `OFF`, or how each event type is sampled that is.
fn sampling(host: &Host) -> String {
    let control = host.view().control();
    let mut said: Vec<String> = Vec::new();
    for (group, name) in GROUP_NAMES.into_iter().enumerate() {
        match control.rule(group) {
            Rule::Every => {}
            rule => said.push(format!("{name} {rule}")),
        }
    }
    match said.is_empty() {
        true => "OFF".into(),
        false => said.join(", "),
    }
}

fn lock_timing(host: &Host) -> &'static str {
    match host.view().control().lock_timing.load(Ordering::Relaxed) {
        EVERY => "every",
        _ => "contended",
    }
}
