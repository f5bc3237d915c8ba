//! Configuration, start and stop.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use engine::{Config, LockTiming, Setting, StartError};

use crate::status::{Failure, Outcome, Status, catch_panic, free, pointer_or_null, return_status};
use crate::text::text;

/// `struct tare_config`.
pub type tare_config = Config;

#[unsafe(no_mangle)]
pub extern "C" fn tare_config_new() -> *mut tare_config {
    pointer_or_null(|| Ok(Box::into_raw(Box::default())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_free(config: *mut tare_config) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(config) };
}

/// Changes a config, or returns the error that there is none.
///
/// # Safety
/// `config` is NULL, or came from [`tare_config_new`] and was not freed; no other thread uses it now.
unsafe fn change(
    config: *mut tare_config,
    body: impl FnOnce(&mut Config) -> Result<(), Failure>,
) -> c_int {
    return_status(|| {
        // SAFETY: rule 8 (only the calling thread uses it).
        let config = unsafe { config.as_mut() }.ok_or_else(|| Failure::null("the config"))?;
        body(config).map(|()| Outcome::Done)
    })
}

/// A text that must not be NULL.
///
/// # Safety
/// `given` is NULL or NUL-terminated.
unsafe fn required_text(given: *const c_char, what: &str) -> Result<String, Failure> {
    if given.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: rule 8 (NULL, or a readable text).
    Ok(unsafe { text(given) }.into_owned())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_segment(
    config: *mut tare_config,
    path: *const c_char,
) -> c_int {
    // SAFETY: rules 2, 4 and 5 (only the calling thread uses it, and a readable text).
    unsafe {
        change(config, |config| {
            config.segment = Some(required_text(path, "the path")?.into());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_instrument(
    config: *mut tare_config,
    pattern: *const c_char,
    setting: c_int,
) -> c_int {
    // SAFETY: rules 2, 4 and 5 (only the calling thread uses it, and a readable text).
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
                .push((required_text(pattern, "the pattern")?, setting));
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_consumer(
    config: *mut tare_config,
    name: *const c_char,
    on: c_int,
) -> c_int {
    // SAFETY: rules 2, 4 and 5 (only the calling thread uses it, and a readable text).
    unsafe {
        change(config, |config| {
            config
                .consumers
                .push((required_text(name, "the consumer's name")?, on != 0));
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_lock_timing(config: *mut tare_config, every: c_int) -> c_int {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_memory_limit(config: *mut tare_config, bytes: u64) -> c_int {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe {
        change(config, |config| {
            config.memory_limit = bytes;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_option(
    config: *mut tare_config,
    name: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: rules 2, 4 and 5 (only the calling thread uses it, and a readable text).
    unsafe {
        change(config, |config| {
            let (name, value) = (
                required_text(name, "the name")?,
                required_text(value, "the value")?,
            );
            config
                .option(&name, &value)
                .map_err(|error| Failure::invalid(error.to_string()))
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_config_limit(
    config: *mut tare_config,
    name: *const c_char,
    value: usize,
) -> c_int {
    // SAFETY: rules 2, 4 and 5 (only the calling thread uses it, and a readable text).
    unsafe {
        change(config, |config| {
            let name = required_text(name, "the limit's name")?;
            *config.limits.by_name(&name).ok_or_else(|| {
                Failure::invalid(format!("there is no limit {name:?}; tare.h lists them"))
            })? = value;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_start(config: *const tare_config) -> c_int {
    return_status(|| {
        // SAFETY: rule 2 (NULL, or not freed).
        let config = unsafe { config.as_ref() }.cloned().unwrap_or_default();
        engine::Source::only_in_c();
        engine::start(config).map_err(|error| {
            let status = match error {
                StartError::Running => Status::Running,
                StartError::Segment { .. } => Status::NoSegment,
                _ => Status::Invalid,
            };
            Failure::new(status, error.to_string())
        })?;
        crate::metric::register_again();
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_stop() {
    catch_panic((), engine::stop);
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_is_running() -> c_int {
    c_int::from(engine::is_running())
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_watch_settings() {
    catch_panic((), engine::watch_settings);
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_failed_starts() -> u64 {
    engine::failed_starts()
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_descriptor() -> c_int {
    catch_panic(-1, || {
        engine::descriptor().map_or(-1, IntoRawFd::into_raw_fd)
    })
}
