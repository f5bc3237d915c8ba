//! MySQL's options `performance_schema_...`, by name: as a my.cnf, a command line or a host's own
//! settings have them.
//!
//! MySQL has separate sizes for the histories of the four event types, and for mutexes, rwlocks and
//! conditions. Where Tare has one table for several, the largest requested size applies. -1 is MySQL's
//! "autosized": Tare's default, of which only the used part takes memory.

use tare_layout::Kind;
use tare_layout::control::CONSUMERS;
use tare_layout::geometry::Limits;
use tare_layout::sampling::{GROUP_NAMES, GROUPS, Rule};
use tare_layout::sizes;

use crate::config::{Config, Setting};

/// What an option does with its number.
#[derive(Clone, Copy)]
enum Size {
    /// Sets a limit.
    Own(fn(&mut Limits) -> &mut usize),
    /// Sets a limit that others set, too.
    Common(fn(&mut Limits) -> &mut usize),
    /// Limits the classes of a kind.
    Classes(&'static [Kind]),
    /// Seconds after which a digest's sample is replaced.
    SampleAge,
    /// Has a fixed value.
    Fixed,
}

/// The options that take a number, without `performance_schema_`, as MySQL 8.0.15 has them.
pub const OPTIONS: &[&str] = sizes::NAMES;

/// What a size of [`sizes`] sets.
fn size_of(number: usize) -> Size {
    match number {
        sizes::ACCOUNTS => Size::Own(|limits| &mut limits.accounts),
        sizes::DIGESTS => Size::Own(|limits| &mut limits.digests),
        sizes::ERRORS => Size::Classes(&[Kind::Error]),
        sizes::STAGES_LONG
        | sizes::STATEMENTS_LONG
        | sizes::TRANSACTIONS_LONG
        | sizes::WAITS_LONG => Size::Common(|limits| &mut limits.history_long),
        sizes::STAGES_HISTORY
        | sizes::STATEMENTS_HISTORY
        | sizes::TRANSACTIONS_HISTORY
        | sizes::WAITS_HISTORY => Size::Common(|limits| &mut limits.history),
        sizes::HOSTS => Size::Own(|limits| &mut limits.hosts),
        sizes::COND_CLASSES => Size::Classes(&[Kind::Cond]),
        sizes::CONDS | sizes::MUTEXES | sizes::RWLOCKS => {
            Size::Common(|limits| &mut limits.instances)
        }
        sizes::DIGEST_LENGTH => Size::Own(|limits| &mut limits.digest_text_bytes),
        sizes::DIGEST_SAMPLE_AGE => Size::SampleAge,
        sizes::FILE_CLASSES => Size::Classes(&[Kind::File]),
        sizes::FILE_HANDLES | sizes::STATEMENT_STACK => Size::Fixed,
        sizes::CONNECT_ATTRS => Size::Own(|limits| &mut limits.attribute_bytes),
        sizes::FILES => Size::Own(|limits| &mut limits.files),
        sizes::INDEXES => Size::Own(|limits| &mut limits.indexes),
        sizes::MEMORY_CLASSES => Size::Classes(&[Kind::Memory]),
        sizes::METADATA_LOCKS => Size::Own(|limits| &mut limits.metadata_locks),
        sizes::MUTEX_CLASSES => Size::Classes(&[Kind::Mutex]),
        sizes::PREPARED => Size::Own(|limits| &mut limits.prepared_statements),
        sizes::PROGRAMS | sizes::TABLES | sizes::TABLE_LOCKS => {
            Size::Common(|limits| &mut limits.objects)
        }
        sizes::RWLOCK_CLASSES => Size::Classes(&[Kind::RwLock, Kind::SxLock]),
        sizes::SOCKET_CLASSES => Size::Classes(&[Kind::Socket]),
        sizes::SOCKETS => Size::Own(|limits| &mut limits.sockets),
        sizes::SQL_TEXT_LENGTH => Size::Own(|limits| &mut limits.sql_text_bytes),
        sizes::STAGE_CLASSES => Size::Classes(&[Kind::Stage]),
        sizes::STATEMENT_CLASSES => Size::Classes(&[Kind::Statement]),
        sizes::TABLE_HANDLES => Size::Own(|limits| &mut limits.table_handles),
        sizes::THREAD_CLASSES => Size::Classes(&[Kind::Thread]),
        sizes::THREADS => Size::Own(|limits| &mut limits.threads),
        sizes::ACTORS => Size::Own(|limits| &mut limits.actors),
        sizes::OBJECTS => Size::Own(|limits| &mut limits.setup_objects),
        sizes::USERS => Size::Own(|limits| &mut limits.users),
        _ => Size::Fixed,
    }
}

/// Why an option was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// No option has that name.
    #[error(
        "there is no option performance_schema_{0}; SHOW VARIABLES LIKE 'performance_schema%' lists \
         them, besides performance_schema_instrument and performance_schema_consumer_..."
    )]
    Unknown(String),
    /// The option does not take that value.
    #[error("performance_schema_{name} cannot be '{value}': give {wanted}")]
    Value {
        /// The option.
        name: String,
        /// The value.
        value: String,
        /// The values that it takes.
        wanted: &'static str,
    },
}

const NUMBER: &str = "a whole number, or -1 for the default";
const SAMPLING: &str = "every, 1/N or budget P %, of sampling or of one type: sampling_wait, \
     sampling_stage, sampling_transaction, sampling_memory; or active, of sampling";
const SWITCH: &str = "ON or OFF";
const INSTRUMENT: &str = "PATTERN=VALUE, where VALUE is ON, OFF or COUNTED: 'wait/synch/%=COUNTED'";

impl Config {
    /// Sets one of MySQL's options. The prefix `performance_schema_` or `performance-schema-` is
    /// optional, and `-` and `_` are equal.
    ///
    /// ```
    /// let mut config = tare::Config::default();
    /// config.option("performance-schema-digests-size", "200")?;
    /// config.option("performance_schema_instrument", "wait/synch/%=COUNTED")?;
    /// config.option("consumer_events_waits_current", "ON")?;
    /// assert_eq!(config.limits.digests, 200);
    /// assert!(config.option("digest_size", "200").is_err());
    /// # Ok::<(), tare::OptionError>(())
    /// ```
    ///
    /// # Errors
    /// [`OptionError`], which names the values that the option takes.
    pub fn option(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let name = name.to_ascii_lowercase().replace('-', "_");
        let name = name.strip_prefix("performance_schema_").unwrap_or(&name);
        let wrong = |wanted| OptionError::Value {
            name: name.into(),
            value: value.into(),
            wanted,
        };
        if name == "instrument" {
            // As in mysqld, quotes around the value are ignored.
            let bare = value.trim().trim_matches(['\'', '"']);
            let (pattern, setting) = bare.split_once('=').ok_or_else(|| wrong(INSTRUMENT))?;
            let setting = Setting::parse(setting.trim()).ok_or_else(|| wrong(INSTRUMENT))?;
            match pattern.trim() {
                "" => return Err(wrong(INSTRUMENT)),
                pattern => self.instruments.push((pattern.into(), setting)),
            }
            return Ok(());
        }
        if let Some(consumer) = name.strip_prefix("consumer_") {
            if !CONSUMERS.contains(&consumer) {
                return Err(OptionError::Unknown(name.into()));
            }
            let on = match Setting::parse(value.trim()) {
                Some(Setting::On) => true,
                Some(Setting::Off) => false,
                _ => return Err(wrong(SWITCH)),
            };
            self.consumers.push((consumer.into(), on));
            return Ok(());
        }
        if let Some(of) = name.strip_prefix("sampling") {
            return self.set_sampling(of, value).ok_or_else(|| wrong(SAMPLING));
        }
        let size = sizes::number(name).ok_or_else(|| OptionError::Unknown(name.into()))?;
        let number: i64 = value.trim().parse().map_err(|_| wrong(NUMBER))?;
        let number = match usize::try_from(number) {
            Ok(number) => number,
            Err(_) if number == -1 => return Ok(()),
            Err(_) => return Err(wrong(NUMBER)),
        };
        self.requested_sizes.retain(|(of, _)| *of != size);
        self.requested_sizes.push((size, number as u64));
        // A size of 0 for one kind does not lower a limit that several kinds share.
        if number != 0 || !sizes::is_a_buffer(size) {
            self.size(size_of(size), number);
        }
        Ok(())
    }

    /// Sets `sampling`, of all event types or of one.
    fn set_sampling(&mut self, of: &str, value: &str) -> Option<()> {
        let sampling = &mut self.sampling;
        match of {
            "" => sampling.rules = [Rule::parse(value)?; GROUPS],
            of => {
                let group = of.strip_prefix('_')?;
                let group = GROUP_NAMES.iter().position(|name| *name == group)?;
                let rule = Rule::parse(value).filter(|rule| *rule != Rule::Active)?;
                sampling.rules[group] = rule;
            }
        }
        Some(())
    }

    fn size(&mut self, size: Size, number: usize) {
        match size {
            Size::Own(limit) => *limit(&mut self.limits) = number,
            Size::Common(limit) => {
                let untouched = *limit(&mut Limits::default());
                let now = limit(&mut self.limits);
                // The first option replaces the default, later ones only raise it.
                *now = if *now == untouched {
                    number
                } else {
                    number.max(*now)
                };
            }
            Size::Classes(kinds) => {
                self.class_limits.retain(|(of, _)| !kinds.contains(of));
                self.class_limits
                    .extend(kinds.iter().map(|kind| (*kind, number)));
            }
            Size::SampleAge => self.digest_sample_age = Some(number as u64),
            Size::Fixed => {}
        }
        self.limits = self.limits.clamped();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_accept_every_spelling() {
        let mut config = Config::default();
        for (name, value) in [
            ("performance_schema_digests_size", "100"),
            ("PERFORMANCE-SCHEMA-MAX-DIGEST-LENGTH", "2048"),
            ("setup-actors-size", " 7 "),
            ("accounts_size", "-1"),
            ("max_mutex_classes", "5"),
            ("max_digest_sample_age", "0"),
            ("events_waits_history_size", "20"),
            ("events_stages_history_size", "5"),
        ] {
            assert_eq!(config.option(name, value), Ok(()), "{name}");
        }
        let l = &config.limits;
        assert_eq!((l.digests, l.digest_text_bytes, l.actors), (100, 2048, 7));
        assert_eq!((l.accounts, l.history), (Limits::default().accounts, 20));
        assert_eq!(config.class_limits, [(Kind::Mutex, 5)]);
        assert_eq!(config.digest_sample_age, Some(0));
    }

    #[test]
    fn sampling_is_an_option() {
        let mut config = Config::default();
        assert_eq!(config.option("sampling", "1/16"), Ok(()));
        assert_eq!(config.option("sampling-stage", "every"), Ok(()));
        let one = Rule::OneIn(16);
        assert_eq!(config.sampling.rules, [one, Rule::Every, one, one]);
        assert_eq!(config.option("sampling", "active"), Ok(()));
        assert_eq!(config.sampling.rules, [Rule::Active; GROUPS]);
        for (name, value) in [
            ("sampling", "16"),
            ("sampling_statement", "1/16"),
            ("sampling_wait", "active"),
        ] {
            assert!(config.option(name, value).is_err(), "{name}");
        }
    }

    #[test]
    fn every_name_takes_a_number_and_nothing_else() {
        for name in OPTIONS {
            let mut config = Config::default();
            assert_eq!(config.option(name, "1000"), Ok(()), "{name}");
            for wrong in ["", "many", "1.5", "-2", "99999999999999999999"] {
                assert!(config.option(name, wrong).is_err(), "{name} {wrong}");
            }
        }
    }

    #[test]
    fn errors_name_the_mistake() {
        let mut config = Config::default();
        let mut message =
            |name: &str, value: &str| config.option(name, value).unwrap_err().to_string();
        assert!(
            message("no_such_size", "1")
                .starts_with("there is no option performance_schema_no_such_size")
        );
        assert!(message("consumer_events", "ON").contains("no option"));
        assert!(message("consumer_statements_digest", "COUNTED").contains("give ON or OFF"));
        assert!(message("instrument", "wait/%").contains("PATTERN=VALUE"));
        assert!(message("instrument", "=ON").contains("PATTERN=VALUE"));
        assert!(message("digests_size", "x").contains("a whole number"));
    }
}
