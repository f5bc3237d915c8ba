//! Metrics by name: selecting, switching and resetting them.

use crate::metric::extremes;
use crate::name::Name;
use crate::pattern;
use crate::primitive::Ordering;
use crate::view::View;

/// An action on a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gather it.
    Enable,
    /// Stop gathering it.
    Disable,
    /// Restart its `_RESET` figures.
    Reset,
    /// Restart all of its figures, which is possible only while it is disabled.
    ResetAll,
}

/// InnoDB's module names that differ from the name of their subsystem.
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

/// Whether a selector selects a metric: `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
/// Letters compare without case.
pub fn is_selected(selector: &str, name: &str, subsystem: &str) -> bool {
    if selector.eq_ignore_ascii_case("all") {
        return true;
    }
    let module = selector
        .get(..7)
        .filter(|start| start.eq_ignore_ascii_case("module_"))
        .and(selector.get(7..));
    if let Some(module) = module
        && !module.contains('%')
    {
        let renamed = MODULES
            .iter()
            .find(|(short, _)| short.eq_ignore_ascii_case(module));
        return subsystem.eq_ignore_ascii_case(renamed.map_or(module, |(_, long)| long))
            || selector.eq_ignore_ascii_case(name);
    }
    pattern::matches(selector, name)
}

/// Number of metrics, including number 0, which is never one.
pub fn used(view: View<'_>) -> usize {
    let used = view.shared().metrics_used.0.load(Ordering::Acquire) as usize;
    used.min(view.geometry().limits.metrics)
}

/// The sum over all threads.
pub fn total(view: View<'_>, number: usize) -> u64 {
    let slots = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    (0..slots.min(view.geometry().limits.threads))
        .map(|slot| view.metric_row(slot)[number].load(Ordering::Relaxed))
        .fold(0, u64::wrapping_add)
}

/// Performs an action on one metric, at a time in seconds since 1970. False if it is not possible.
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
            state
                .extremes
                .fetch_and(!extremes::RESET, Ordering::Relaxed);
            state.reset_s.store(now_s, Ordering::Relaxed);
        }
        Action::ResetAll if on => return false,
        Action::ResetAll => {
            let total = total(view, number);
            state.base.store(total, Ordering::Relaxed);
            state.base_reset.store(total, Ordering::Relaxed);
            state.value.store(0, Ordering::Relaxed);
            state.extremes.store(0, Ordering::Relaxed);
            for time in [&state.enabled_s, &state.disabled_s, &state.reset_s] {
                time.store(0, Ordering::Relaxed);
            }
        }
    }
    true
}

/// Performs an action on every selected metric. Returns how many are selected, and for how many it was
/// possible.
pub fn act_on(view: View<'_>, selector: &str, action: Action, now_s: u64) -> (usize, usize) {
    let (mut selected, mut done) = (0, 0);
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
            && is_selected(selector, name, subsystem)
        {
            selected += 1;
            done += usize::from(act(view, number, action, now_s));
        }
    }
    (selected, done)
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_names_and_patterns_mean_metrics() {
        for (selector, selected) in [
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
            assert_eq!(
                is_selected(selector, "dml_reads", "dml"),
                selected,
                "{selector}"
            );
        }
        assert!(is_selected("module_trx", "trx_rollbacks", "transaction"));
        assert!(is_selected("module_cpu", "module_cpu", "other"));
    }
}
