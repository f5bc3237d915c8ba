//! Initialises a new segment before anybody reads it: settings, the first rows of tables, and last its
//! header.

use std::path::Path;
use std::sync::atomic::Ordering;

use tare_layout::actor;
use tare_layout::bank::baseline;
use tare_layout::class::EVENT_TYPES;
use tare_layout::control::{CONSUMERS, CONTENDED, DEFAULT_CONSUMERS, EVERY, THREAD, TIMERS, Timer};
use tare_layout::header::{HEADER_BYTES, Header, LAYOUT_VERSION, LIVE, MAGIC};
use tare_layout::object::{self, DEFAULT_RULES, ObjectType, rule};
use tare_layout::sizes;

use super::clock;
use super::state::Engine;
use crate::config::{Config, LockTiming, Rule, Sampling, StartError};

/// `performance_schema_max_digest_sample_age`: MySQL's 60 seconds.
const DIGEST_SAMPLE_AGE: u64 = 60;

impl Engine {
    /// Initialises everything but the classes and the header. The consumers are those that the
    /// configuration names.
    pub(super) fn fill(&self, consumers: u32, config: &Config) {
        self.fill_control(consumers, config.lock_timing, config.memory_limit);
        self.set_sample_age(config.digest_sample_age.unwrap_or(DIGEST_SAMPLE_AGE));
        self.fill_sampling(&config.sampling);
        self.fill_shared();
        // Reserved numbers are still unused: readers find that they have no kind.
        let used = 1 + self.last_frequent as u32;
        self.view
            .shared()
            .classes_used
            .0
            .store(used, Ordering::Relaxed);
        self.fill_sizes(&config.requested_sizes);
        for (kind, limit) in &config.class_limits {
            let cell = &self.view.shared().class_limits[*kind as usize];
            cell.store(*limit as u64 + 1, Ordering::Relaxed);
        }
        self.fill_actors();
        self.fill_rules();
    }

    fn fill_control(&self, consumers: u32, lock_timing: LockTiming, memory_limit: u64) {
        let control = self.view.control();
        control.consumers.store(consumers, Ordering::Relaxed);
        let timing = if lock_timing == LockTiming::Every {
            EVERY
        } else {
            CONTENDED
        };
        control.lock_timing.store(timing, Ordering::Relaxed);
        for timer in &control.timers[..EVENT_TYPES] {
            timer.store(Timer::Cycle as u8, Ordering::Relaxed);
        }
        let no_cycles = !clock::calibrate().cycles;
        control
            .no_cycles
            .store(u32::from(no_cycles), Ordering::Relaxed);
        control.digest_generation.store(1, Ordering::Relaxed);
        // Without thread_instrumentation, sums by thread begin frozen at zero.
        let frozen = u32::from(consumers & THREAD == 0) << baseline::FROZEN;
        control
            .baselines_used
            .store(1 << baseline::OWNER | frozen, Ordering::Relaxed);
        control.memory_limit.store(memory_limit, Ordering::Relaxed);
    }

    /// Seconds after which a digest's sample is replaced by any statement; 0 = never.
    fn set_sample_age(&self, seconds: u64) {
        let age = clock::calibrate().ticks_per_second.saturating_mul(seconds);
        let control = self.view.control();
        control.digest_sample_age.store(age, Ordering::Relaxed);
    }

    /// As long as everything is counted, points do not read the state of sampling.
    fn fill_sampling(&self, sampling: &Sampling) {
        let control = self.view.control();
        let seed = sampling.seed.unwrap_or_else(clock::now);
        control.sampling_seed.store(seed, Ordering::Relaxed);
        for (group, rule) in sampling.rules.into_iter().enumerate() {
            if !matches!(rule, Rule::Every | Rule::Active) {
                control.set_rule(group, rule);
            }
        }
        if sampling.rules.contains(&Rule::Active) {
            control.set_rule(0, Rule::Active);
        }
        if control.needs_follower() {
            self.view.controls().recompute(|_| None);
        }
    }

    /// Stores the sizes that the configuration requests, and which of them are 0.
    fn fill_sizes(&self, requested: &[(usize, u64)]) {
        for (size, number) in requested {
            self.view.shared().requested[*size].store(number + 1, Ordering::Relaxed);
            if *number == 0 && sizes::is_none_at_0(*size) {
                let nothing_of = &self.view.control().nothing_of;
                nothing_of.fetch_or(sizes::bit(*size), Ordering::Relaxed);
            }
        }
    }

    /// As in MySQL, all users are instrumented until a rule is changed.
    fn fill_actors(&self) {
        if self.view.control().has_none_of(sizes::ACTORS) {
            return;
        }
        if let Some(actor) = self.view.actors().first() {
            actor.write(|actor| {
                actor.host.set(actor::ANY);
                actor.user.set(actor::ANY);
                actor.role.set(actor::ANY);
                let flags = actor::USED | actor::ENABLED | actor::HISTORY;
                actor.flags.store(flags, Ordering::Relaxed);
            });
            let used = &self.view.control().actors_used;
            used.store(1, Ordering::Release);
        }
    }

    fn fill_shared(&self) {
        let shared = self.view.shared();
        shared.next_thread_id.0.store(1, Ordering::Relaxed);
        // Account 0 belongs to background threads; number 0 of names and classes means none.
        for used in [
            &shared.classes_used,
            &shared.accounts_used,
            &shared.users_used,
            &shared.hosts_used,
            &shared.schemas_used,
            &shared.sources_used,
        ] {
            used.0.store(1, Ordering::Relaxed);
        }
        shared
            .digests_used
            .0
            .store(tare_layout::digest::state(1, 1), Ordering::Relaxed);
        self.view
            .account(0)
            .state
            .store(tare_layout::account::READY, Ordering::Release);
        self.view.digest(0).state.store(
            // This row has incarnation 0, which no other digest has.
            tare_layout::digest::state(0, tare_layout::digest::READY),
            Ordering::Release,
        );
    }

    /// setup_objects as MySQL has it at start.
    fn fill_rules(&self) {
        if self.view.control().has_none_of(sizes::OBJECTS) {
            return;
        }
        let types = ObjectType::ALL
            .iter()
            .filter(|kind| kind.ruled_as() == **kind);
        let rows = types.flat_map(|kind| DEFAULT_RULES.map(|(schema, on)| (*kind, schema, on)));
        for (i, (kind, schema, on)) in rows.enumerate() {
            let rule = self.view.object_rule(i);
            rule.kind.store(kind as u32, Ordering::Relaxed);
            let flags = if on { rule::ENABLED | rule::TIMED } else { 0 };
            rule.flags.store(flags, Ordering::Relaxed);
            rule.schema.set(schema);
            rule.name.set("%");
            rule.state.store(object::READY, Ordering::Release);
        }
    }

    pub(super) fn publish_header(&self) {
        let header = self.view.header();
        let calibration = clock::calibrate();
        let geometry = self.view.geometry();
        header
            .layout_version
            .store(LAYOUT_VERSION, Ordering::Relaxed);
        header
            .header_bytes
            .store(size_of::<Header>() as u32, Ordering::Relaxed);
        header
            .total_bytes
            .store(geometry.total_bytes as u64, Ordering::Relaxed);
        header.state.store(LIVE, Ordering::Relaxed);
        header.pid.store(std::process::id(), Ordering::Relaxed);
        header
            .generation
            .store(u64::from(self.generation()), Ordering::Relaxed);
        header
            .start_unix_ns
            .store(clock::unix_ns(), Ordering::Relaxed);
        header.start_ticks.store(clock::now(), Ordering::Relaxed);
        header
            .ticks_per_second
            .store(calibration.ticks_per_second, Ordering::Relaxed);
        header
            .ticks_are_cycles
            .store(u64::from(calibration.cycles), Ordering::Relaxed);
        const ALL: [Timer; TIMERS] = [
            Timer::Cycle,
            Timer::Nanosecond,
            Timer::Microsecond,
            Timer::Millisecond,
            Timer::ThreadCpu,
        ];
        for (place, timer) in header.timers.iter().zip(ALL) {
            let (frequency, resolution, overhead) = clock::facts(timer);
            place.frequency.store(frequency, Ordering::Relaxed);
            place.resolution.store(resolution, Ordering::Relaxed);
            place.overhead.store(overhead, Ordering::Relaxed);
        }
        for (place, limit) in header.limits.iter().zip(geometry.limits.to_array()) {
            place.store(limit, Ordering::Relaxed);
        }
        for (place, extent) in header.regions.iter().zip(geometry.regions) {
            place.offset.store(extent.offset as u64, Ordering::Relaxed);
            place.stride.store(extent.stride as u64, Ordering::Relaxed);
            place.count.store(extent.count as u64, Ordering::Relaxed);
        }
        header.program.set(&program());
        debug_assert!(size_of::<Header>() <= HEADER_BYTES);
        // Pairs with the reader's first load: a reader that sees the magic sees the complete header.
        header.magic.store(MAGIC, Ordering::Release);
    }
}

/// Bits of the consumers, from MySQL's defaults and what differs.
pub(super) fn consumers(different: &[(String, bool)]) -> Result<u32, StartError> {
    let mut bits = DEFAULT_CONSUMERS;
    for (name, on) in different {
        let bit = CONSUMERS
            .iter()
            .position(|c| c.eq_ignore_ascii_case(name))
            .ok_or_else(|| StartError::Consumer(name.clone()))?;
        bits = if *on {
            bits | 1 << bit
        } else {
            bits & !(1 << bit)
        };
    }
    Ok(bits)
}

/// The name by which the program was called, so that of a link to a program of several names. Else its
/// file's name.
fn program() -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    let called = std::env::args_os().next();
    let called = called.and_then(|called| name(Path::new(&called)));
    called
        .or_else(|| name(&std::env::current_exe().ok()?))
        .unwrap_or_default()
}
