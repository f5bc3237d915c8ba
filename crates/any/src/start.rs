//! Recognises the program, and starts the engine in it.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Config, Setting, StartError};
use tare_image::{CommandProtocol, Linkage, PROGRAM_VARIABLE, engine_options, report_ignored};

use crate::calls::run_unobserved;
use crate::exports::exported;
use crate::{backend, descriptors, http, memcache, mysql, names, nginx, postgres, resp};

/// The longest part of a program's name in an instrument's.
const MAX_NAME_BYTES: usize = 32;

/// The option that decides whether the program's locks are recorded.
const LOCKS: &str = "locks";

/// As which protocol accepted connections are read.
static PROTOCOL: OnceLock<CommandProtocol> = OnceLock::new();
/// Whether the program's locks are recorded: the option `locks`.
static RECORDS_LOCKS: AtomicBool = AtomicBool::new(false);
/// Whether the program has not begun to wait for clients.
static MAY_DAEMONIZE: AtomicBool = AtomicBool::new(false);

/// As which protocol accepted connections are read.
pub fn protocol() -> Option<CommandProtocol> {
    PROTOCOL.get().copied()
}

/// Whether connections need not be read from their first byte on while everything is off: in a program whose
/// protocol is not read, and where requests need nothing that earlier ones have said.
pub fn may_accept_unseen() -> bool {
    !matches!(
        protocol(),
        Some(CommandProtocol::Redis | CommandProtocol::Postgres | CommandProtocol::Mysql)
    )
}

/// Whether the program's locks are recorded.
pub fn records_locks() -> bool {
    RECORDS_LOCKS.load(Ordering::Relaxed)
}

/// The program waits for something to do. Until then, a fork with a single thread is that of a server that
/// goes into the background, and Tare continues in its child.
#[inline]
pub fn begin_serving() {
    if MAY_DAEMONIZE.load(Ordering::Relaxed) {
        MAY_DAEMONIZE.store(false, Ordering::Relaxed);
        engine::follow_forks(false);
    }
}

/// Called before `main`, on the only thread.
pub fn open() {
    run_unobserved(|| {
        let path = std::fs::read_link("/proc/self/exe").unwrap_or_default();
        let starts_another = tare_image::is_launcher(&path) || !is_named(&path);
        if starts_another || Linkage::of(&path) == Linkage::Tare {
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

/// Whether this program is the one that the environment names, if it names one.
fn is_named(path: &Path) -> bool {
    let named = std::env::var_os(PROGRAM_VARIABLE).filter(|name| !name.is_empty());
    named.is_none_or(|name| path.file_name() == Some(&name))
}

fn start(name: &str) -> Result<(), StartError> {
    let protocol = protocol_of(name);
    // So that an observer can name what a session waits for. MySQL has them off; 4 ns an event.
    let current = ["events_waits_current", "events_stages_current"];
    let mut config = Config::default()
        .many_processes(protocol.is_none_or(|protocol| protocol.has_processes()))
        .consumers(current.map(|name| (name, true)));
    let mut locks = false;
    for (option, value) in engine_options() {
        match (&*option, Setting::parse(&value)) {
            (LOCKS, Some(Setting::On)) => locks = true,
            (LOCKS, Some(Setting::Off)) => locks = false,
            (LOCKS, _) => report_ignored(format!("{LOCKS} cannot be '{value}': give ON or OFF")),
            _ => {
                if let Err(error) = config.option(&option, &value) {
                    report_ignored(error);
                }
            }
        }
    }
    engine::Source::only_in_c();
    engine::start(config)?;
    RECORDS_LOCKS.store(locks, Ordering::Relaxed);
    descriptors::claim(engine::own_descriptor());
    let is_postgres = backend::is_postgres();
    let kinds = is_postgres.then_some((backend::KINDS, backend::kind_of as fn(&str) -> _));
    let classes = names::create(name, kinds);
    classes.register();
    match is_postgres {
        true => {
            if !backend::open(classes) {
                let _ = writeln!(
                    std::io::stderr(),
                    "tare: PostgreSQL before version 14 does not export its wait events; its waits have the names of other programs'"
                );
            }
            engine::thread::register(classes.thread("postmaster"));
        }
        false => engine::thread::register(classes.main()),
    }
    if let Some(protocol) = protocol {
        match protocol {
            CommandProtocol::Redis => resp::commands::create(classes.program()),
            CommandProtocol::Memcached => memcache::commands::create(classes.program()),
            CommandProtocol::Postgres => postgres::commands::create(classes.program()),
            CommandProtocol::Http => {
                http::methods::create(classes.program());
                http::stages::create(classes.program());
            }
            CommandProtocol::Mysql => mysql::classes::create(),
        }
        let _ = PROTOCOL.set(protocol);
        if protocol == CommandProtocol::Http {
            nginx::open();
        }
        if !protocol.has_processes() {
            MAY_DAEMONIZE.store(true, Ordering::Relaxed);
            engine::follow_forks(true);
        }
    }
    engine::periods::follow();
    Ok(())
}

/// The protocol of a program, by its name. Redis, PostgreSQL, nginx, MySQL and their kin are recognised also
/// by what they export for their modules.
fn protocol_of(name: &str) -> Option<CommandProtocol> {
    let is_redis = || {
        [c"processCommand", c"readQueryFromClient"]
            .iter()
            .all(|name| exported(name).is_some())
    };
    // MySQL and MariaDB export these for their plugins.
    let is_mysql = || {
        [c"thd_get_thread_id", c"thd_in_lock_tables"]
            .iter()
            .all(|name| exported(name).is_some())
    };
    tare_image::command_protocol(name)
        .or_else(|| is_redis().then_some(CommandProtocol::Redis))
        .or_else(|| backend::is_postgres().then_some(CommandProtocol::Postgres))
        .or_else(|| nginx::is_nginx().then_some(CommandProtocol::Http))
        .or_else(|| is_mysql().then_some(CommandProtocol::Mysql))
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
