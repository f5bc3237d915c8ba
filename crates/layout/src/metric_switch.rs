//! Metrics by name: which are meant, switching them, and beginning their figures anew.

use crate::metric::seen;
use crate::name::Name;
use crate::pattern;
use crate::primitive::Ordering;
use crate::view::View;

/// What can be done to a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gather it.
    Enable,
    /// Do not.
    Disable,
    /// Begin its `_RESET` figures anew.
    Reset,
    /// Begin all of its figures anew, which only one that is disabled lets happen.
    ResetAll,
}

/// InnoDB's names of modules that are not called like their subsystem.
const MODULES: [(&str, &str); 8] = [
    ("buf_page", "buffer_page_io"),
    ("trx", "transaction"),
    ("compress", "compression"),
    ("file", "file_system"),
    ("ibuf_system", "change_buffer"),
    ("srv", "server"),
    ("adaptive_hash", "adaptive_hash_index"),
    ("latch", "sync"),
];

/// Whether what was asked for means a metric: `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
/// Letters compare without case.
pub fn is_meant(asked: &str, name: &str, subsystem: &str) -> bool {
    if asked.eq_ignore_ascii_case("all") {
        return true;
    }
    let module = asked
        .get(..7)
        .filter(|start| start.eq_ignore_ascii_case("module_"))
        .and(asked.get(7..));
    if let Some(module) = module
        && !module.contains('%')
    {
        let known = MODULES
            .iter()
            .find(|(short, _)| short.eq_ignore_ascii_case(module));
        return subsystem.eq_ignore_ascii_case(known.map_or(module, |(_, long)| long))
            || asked.eq_ignore_ascii_case(name);
    }
    pattern::matches(asked, name)
}

/// How many numbers were given to metrics, number 0 (never one) included.
pub fn used(view: View<'_>) -> usize {
    let used = view.shared().metrics_used.0.load(Ordering::Acquire) as usize;
    used.min(view.geometry().limits.metrics)
}

/// What all threads have counted.
pub fn total(view: View<'_>, number: usize) -> u64 {
    let slots = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    (0..slots.min(view.geometry().limits.threads))
        .map(|slot| view.metric_row(slot)[number].load(Ordering::Relaxed))
        .fold(0, u64::wrapping_add)
}

/// Does something to one metric, at a time in seconds since 1970. False when it could not be done.
pub fn act(view: View<'_>, number: usize, action: Action, now_s: u64) -> bool {
    let (flag, state) = (&view.metric_flags()[number], view.metric_state(number));
    let on = flag.load(Ordering::Relaxed) != 0;
    match action {
        Action::Enable if !on => {
            state.enabled_s.store(now_s, Ordering::Relaxed);
            state.disabled_s.store(0, Ordering::Relaxed);
            flag.store(1, Ordering::Relaxed);
        }
        Action::Disable if on => {
            flag.store(0, Ordering::Relaxed);
            state.disabled_s.store(now_s, Ordering::Relaxed);
        }
        Action::Enable | Action::Disable => {}
        Action::Reset => {
            let total = total(view, number);
            state.base_reset.store(total, Ordering::Relaxed);
            state.seen.fetch_and(!seen::RESET, Ordering::Relaxed);
            state.reset_s.store(now_s, Ordering::Relaxed);
        }
        Action::ResetAll if on => return false,
        Action::ResetAll => {
            let total = total(view, number);
            state.base.store(total, Ordering::Relaxed);
            state.base_reset.store(total, Ordering::Relaxed);
            state.value.store(0, Ordering::Relaxed);
            state.seen.store(0, Ordering::Relaxed);
            for time in [&state.enabled_s, &state.disabled_s, &state.reset_s] {
                time.store(0, Ordering::Relaxed);
            }
        }
    }
    true
}

/// Does something to every metric that is meant; how many were, and how many of them let it.
pub fn act_on(view: View<'_>, asked: &str, action: Action, now_s: u64) -> (usize, usize) {
    let (mut meant, mut done) = (0, 0);
    let mut name = [0; Name::<16>::CAPACITY];
    let mut subsystem = [0; Name::<8>::CAPACITY];
    for number in 1..used(view) {
        let metric = view.metric(number);
        if metric.kind.load(Ordering::Acquire) == 0 {
            continue;
        }
        let texts = (
            core::str::from_utf8(metric.name.get(&mut name)),
            core::str::from_utf8(metric.subsystem.get(&mut subsystem)),
        );
        if let (Ok(name), Ok(subsystem)) = texts
            && is_meant(asked, name, subsystem)
        {
            meant += 1;
            done += usize::from(act(view, number, action, now_s));
        }
    }
    (meant, done)
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_names_and_patterns_mean_metrics() {
        for (asked, meant) in [
            ("all", true),
            ("ALL", true),
            ("module_dml", true),
            ("MODULE_DML", true),
            ("module_trx", false),
            ("dml_reads", true),
            ("DML_Reads", true),
            ("dml%", true),
            ("%reads", true),
            ("dml", false),
            ("", false),
            ("module_", false),
            ("modul\u{e9}_x", false),
        ] {
            assert_eq!(is_meant(asked, "dml_reads", "dml"), meant, "{asked}");
        }
        assert!(is_meant("module_trx", "trx_rollbacks", "transaction"));
        assert!(is_meant("module_cpu", "module_cpu", "other"));
    }
}
