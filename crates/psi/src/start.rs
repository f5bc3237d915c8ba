//! Starting the engine within a server.

use engine::{Class, Config, Kind, StartError, host_lock, table, thread};
use tare_image::options::UserOptions;

use crate::door::frequent::FREQUENT_NUMBERS;
use crate::door::{idle, keys, lock, metadata, table as door_table, transaction};
use crate::interface::{Interface, Registration, word};

/// Instruments that the server's own engine registers by itself, and what is known of its locks.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Rows of tables.
    pub table_io: &'static str,
    /// Locks of tables.
    pub table_lock: &'static str,
    /// Metadata locks; empty = there are none.
    pub metadata: &'static str,
    /// Idle connections.
    pub idle: &'static str,
    /// Transactions; empty = there are none.
    pub transaction: &'static str,
    /// Whether InnoDB's latches are as [`rwlock`] says.
    pub innodb_words: bool,
}

impl BuiltIn {
    /// Those of MySQL from 5.7 on.
    pub const MYSQL: Self = Self {
        table_io: "wait/io/table/sql/handler",
        table_lock: "wait/lock/table/sql/handler",
        metadata: "wait/lock/metadata/sql/mdl",
        idle: "idle",
        transaction: "transaction",
        innodb_words: true,
    };
}

/// Options for the engine, as NAME=VALUE in lines: what `tare run` was told.
const OPTIONS: &str = "TARE_OPTIONS";
/// A server has more instruments than the default has room for.
const CLASSES: usize = 3072;

/// Starts the engine. Before `main`: the server's own options say how, and then the environment.
///
/// # Errors
/// [`StartError`]; nothing may be patched then.
pub fn start<S: Interface>(built_in: &BuiltIn, own: &UserOptions) -> Result<(), StartError> {
    let mut config = Config::default();
    config.limits.classes = CLASSES;
    config.frequent_classes = FREQUENT_NUMBERS;
    config.digests_keep_positions = S::DIGESTS_HAVE_POSITIONS;
    for (name, value) in own.engine_options() {
        // What Tare does not have, or cannot be set so, the server itself has or complains about.
        let _ = config.option(&name, value);
    }
    let options = std::env::var(OPTIONS).unwrap_or_default();
    for line in options.lines().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        match (name.trim(), value.trim().to_ascii_lowercase().as_str()) {
            ("lock_timing", "every") => config.lock_timing = engine::LockTiming::Every,
            ("lock_timing", "contended") => config.lock_timing = engine::LockTiming::Contended,
            ("lock_instances", "every") => lock::count_all_of_instances(),
            ("lock_instances", "contended") => {}
            (name @ ("lock_timing" | "lock_instances"), _) => {
                left_out(&format!(
                    "{name} cannot be '{value}': give every or contended"
                ));
            }
            (name, _) => {
                if let Err(error) = config.option(name, value) {
                    left_out(&error.to_string());
                }
            }
        }
    }
    engine::start(config)?;
    thread::sessions_only();
    if !lock::are_unlocks_counted() {
        host_lock::without_holders();
    }
    // Until it has a thread: see `door::thread`.
    engine::follow_forks(S::DAEMONIZES);
    word::self_check(built_in.innodb_words);
    let class = |kind, name| class::<S>(kind, name);
    if let (Some(io), Some(lock)) = (
        class(Kind::TableIo, built_in.table_io),
        class(Kind::TableLock, built_in.table_lock),
    ) {
        door_table::set_classes(table::Classes { io, lock });
    }
    if let Some(class) = class(Kind::MetadataLock, built_in.metadata) {
        metadata::set_class(class);
    }
    if let Some(class) = class(Kind::Idle, built_in.idle) {
        idle::set_class(class);
    }
    if let Some(class) = class(Kind::Transaction, built_in.transaction) {
        transaction::set_class(class);
    }
    Ok(())
}

/// Says in the server's error log that an option was not taken; the server goes on without it.
fn left_out(why: &str) {
    eprintln!("tare: TARE_OPTIONS: {why}; the option is left out");
}

fn class<S: Interface>(kind: Kind, name: &str) -> Option<&'static Class> {
    let registration = Registration::default();
    keys::get(keys::register::<S>(kind, name, &registration)).map(|instrument| instrument.class)
}
