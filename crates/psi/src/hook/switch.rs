//! Leads calls to a return while they rest, and back to our functions.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use engine::settings::Active;

use super::pages::{page_size, protect};
use super::rules::{AtActive, Rule};
use crate::door::{self, stage};

/// The address of an entry, which its jump reads.
#[derive(Debug)]
pub struct Switch {
    rule: Rule,
    /// The cell with the address: in the page of addresses, or in a test.
    cell: usize,
    function: *const (),
    /// The address of the return.
    behind_jump: usize,
    has_rested: AtomicBool,
    is_for_good: AtomicBool,
}

// SAFETY: the pointers are to code, which does not change, and to a cell that is written atomically.
unsafe impl Send for Switch {}
// SAFETY: as above.
unsafe impl Sync for Switch {}

impl Switch {
    /// `cell` is a cell that a jump reads, in a page of addresses that lives as long as the process.
    pub fn new(rule: Rule, cell: usize, function: *const (), behind_jump: usize) -> Self {
        Self {
            rule,
            cell,
            function,
            behind_jump,
            has_rested: AtomicBool::new(false),
            is_for_good: AtomicBool::new(false),
        }
    }

    /// The target of its calls with these active and observed kinds.
    fn target(&self, active: Active, observed: Active) -> *const () {
        if active.meets(Active::MOMENTS) {
            match self.rule.at_active {
                AtActive::Rests => return self.behind_jump as *const (),
                AtActive::Function(function) => return function,
                AtActive::ByNeeds if self.rule.needs.meets(Active::MOMENTS) => {
                    if let Some(function) = door::active::replacement(self.function) {
                        return function;
                    }
                }
                AtActive::ByNeeds => {}
            }
        }
        let wanted = if self.rule.begins { observed } else { active };
        let is_needed = wanted.meets(self.rule.needs) || self.rule.needs == Active::ALL;
        if is_needed && self.rule.for_good {
            self.is_for_good.store(true, Ordering::Relaxed);
        }
        if is_needed || self.is_for_good.load(Ordering::Relaxed) {
            let unobserved = (self.rule.unobserved)
                .filter(|(what, _)| !observed.meets(*what))
                .map(|(_, function)| function);
            let resumed = (self.rule.resumed).filter(|_| self.has_rested.load(Ordering::Relaxed));
            return unobserved.or(resumed).unwrap_or(self.function);
        }
        self.has_rested.store(true, Ordering::Relaxed);
        self.behind_jump as *const ()
    }

    fn rests(&self) -> bool {
        self.cell().load(Ordering::Relaxed).addr() == self.behind_jump
    }

    /// Whether its calls rest now, and missed events have to be forgotten when they arrive again.
    fn is_to_forget(&self) -> bool {
        self.rests() && self.rule.resumed.is_some()
    }

    /// The function to call when its calls begin to rest, or arrive again.
    fn forgets_on_the_way_to(&self, target: *mut ()) -> Option<fn()> {
        let will_rest = target.addr() == self.behind_jump;
        (self.rule.forgets).filter(|_| self.rests() != will_rest)
    }

    fn cell(&self) -> &AtomicPtr<()> {
        // SAFETY: the contract of `new`; it is aligned as a pointer, and jumps only read it, in one load.
        unsafe { &*(self.cell as *const AtomicPtr<()>) }
    }
}

static SWITCHES: OnceLock<Vec<Switch>> = OnceLock::new();
static SWITCHING: Mutex<()> = Mutex::new(());

/// From now on, leads calls by the active kinds.
pub fn lead(switches: Vec<Switch>) {
    if SWITCHES.set(switches).is_ok() {
        engine::settings::follow(follow);
    }
}

fn follow(active: Active, observed: Active) {
    let _one_at_a_time = SWITCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_active = active.meets(Active::MOMENTS);
    if is_active {
        door::level::note_level(true);
    }
    set(SWITCHES.get().map_or(&[], Vec::as_slice), active, observed);
    if !is_active {
        door::level::note_level(false);
    }
}

fn set(switches: &[Switch], active: Active, observed: Active) {
    let changes: Vec<(&Switch, *mut ())> = switches
        .iter()
        .map(|switch| (switch, switch.target(active, observed).cast_mut()))
        .filter(|(switch, target)| switch.cell().load(Ordering::Relaxed) != *target)
        .collect();
    if changes.iter().any(|(switch, _)| switch.is_to_forget()) {
        // Before the first call arrives.
        stage::resume();
    }
    let forgotten: Vec<fn()> = (changes.iter())
        .filter_map(|(switch, target)| switch.forgets_on_the_way_to(*target))
        .collect();
    let page_of = |switch: &Switch| switch.cell & !(page_size() - 1);
    let mut pages: Vec<usize> = changes.iter().map(|(switch, _)| page_of(switch)).collect();
    pages.dedup();
    for &page in &pages {
        // The system has no reason to refuse, because the mapping is private. If it does, calls stay as they
        // are.
        if protect(page, libc::PROT_READ | libc::PROT_WRITE).is_err() {
            return;
        }
    }
    for (switch, target) in changes {
        switch.cell().store(target, Ordering::Release);
    }
    for &page in &pages {
        let _ = protect(page, libc::PROT_READ);
    }
    // Calls that are on their way may still arrive. What they record is forgotten when calls arrive again.
    forgotten.iter().for_each(|forget| forget());
}

#[cfg(test)]
mod tests {
    use engine::Kind;

    use super::*;
    use crate::hook::rules;

    extern "C" fn itself() {}

    #[test]
    fn only_the_state_is_set_where_no_stage_is_observed() {
        const BEHIND: usize = 16;
        let rule = rules::rule("start_stage").expect("it rests");
        let (_, unobserved) = rule.unobserved.expect("it is shown");
        let resumed = rule.resumed.expect("what was missed is forgotten");
        let switch = Switch::new(rule, 0, itself as *const (), BEHIND);
        let (stages, threads) = (Active::of(Kind::Stage), Active::THREADS);
        let both = stages.or(threads);
        assert_eq!(switch.target(both, both), itself as *const ());
        // Outside of a window, and with all stages off.
        assert_eq!(switch.target(both, threads), unobserved);
        assert_eq!(switch.target(threads, threads), unobserved);
        assert_eq!(switch.target(both, both), itself as *const ());
        let nothing = Active::default();
        assert_eq!(switch.target(nothing, nothing), BEHIND as *const ());
        assert_eq!(switch.target(both, threads), unobserved);
        assert_eq!(switch.target(both, both), resumed);
    }

    #[test]
    fn owners_of_tables_are_forgotten_at_both_ends_of_a_rest() {
        for name in ["rebind_table", "unbind_table", "unlock_table"] {
            let rule = rules::rule(name).expect("it rests");
            let (arrives, rests) = (itself as *const (), 16 as *const ());
            let cell = AtomicPtr::new(arrives.cast_mut());
            let at = std::ptr::from_ref(&cell).expose_provenance();
            let switch = Switch::new(rule, at, arrives, rests.addr());
            let tables = Active::of(Kind::TableIo);
            let go = |active| {
                let target = switch.target(active, active).cast_mut();
                let forgets = switch.forgets_on_the_way_to(target).is_some();
                cell.store(target, Ordering::Relaxed);
                (target.cast_const() == rests, forgets)
            };
            assert_eq!(go(tables), (false, false), "{name}");
            assert_eq!(
                go(Active::default()),
                (true, true),
                "{name}, though tables were on"
            );
            assert_eq!(go(Active::default()), (true, false), "{name}");
            assert_eq!(go(tables), (false, true), "{name}");
        }
    }

    #[test]
    fn stages_are_forgotten_after_a_rest_and_not_after_each_window() {
        let rule = rules::rule("start_stage").expect("it rests");
        let (_, unobserved) = rule.unobserved.expect("it is shown");
        let behind = 16 as *const ();
        let cell = AtomicPtr::new(behind.cast_mut());
        let at = std::ptr::from_ref(&cell).expose_provenance();
        let switch = Switch::new(rule, at, itself as *const (), behind.addr());
        assert!(switch.is_to_forget());
        for running in [unobserved, itself as *const ()] {
            cell.store(running.cast_mut(), Ordering::Relaxed);
            assert!(!switch.is_to_forget());
        }
    }
}
