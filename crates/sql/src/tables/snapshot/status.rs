//! performance_schema's own variables and status counters, and tare.segments.

use std::sync::atomic::Ordering;

use tare_layout::Limits;
use tare_layout::control::EVERY;
use tare_layout::header::STOPPED;
use tare_layout::shared::{LOSSES, Lost};
use tare_layout::slot::STATEMENT_DEPTH;

use tare_reader::classes::text;

use super::host::Host;
use super::{Made, Snapshot, none};
use crate::catalog::Variable;
use crate::tables::tare::SegmentInfo;

/// Bytes of a thread's connection attributes (`Slot::attributes`).
const ATTRIBUTES: usize = 31 * 8;

/// MySQL 8.0's variables. What Tare has no limit of its own for is 0: there is no such thing here;
/// classes of all kinds share one limit, and so do instances.
fn sizes(limits: &Limits) -> [(&'static str, usize); 43] {
    let l = limits;
    [
        ("accounts_size", l.accounts),
        ("digests_size", l.digests),
        ("error_size", l.classes),
        ("events_stages_history_long_size", l.history_long),
        ("events_stages_history_size", l.history),
        ("events_statements_history_long_size", l.history_long),
        ("events_statements_history_size", l.history),
        ("events_transactions_history_long_size", l.history_long),
        ("events_transactions_history_size", l.history),
        ("events_waits_history_long_size", l.history_long),
        ("events_waits_history_size", l.history),
        ("hosts_size", l.hosts),
        ("max_cond_classes", l.classes),
        ("max_cond_instances", l.instances),
        ("max_digest_length", l.digest_text_bytes),
        ("max_digest_sample_age", 0),
        ("max_file_classes", l.classes),
        ("max_file_handles", l.files),
        ("max_file_instances", l.files),
        ("max_index_stat", l.indexes),
        ("max_memory_classes", l.classes),
        ("max_metadata_locks", l.metadata_locks),
        ("max_mutex_classes", l.classes),
        ("max_mutex_instances", l.instances),
        ("max_prepared_statements_instances", l.prepared_statements),
        ("max_program_instances", l.objects),
        ("max_rwlock_classes", l.classes),
        ("max_rwlock_instances", l.instances),
        ("max_socket_classes", l.classes),
        ("max_socket_instances", l.sockets),
        ("max_sql_text_length", l.sql_text_bytes),
        ("max_stage_classes", l.classes),
        ("max_statement_classes", l.classes),
        ("max_statement_stack", STATEMENT_DEPTH),
        ("max_table_handles", l.table_handles),
        ("max_table_instances", l.objects),
        ("max_table_lock_stat", l.objects),
        ("max_thread_classes", l.classes),
        ("max_thread_instances", l.threads),
        ("session_connect_attrs_size", ATTRIBUTES),
        ("setup_actors_size", 0),
        ("setup_objects_size", l.setup_objects),
        ("users_size", l.users),
    ]
}

/// MySQL 8.0's counters, each with what it counts here. Classes share one limit, and so do
/// instances: each of theirs shows the common loss. Without a second entry nothing can be lost.
const COUNTERS: [(&str, &[Lost]); 30] = [
    ("accounts_lost", &[Lost::Accounts]),
    ("cond_classes_lost", &[Lost::Classes]),
    ("cond_instances_lost", &[Lost::Instances]),
    ("digest_evicted", &[Lost::DigestsEvicted]),
    ("digest_lost", &[Lost::Digests]),
    ("file_classes_lost", &[Lost::Classes]),
    ("file_handles_lost", &[]),
    ("file_instances_lost", &[Lost::Files]),
    ("hosts_lost", &[Lost::Hosts]),
    ("index_stat_lost", &[Lost::Indexes]),
    (
        "locker_lost",
        &[
            Lost::NestedWaits,
            Lost::SignalEvents,
            Lost::ThreadEvents,
            Lost::ClassEvents,
        ],
    ),
    ("memory_classes_lost", &[Lost::Classes]),
    ("metadata_lock_lost", &[Lost::MetadataLocks]),
    ("mutex_classes_lost", &[Lost::Classes]),
    ("mutex_instances_lost", &[Lost::Instances]),
    ("nested_statement_lost", &[Lost::NestedStatements]),
    ("prepared_statements_lost", &[Lost::PreparedStatements]),
    ("program_lost", &[Lost::Programs]),
    ("rwlock_classes_lost", &[Lost::Classes]),
    ("rwlock_instances_lost", &[Lost::Instances]),
    ("socket_classes_lost", &[Lost::Classes]),
    ("socket_instances_lost", &[Lost::Sockets]),
    ("stage_classes_lost", &[Lost::Classes]),
    ("statement_classes_lost", &[Lost::Classes]),
    ("table_handles_lost", &[Lost::TableHandles]),
    ("table_instances_lost", &[Lost::Tables]),
    ("table_lock_stat_lost", &[]),
    ("thread_classes_lost", &[Lost::Classes]),
    ("thread_instances_lost", &[Lost::Threads]),
    ("users_lost", &[Lost::Users]),
];

/// Losses that MySQL has no counter for.
const OWN: [(&str, Lost); 8] = [
    ("Tare_rows_lost", Lost::Rows),
    ("Tare_histograms_lost", Lost::Histograms),
    ("Tare_instance_events_lost", Lost::InstanceEvents),
    ("Tare_schemas_lost", Lost::Schemas),
    ("Tare_thread_events_lost", Lost::ThreadEvents),
    ("Tare_clock_backwards", Lost::ClockBackwards),
    ("Tare_forks", Lost::Forks),
    ("Tare_metrics_lost", Lost::Metrics),
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
        let limits = host.map(|host| host.view().geometry().limits);
        for (name, size) in sizes(&limits.unwrap_or_default()) {
            let size = if limits.is_some() { size } else { 0 };
            variables.push(Variable::new(format!("performance_schema_{name}"), size));
        }
        if let Some(host) = host {
            let control = host.view().control();
            let limit = control.memory_limit.load(Ordering::Relaxed);
            variables.push(Variable::new("tare_lock_timing", lock_timing(host)));
            variables.push(Variable::new("tare_memory_limit", limit));
        }
        variables
    }

    /// performance_schema's status counters.
    pub fn status(&self) -> Vec<Variable> {
        let lost = self.host.as_ref().map_or([0; LOSSES], Host::lost);
        let sum = |of: &[Lost]| of.iter().map(|l| lost[*l as usize]).sum::<u64>();
        let mut status: Vec<Variable> = COUNTERS
            .iter()
            .map(|(name, of)| Variable::new(format!("Performance_schema_{name}"), sum(of)))
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
            status.push(Variable::new("Tare_sql_texts_cut", texts));
            status.push(Variable::new("Tare_digests_cut", digests));
            status.extend(
                OWN.iter()
                    .map(|(name, of)| Variable::new(*name, sum(&[*of]))),
            );
        }
        status
    }

    /// tare.segments.
    pub fn segments(&self) -> Made<SegmentInfo> {
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
            accounts: self.names(host).accounts.len() as u64 - 1,
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

fn lock_timing(host: &Host) -> &'static str {
    match host.view().control().lock_timing.load(Ordering::Relaxed) {
        EVERY => "every",
        _ => "contended",
    }
}
