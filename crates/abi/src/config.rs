//! Starting and stopping.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use engine::{Config, Limits, LockTiming, Setting, StartError};

use crate::class::register_known;
use crate::status::{Failure, Outcome, Status, door, made, quiet};
use crate::text::text;

/// `struct tare_config`.
pub type tare_config = Config;

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_config_new() -> *mut tare_config {
    made(|| Ok(Box::into_raw(Box::default())))
}

/// See `tare.h`.
///
/// # Safety
/// `config` is NULL or came from `tare_config_new` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_free(config: *mut tare_config) {
    quiet((), || {
        if !config.is_null() {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(config) });
        }
    });
}

/// Changes a config that is there.
///
/// # Safety
/// As [`tare_config_free`]; no other thread uses it now.
unsafe fn change(
    config: *mut tare_config,
    body: impl FnOnce(&mut Config) -> Result<(), Failure>,
) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let config = unsafe { config.as_mut() }.ok_or_else(|| Failure::null("the config"))?;
        body(config).map(|()| Outcome::Done)
    })
}

/// A text that must say something.
///
/// # Safety
/// `given` is NULL or NUL-terminated.
unsafe fn said(given: *const c_char, what: &str) -> Result<String, Failure> {
    if given.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { text(given) }.into_owned())
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`] and [`said`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_segment(
    config: *mut tare_config,
    path: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise, here and within.
    unsafe {
        change(config, |config| {
            config.segment = Some(said(path, "the path")?.into());
            Ok(())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`] and [`said`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_instrument(
    config: *mut tare_config,
    pattern: *const c_char,
    setting: c_int,
) -> c_int {
    // SAFETY: the caller's promise, here and within.
    unsafe {
        change(config, |config| {
            let setting = match setting {
                0 => Setting::Off,
                1 => Setting::Counted,
                2 => Setting::On,
                _ => {
                    return Err(Failure::invalid(format!(
                        "{setting} is no setting; give TARE_OFF, TARE_COUNTED or TARE_ON"
                    )));
                }
            };
            config
                .instruments
                .push((said(pattern, "the pattern")?, setting));
            Ok(())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`] and [`said`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_consumer(
    config: *mut tare_config,
    name: *const c_char,
    on: c_int,
) -> c_int {
    // SAFETY: the caller's promise, here and within.
    unsafe {
        change(config, |config| {
            config
                .consumers
                .push((said(name, "the consumer's name")?, on != 0));
            Ok(())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_lock_timing(config: *mut tare_config, every: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        change(config, |config| {
            config.lock_timing = if every == 0 {
                LockTiming::Contended
            } else {
                LockTiming::Every
            };
            Ok(())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_memory_limit(config: *mut tare_config, bytes: u64) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        change(config, |config| {
            config.memory_limit = bytes;
            Ok(())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`] and [`said`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_option(
    config: *mut tare_config,
    name: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise, here and within.
    unsafe {
        change(config, |config| {
            let (name, value) = (said(name, "the name")?, said(value, "the value")?);
            config
                .option(&name, &value)
                .map_err(|error| Failure::invalid(error.to_string()))
        })
    }
}

/// The limit of this name.
fn limit<'a>(limits: &'a mut Limits, name: &str) -> Option<&'a mut usize> {
    macro_rules! by_name {
        ($($field:ident)*) => {{
            // Complains when a limit is missing here.
            let Limits { $($field),* } = limits;
            match name {
                $(stringify!($field) => Some($field),)*
                _ => None,
            }
        }};
    }
    by_name! {
        classes threads accounts users hosts actors schemas instances files digests digest_text_bytes
        sql_text_bytes text_ring_bytes history history_long arena_lines sockets objects indexes
        table_handles metadata_locks prepared_statements setup_objects metrics
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`change`] and [`said`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_limit(
    config: *mut tare_config,
    name: *const c_char,
    value: usize,
) -> c_int {
    // SAFETY: the caller's promise, here and within.
    unsafe {
        change(config, |config| {
            let name = said(name, "the limit's name")?;
            *limit(&mut config.limits, &name).ok_or_else(|| {
                Failure::invalid(format!("there is no limit {name:?}; tare.h lists them"))
            })? = value;
            Ok(())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// `config` is NULL or came from `tare_config_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_start(config: *const tare_config) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let config = unsafe { config.as_ref() }.cloned().unwrap_or_default();
        engine::Source::only_in_c();
        engine::start(config).map_err(|error| {
            let status = match error {
                StartError::Running => Status::Running,
                StartError::Segment { .. } => Status::NoSegment,
                StartError::Consumer(_) | StartError::NotCompiledIn => Status::Invalid,
            };
            Failure::new(status, error.to_string())
        })?;
        register_known();
        crate::metric::register_known();
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_stop() {
    quiet((), engine::stop);
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_is_running() -> c_int {
    c_int::from(engine::is_running())
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_watch_settings() {
    quiet((), engine::watch_settings);
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_failed_starts() -> u64 {
    engine::failed_starts()
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_descriptor() -> c_int {
    quiet(-1, || {
        engine::descriptor().map_or(-1, IntoRawFd::into_raw_fd)
    })
}
