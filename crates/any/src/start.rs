//! Recognises the program, and starts the engine in it.

use std::ffi::{CStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Config, StartError};
use tare_image::{Linkage, engine_options, report_ignored};

use crate::calls::run_unobserved;
use crate::{descriptors, names, resp};

/// Threads and sessions: a server has at most 10,000 clients by default.
const MAX_THREADS: usize = 12_288;
/// The longest part of a program's name in an instrument's.
const MAX_NAME_BYTES: usize = 32;

/// Whether accepted connections are read as Redis's protocol.
static READS_COMMANDS: AtomicBool = AtomicBool::new(false);
/// Whether the program has not begun to wait for clients.
static MAY_DAEMONIZE: AtomicBool = AtomicBool::new(false);

/// Whether accepted connections are read as Redis's protocol.
pub fn reads_commands() -> bool {
    READS_COMMANDS.load(Ordering::Relaxed)
}

/// The program waits for something to do. Until then, a fork with a single thread is that of a server that
/// goes into the background, and Tare continues in its child.
#[inline]
pub fn is_serving() {
    if MAY_DAEMONIZE.load(Ordering::Relaxed) {
        MAY_DAEMONIZE.store(false, Ordering::Relaxed);
        engine::follow_forks(false);
    }
}

/// Called before `main`, on the only thread.
pub fn open() {
    run_unobserved(|| {
        let path = std::fs::read_link("/proc/self/exe").unwrap_or_default();
        if tare_image::is_launcher(&path) || Linkage::of(&path) == Linkage::Tare {
            return;
        }
        // SAFETY: before `main` this is the only thread.
        unsafe { tare_image::unset_preload() };
        let name = name_of(std::env::args_os().next(), &path);
        if let Err(error) = start(&name) {
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "tare: {error}; {name} runs without Tare");
        }
    });
}

fn start(name: &str) -> Result<(), StartError> {
    let is_resp_server = is_resp_server(name);
    let mut config = Config::default();
    config.limits.threads = MAX_THREADS;
    config.many_processes = !is_resp_server;
    for (option, value) in engine_options() {
        if let Err(error) = config.option(&option, &value) {
            report_ignored(error);
        }
    }
    engine::start(config)?;
    descriptors::claim();
    let classes = names::create(name);
    classes.register();
    engine::thread::register(classes.main());
    if is_resp_server {
        resp::commands::create(classes.program());
        READS_COMMANDS.store(true, Ordering::Relaxed);
        MAY_DAEMONIZE.store(true, Ordering::Relaxed);
        engine::follow_forks(true);
    }
    Ok(())
}

/// Whether the program is Redis, Valkey or one of their kin: by its name, or by two functions that they
/// export for their modules.
fn is_resp_server(name: &str) -> bool {
    let exports = |symbol: &CStr| {
        // SAFETY: a C string.
        !unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }.is_null()
    };
    tare_image::has_redis_name(name)
        || exports(c"processCommand") && exports(c"readQueryFromClient")
}

/// The program's name as instruments have it: how it was called, without `-server`.
fn name_of(called: Option<OsString>, path: &Path) -> String {
    let called = called.unwrap_or_default();
    let name = match tare_image::short_name(Path::new(&called)) {
        name if name.is_empty() => tare_image::short_name(path),
        name => name,
    };
    let sign = |char: char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | '+' => char,
        _ => '_',
    };
    // A login shell's way to call a program.
    let name = name.trim_start_matches('-');
    let name: String = name.chars().take(MAX_NAME_BYTES).map(sign).collect();
    match name.is_empty() {
        true => "program".into(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_program_was_called() {
        let name =
            |called: &str| name_of(Some(called.into()), Path::new("/usr/bin/redis-check-rdb"));
        assert_eq!(name("/usr/bin/redis-server"), "redis");
        assert_eq!(name("valkey-server"), "valkey");
        assert_eq!(name("memcached"), "memcached");
        assert_eq!(name("-my prog/"), "my_prog");
        assert_eq!(name(""), "redis-check-rdb");
        assert_eq!(name(&"x".repeat(99)), "x".repeat(MAX_NAME_BYTES));
    }
}
