//! Starts the engine within a server.

use engine::{Class, Config, Kind, StartError, host_lock, table, thread};
use tare_image::options::UserOptions;
use tare_image::{engine_options, report_ignored};

use crate::door::frequent::FREQUENT_NUMBERS;
use crate::door::{idle, keys, lock, metadata, table as door_table, transaction};
use crate::interface::{Interface, Registration, word};

/// Instruments that the server's own engine registers by itself, and whether InnoDB's lock words are known.
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
    /// Whether InnoDB's latches have the words of [`crate::interface::word`].
    pub innodb_words: bool,
}

impl BuiltIn {
    /// The instruments of MySQL from 5.7 on.
    pub const MYSQL: Self = Self {
        table_io: "wait/io/table/sql/handler",
        table_lock: "wait/lock/table/sql/handler",
        metadata: "wait/lock/metadata/sql/mdl",
        idle: "idle",
        transaction: "transaction",
        innodb_words: true,
    };
}

/// The limit of classes: a server has more instruments than the default.
const MAX_CLASSES: usize = 3072;

/// Starts the engine, before `main`, with the server's own options and then those of the environment.
///
/// # Errors
/// [`StartError`]; nothing may be patched then.
pub fn start<S: Interface>(built_in: &BuiltIn, own: &UserOptions) -> Result<(), StartError> {
    let mut config = Config::default();
    config.limits.classes = MAX_CLASSES;
    config.frequent_classes = FREQUENT_NUMBERS;
    config.digests_retain_positions = S::DIGESTS_HAVE_POSITIONS;
    for (name, value) in own.engine_options() {
        // The server itself reports an option that is wrong; one that Tare lacks is the server's own.
        let _ = config.option(&name, value);
    }
    for (name, value) in engine_options() {
        match (name.as_str(), value.to_ascii_lowercase().as_str()) {
            ("lock_timing", "every") => config.lock_timing = engine::LockTiming::Every,
            ("lock_timing", "contended") => config.lock_timing = engine::LockTiming::Contended,
            ("lock_instances", "every") => lock::count_all_of_instances(),
            ("lock_instances", "contended") => {}
            (name @ ("lock_timing" | "lock_instances"), _) => {
                report_ignored(format!(
                    "{name} cannot be '{value}': give every or contended"
                ));
            }
            (name, _) => {
                if let Err(error) = config.option(name, &value) {
                    report_ignored(error);
                }
            }
        }
    }
    engine::start(config)?;
    thread::record_sessions_only();
    if !lock::are_unlocks_counted() {
        host_lock::declare_no_holders();
    }
    // Until the server has threads: see `door::thread`.
    engine::follow_forks(S::DAEMONIZES);
    word::self_check(built_in.innodb_words);
    let class = |kind, name| class::<S>(kind, name);
    if let (Some(io), Some(lock)) = (
        class(Kind::TableIo, built_in.table_io),
        class(Kind::TableLock, built_in.table_lock),
    ) {
        door_table::set_classes::<S>(table::Classes { io, lock });
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

fn class<S: Interface>(kind: Kind, name: &str) -> Option<&'static Class> {
    let registration = Registration::default();
    keys::get(keys::register::<S>(kind, name, &registration)).map(|instrument| instrument.class)
}
