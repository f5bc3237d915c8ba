//! Which clusters a thread observes: see docs/sampling.md.
//!
//! A cluster is a statement with all that happens in it, or what a session does between two statements. It is
//! observed whole, or left out. Points know nothing of it: they read their flags from the array of effective
//! bytes that the thread's state points to.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering;

use tare_layout::control::effective;
use tare_layout::sampling::{GROUPS, MAX_RATE, STAGE, STATEMENT, WAIT};

use super::cluster::Real;
use super::governor;
use super::held::Held;
use super::local::Local;

/// What a thread keeps about its clusters.
#[derive(Default)]
pub(crate) struct Sampler {
    state: Cell<State>,
    /// What each group's events weigh in the present cluster, 0 = they are left out.
    weights: [Cell<u32>; GROUPS],
    /// N of each group, as the thread knows it; of `version`.
    rates: [Cell<u32>; GROUPS],
    version: Cell<u32>,
    /// The smallest N, 0 = nothing is sampled.
    smallest: Cell<u32>,
    /// Statements until the next one that is observed.
    statements: Cell<u32>,
    /// Times between statements until the next one that is.
    gaps: Cell<u32>,
    random: Cell<u64>,
    /// What a stage weighs that was open when its cluster ended, see [`FOREIGN`].
    stage_weight: Cell<u32>,
    /// The thread's own bank, while it counts into its scratch bank.
    pub(super) real: Cell<Option<Real>>,
    /// Text or tokens of a statement whose digest is found at its end, if at all.
    pub(super) held: UnsafeCell<Held>,
}

/// What happens to the events of a thread.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// They are counted as they come.
    #[default]
    Exact,
    /// They are left out.
    Skipped,
    /// They are counted into the scratch bank.
    Observed,
}

/// In the flags of an open stage: it began in another cluster than the present one. Effective bytes of stages have
/// no such bit.
pub(crate) const FOREIGN: u8 = effective::EVERY;

impl Sampler {
    /// Whether the thread counts into its scratch bank.
    #[inline]
    pub fn is_observing(&self) -> bool {
        self.state.get() == State::Observed
    }

    /// What the events of a group weigh that begin now.
    #[inline]
    pub fn weight(&self, group: usize) -> u32 {
        match self.state.get() {
            State::Exact => 1,
            State::Skipped | State::Observed => self.weights[group].get(),
        }
    }

    /// A thread that comes is counted exactly until a statement begins, or its client is known.
    pub fn renew(&self) {
        self.state.set(State::Exact);
        self.version.set(0);
        self.smallest.set(0);
    }

    /// 64 bits (splitmix64, Steele, Lea and Flood 2014).
    fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// At least 0, below 1.
    fn unit(&self) -> f64 {
        (self.random() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How many clusters to the next one that is observed, itself included: geometric, with mean `n`.
    fn geometric(&self, n: u32) -> u32 {
        if n <= 1 {
            return 1;
        }
        let tries = (1.0 - self.unit()).ln() / (-1.0 / f64::from(n)).ln_1p();
        // A number so large that it is cut has no chance to be drawn.
        1 + tries.min(f64::from(u32::MAX - 1)) as u32
    }
}

impl Local {
    /// A statement begins that is in no other.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn begin_sampled_statement(&self) {
        self.learn_rates();
        self.end_cluster();
        // SAFETY: only this thread's statements touch it, and none of them keeps a reference.
        unsafe { &mut *self.sampler.held.get() }.clear();
        self.begin_cluster(&self.sampler.statements);
    }

    /// A statement has ended, or a client is known whose first statement has not begun.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn begin_gap(&self) {
        self.begin_cluster(&self.sampler.gaps);
    }

    /// A client is known: what its session does before the first statement is a cluster.
    pub fn begin_session(&self) {
        if self.statements.get() == 0 && self.engine.view.control().is_sampling() {
            self.learn_rates();
            self.end_cluster();
            self.begin_gap();
        }
    }

    /// Ends the present cluster for good: what follows is counted as it comes.
    #[cold]
    pub fn leave_cluster(&self) {
        self.end_cluster();
        self.be_exact();
    }

    /// Reads N, if it was changed. A geometric countdown has no memory, so that it may be drawn anew.
    #[inline(always)]
    fn learn_rates(&self) {
        let version = &self.engine.view.control().sampling_version;
        let version = version.load(Ordering::Acquire);
        if self.sampler.version.get() != version {
            self.learn_rates_slow(version);
        }
    }

    #[cold]
    fn learn_rates_slow(&self, version: u32) {
        let (sampler, control) = (&self.sampler, self.engine.view.control());
        sampler.version.set(version);
        if sampler.random.get() == 0 {
            let seed = control.sampling_seed.load(Ordering::Relaxed);
            let thread = self.slot.thread_id.load(Ordering::Relaxed);
            sampler
                .random
                .set(seed ^ thread.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        }
        for (rate, n) in sampler.rates.iter().zip(&control.sampling) {
            rate.set(n.load(Ordering::Relaxed).clamp(1, MAX_RATE));
        }
        let rates = || sampler.rates.iter().map(Cell::get);
        let is_sampling = control.is_sampling();
        let smallest = rates().min().unwrap_or(1);
        sampler.smallest.set(if is_sampling { smallest } else { 0 });
        sampler.statements.set(sampler.geometric(smallest));
        sampler.gaps.set(sampler.geometric(smallest));
        if control
            .budgets
            .iter()
            .any(|b| b.load(Ordering::Relaxed) != 0)
        {
            governor::watch(&self.engine);
        }
    }

    #[inline(always)]
    fn begin_cluster(&self, countdown: &Cell<u32>) {
        let sampler = &self.sampler;
        if sampler.smallest.get() == 0 {
            return self.be_exact();
        }
        let left = countdown.get().saturating_sub(1);
        countdown.set(left);
        if left != 0 {
            if sampler.state.get() != State::Skipped {
                self.skip();
            }
            return;
        }
        self.begin_observed(countdown);
    }

    #[cold]
    fn skip(&self) {
        self.sampler.state.set(State::Skipped);
        self.sampler.weights.iter().for_each(|weight| weight.set(0));
        self.use_flags(Some(0));
    }

    #[cold]
    fn be_exact(&self) {
        if self.sampler.state.get() != State::Exact {
            self.sampler.state.set(State::Exact);
            self.use_flags(None);
        }
    }

    #[inline(never)]
    fn begin_observed(&self, countdown: &Cell<u32>) {
        let sampler = &self.sampler;
        let smallest = sampler.smallest.get();
        countdown.set(sampler.geometric(smallest));
        let mut subset = 0;
        for group in 0..GROUPS {
            let rate = sampler.rates[group].get();
            let is_in =
                rate == smallest || sampler.random() % u64::from(rate) < u64::from(smallest);
            sampler.weights[group].set(if is_in { rate } else { 0 });
            subset |= usize::from(is_in) << group;
        }
        self.observe(subset);
    }

    /// Counts into the scratch bank from here on; what is not in the subset is left out.
    fn observe(&self, subset: usize) {
        if !self.use_scratch() {
            // There is no bank for the thread: nothing of it can be counted.
            return self.skip();
        }
        self.sampler.state.set(State::Observed);
        self.use_flags(Some(subset));
        self.set_wait_key(self.sampler.weights[WAIT].get());
    }

    /// Ends the present cluster: what was observed is added to the thread's own bank.
    #[inline(always)]
    pub fn end_cluster(&self) {
        if self.stage.head().1 & !FOREIGN != 0 {
            self.leave_stage();
        }
        if self.sampler.is_observing() {
            self.end_observed();
        }
    }

    #[inline(never)]
    fn end_observed(&self) {
        self.use_real();
        self.sampler.state.set(State::Exact);
        self.use_flags(None);
        self.set_wait_key(1);
        self.fold(&std::array::from_fn(|i| self.sampler.weights[i].get()));
    }

    /// Marks the open stage as one of a cluster that has ended.
    #[cold]
    fn leave_stage(&self) {
        if self.stage.head().1 & FOREIGN == 0 {
            self.sampler.stage_weight.set(self.sampler.weight(STAGE));
            self.stage.mark(FOREIGN);
        }
    }

    /// What the stage weighs that is marked as one of another cluster.
    pub fn foreign_stage_weight(&self) -> u32 {
        self.sampler.stage_weight.get()
    }

    /// Runs `count`, which counts an event that began in another cluster and weighs so much.
    #[cold]
    pub fn as_cluster(&self, weight: u32, count: impl FnOnce()) {
        let sampler = &self.sampler;
        let state = sampler.state.get();
        let weights = sampler.weights.each_ref().map(Cell::get);
        if state == State::Observed {
            self.end_observed();
        }
        match weight {
            0 => {}
            1 => count(),
            _ => {
                sampler.weights.iter().for_each(|own| own.set(weight));
                self.observe((1 << GROUPS) - 1);
                count();
                if sampler.is_observing() {
                    self.end_observed();
                }
            }
        }
        for (own, before) in sampler.weights.iter().zip(weights) {
            own.set(before);
        }
        match state {
            State::Exact => self.be_exact(),
            State::Skipped => self.skip(),
            State::Observed => {
                let subset = (0..GROUPS).filter(|i| weights[*i] != 0);
                self.observe(subset.fold(0, |subset, i| subset | 1 << i));
            }
        }
    }

    /// Whether the digest of the statement that runs is left out, unless that turns out to be slow.
    #[inline]
    pub fn leaves_out_digest(&self) -> bool {
        self.sampler.weight(STATEMENT) == 0
    }

    /// What a statement weighs in the table of digests that took so many ticks, 0 = it is left out. It is in by
    /// the countdown, or by its length: the weight is the inverse of the chance of either, rounded at random.
    /// Asked before its cluster ends.
    pub fn digest_weight(&self, ticks: Option<u64>) -> u64 {
        let sampler = &self.sampler;
        if sampler.state.get() == State::Exact {
            return 1;
        }
        let slow = self
            .engine
            .view
            .control()
            .slow_ticks
            .load(Ordering::Relaxed);
        let by_length = match ticks {
            Some(ticks) if slow != 0 => (ticks as f64 / slow as f64).min(1.0),
            _ => 0.0,
        };
        if self.leaves_out_digest() && sampler.unit() >= by_length {
            return 0;
        }
        let by_countdown = 1.0 / f64::from(sampler.rates[STATEMENT].get());
        let chance = by_countdown + (1.0 - by_countdown) * by_length;
        (1.0 / chance + sampler.unit()) as u64
    }
}
