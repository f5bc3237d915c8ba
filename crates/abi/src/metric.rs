//! Metrics: registered once, for the life of the process.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint};
use std::sync::{Mutex, PoisonError};

use engine::metrics::{self, Metric, Type};

use crate::status::{Failure, Outcome, catch_panic, pointer_or_null, return_status};
use crate::text::text;

/// `struct tare_metric`: a metric that lives for ever.
pub type tare_metric = Metric;

const ENABLED: c_uint = 256;

/// All metrics by name, so that registering one again leaks nothing.
static METRICS: Mutex<BTreeMap<&'static str, &'static Metric>> = Mutex::new(BTreeMap::new());

/// Registers all metrics with an engine that has just started.
pub fn register_again() {
    let metrics = METRICS.lock().unwrap_or_else(PoisonError::into_inner);
    for metric in metrics.values() {
        metric.register();
    }
}

fn find_or_register(
    number: c_int,
    name: &str,
    subsystem: &str,
    flags: c_uint,
    documentation: &str,
) -> Result<&'static Metric, Failure> {
    let kind = u32::try_from(number).ok().and_then(Type::from_u32);
    let kind = kind.ok_or_else(|| {
        Failure::invalid(format!(
            "{number} is no type of metric; give a TARE_METRIC_*"
        ))
    })?;
    if name.is_empty() || name.len() > 128 || subsystem.is_empty() || subsystem.len() > 64 {
        return Err(Failure::invalid(
            "a metric's name has 1 to 128 bytes, its subsystem's 1 to 64",
        ));
    }
    if flags & !ENABLED != 0 {
        return Err(Failure::invalid(format!(
            "{flags:#x} has bits that are no metric's flags"
        )));
    }
    let mut metrics = METRICS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(metric) = metrics.get(name) {
        return Ok(metric);
    }
    let leak = |text: &str| -> &'static str { String::leak(text.to_owned()) };
    let name = leak(name);
    let mut metric = Metric::new(kind, name, leak(subsystem), leak(documentation));
    if flags & ENABLED != 0 {
        metric = metric.enabled();
    }
    let metric: &'static Metric = Box::leak(Box::new(metric));
    metrics.insert(name, metric);
    metric.register();
    Ok(metric)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metric_register(
    kind: c_int,
    name: *const c_char,
    subsystem: *const c_char,
    flags: c_uint,
    documentation: *const c_char,
) -> *mut tare_metric {
    pointer_or_null(|| {
        // SAFETY: rule 5 (NULL, or a readable text).
        let (name, subsystem, documentation) =
            unsafe { (text(name), text(subsystem), text(documentation)) };
        let metric = find_or_register(kind, &name, &subsystem, flags, &documentation)?;
        Ok(std::ptr::from_ref(metric).cast_mut())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metric_add(metric: *mut tare_metric, n: u64) {
    catch_panic((), || {
        // SAFETY: rule 1 (NULL, or a registered metric, which lives for ever).
        if let Some(metric) = unsafe { metric.as_ref() } {
            metric.add(n);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metric_set(metric: *mut tare_metric, value: i64) {
    catch_panic((), || {
        // SAFETY: as above.
        if let Some(metric) = unsafe { metric.as_ref() } {
            metric.set(value);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metric_is_enabled(metric: *mut tare_metric) -> c_int {
    catch_panic(0, || {
        // SAFETY: as above.
        let metric = unsafe { metric.as_ref() };
        c_int::from(metric.is_some_and(Metric::is_enabled))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metrics_act(action: c_int, selection: *const c_char) -> c_int {
    return_status(|| {
        if selection.is_null() {
            return Err(Failure::null("the selection"));
        }
        // SAFETY: rule 5 (not NULL).
        let selection = unsafe { text(selection) };
        let done = match action {
            1 => metrics::enable(&selection),
            2 => metrics::disable(&selection),
            3 => metrics::reset(&selection),
            4 => metrics::reset_all(&selection),
            _ => {
                return Err(Failure::invalid(format!(
                    "{action} is no action; give a TARE_METRICS_*"
                )));
            }
        };
        if done == 0 {
            return Err(Failure::invalid(format!(
                "{selection:?} selects no metric that allows it; give `all`, `module_SUBSYSTEM`, a name or a pattern, \
                 and reset all figures only of what is disabled"
            )));
        }
        Ok(Outcome::Done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_metric() {
        let pointer_or_null =
            |name: &str, kind| find_or_register(kind, name, "abi", ENABLED, "Things.");
        let first = pointer_or_null("abi_things", 1).expect("new");
        assert!(std::ptr::eq(
            first,
            pointer_or_null("abi_things", 1).expect("known")
        ));
        for (name, kind) in [
            ("x", 0),
            ("x", 6),
            ("x", -1),
            ("", 1),
            (&"x".repeat(129), 1),
        ] {
            assert!(pointer_or_null(name, kind).is_err(), "{name} {kind}");
        }
        assert!(find_or_register(1, "x", "", 0, "").is_err());
        assert!(find_or_register(1, "x", "abi", 1, "").is_err());
    }
}
