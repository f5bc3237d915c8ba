//! The session of a segment's reader, and what the tables and SQL functions read of it.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::Value;
use tare_dialect::Mode;
use tare_functions::{Counted, EvaluationContext};
use tare_mysql::error::Result;
use tare_mysql::secret::redact;
use tare_mysql::series::Series;
use tare_mysql::session::{SessionFacts, Warning};
use tare_mysql::variable::{self, Scope, find};
use tare_reader::Segment;
use tare_reader::activity_log::{ActivityLog, Subject};
use tare_rows::defaults;
use tare_rows::extension::Extension;
use tare_rows::options::Options;
use tare_rows::snapshot::Snapshot;
use tare_rows::source::{Source, Variable};

use super::variables::{OWN, is_own};
use crate::programs::Programs;
use crate::result::owned;

/// The most warnings of one statement.
const MAX_WARNINGS: usize = 64;

/// Computes a statement's digest, in hexadecimal digits, and its text. With `true`, positions in ORDER BY and GROUP BY
/// are retained.
pub type DigestFn = fn(&str, bool) -> Option<(String, String)>;

/// The sessions of a segment, for their samples.
struct SegmentSessions {
    segment: Arc<Segment>,
    digest: DigestFn,
    series: Series,
}

impl Subject for SegmentSessions {
    fn segment(&self) -> Option<Arc<Segment>> {
        Some(self.segment.clone())
    }

    fn normalize(&self, statement: &str) -> Option<String> {
        let digest = (self.digest)(&redact(statement), self.series.has_9_7_digests());
        digest.map(|(_, text)| text)
    }
}

/// What a session reads.
#[derive(Clone)]
pub enum Data {
    /// A segment.
    Segment(Arc<Segment>),
    /// What the extension's own tables read; the extension has all tables.
    Extension(Arc<dyn Any + Send + Sync>),
}

/// A session on a segment, or on what an extension has in its place.
pub(super) struct SegmentContext {
    pub(super) data: Data,
    programs: &'static dyn Programs,
    options: Arc<dyn Options + Send + Sync>,
    digest: DigestFn,
    /// `None` without a segment.
    activity: Option<Arc<ActivityLog>>,
    values: Mutex<Values>,
}

/// The values that statements change.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) database: Option<String>,
    /// Variables that SET has changed, by name.
    pub(super) system: HashMap<&'static str, String>,
    /// `@x`.
    pub(super) user: HashMap<String, Value>,
    pub(super) warnings: Vec<Warning>,
    pub(super) last_insert_id: i64,
    pub(super) row_count: i64,
    pub(super) found_rows: i64,
    /// GET_LOCK: how often each name is held. No other session can hold one.
    locks: HashMap<String, u32>,
}

impl fmt::Debug for SegmentContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentContext")
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

impl Data {
    pub(super) fn segment(&self) -> Option<&Arc<Segment>> {
        match self {
            Self::Segment(segment) => Some(segment),
            Self::Extension(_) => None,
        }
    }
}

impl SegmentContext {
    /// A new session.
    pub(super) fn new(
        data: Data,
        programs: &'static dyn Programs,
        options: Arc<dyn Options + Send + Sync>,
        digest: DigestFn,
    ) -> Self {
        let activity = data.segment().cloned().map(|segment| {
            ActivityLog::new(SegmentSessions {
                segment,
                digest,
                series: programs.series(),
            })
        });
        Self {
            digest,
            activity,
            data,
            programs,
            options,
            values: Mutex::new(Values {
                database: None,
                system: HashMap::new(),
                user: HashMap::new(),
                warnings: Vec::new(),
                last_insert_id: 0,
                row_count: -1,
                found_rows: 0,
                locks: HashMap::new(),
            }),
        }
    }

    pub(super) fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of one of the evaluator's own variables.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let set = self.values().system.get(name).cloned();
        let default = || {
            find(name)
                .filter(|_| is_own(name))
                .map(|v| v.default.to_owned())
        };
        set.or_else(default)
    }

    /// The kind of what is read, for messages.
    pub(super) fn source_kind(&self) -> &'static str {
        match self.data {
            Data::Segment(_) => "a segment",
            Data::Extension(_) => "a history",
        }
    }

    /// The mode by @@sql_mode in which statements are parsed.
    pub(super) fn mode(&self) -> Mode {
        Mode::of(&self.text("sql_mode").unwrap_or_default())
    }

    /// Adds a warning.
    pub(super) fn add_warning(&self, level: &'static str, code: u16, message: impl Into<String>) {
        let warnings = &mut self.values().warnings;
        if warnings.len() < MAX_WARNINGS {
            warnings.push(Warning {
                level,
                code,
                message: message.into(),
            });
        }
    }

    /// A variable of performance_schema, from the segment.
    fn segment_variable(&self, name: &str) -> Option<String> {
        let all = Snapshot::new(self.data.segment().cloned()).variables(Series::default());
        all.into_iter().find(|v| v.name == name).map(|v| v.value)
    }
}

impl SessionFacts for SegmentContext {
    fn series(&self) -> Series {
        self.programs.series()
    }

    fn database(&self) -> Option<String> {
        self.values().database.clone()
    }

    fn warnings(&self) -> Vec<Warning> {
        self.values().warnings.clone()
    }

    fn warn(&self, code: u16, message: &str) {
        self.add_warning("Warning", code, message);
    }
}

impl Source for SegmentContext {
    fn segment(&self) -> Option<Arc<Segment>> {
        self.data.segment().cloned()
    }

    fn activity_log(&self) -> Option<&Arc<ActivityLog>> {
        self.activity.as_ref()
    }

    fn variables(&self, scope: Scope) -> Vec<Variable> {
        let value = |variable: &variable::Variable| match scope {
            Scope::Session => self.text(variable.name).unwrap_or_default(),
            Scope::Global => variable.default.to_owned(),
        };
        let own = OWN.into_iter().filter_map(find);
        own.map(|variable| Variable::new(variable.name, value(variable)))
            .collect()
    }

    fn sys_config(&self) -> Option<&dyn Options> {
        Some(&*self.options)
    }

    fn extension(&self) -> Option<&'static dyn Extension> {
        Some(self.programs)
    }

    fn extension_data(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        match &self.data {
            Data::Segment(_) => None,
            Data::Extension(data) => Some(data.clone()),
        }
    }

    fn engine_version(&self) -> &str {
        rusqlite::version()
    }
}

impl EvaluationContext for SegmentContext {
    fn thread_id(&self) -> u64 {
        0
    }

    fn last_insert_id(&self) -> i64 {
        self.values().last_insert_id
    }

    fn set_last_insert_id(&self, id: i64) {
        self.values().last_insert_id = id;
    }

    fn row_count(&self) -> i64 {
        self.values().row_count
    }

    fn found_rows(&self) -> i64 {
        self.values().found_rows
    }

    fn count(&self, _: Counted) {}

    fn variable(&self, scope: &str, name: &str) -> Value {
        let text = match name {
            "last_insert_id" | "identity" => return Value::Integer(self.last_insert_id()),
            "pseudo_thread_id" => return Value::Integer(0),
            "warning_count" | "error_count" => {
                return Value::Integer(self.values().warnings.len() as i64);
            }
            "timestamp" => return Value::Real(tare_mysql::date::now_utc().0 as f64),
            _ if is_own(name) && scope == "global" => find(name).map(|v| v.default.to_owned()),
            _ if is_own(name) => self.text(name),
            _ if name.starts_with("performance_schema") => self.segment_variable(name),
            _ => None,
        };
        match (find(name), text) {
            (Some(variable), Some(text)) => owned(variable.value(&text)),
            _ => Value::Null,
        }
    }

    fn user_variable(&self, name: &str) -> Value {
        let value = self.values().user.get(name).cloned();
        value.unwrap_or(Value::Null)
    }

    fn set_user_variable(&self, name: &str, value: Value, _is_number: bool) {
        self.values().user.insert(name.to_owned(), value);
    }

    fn sys_option(&self, name: &str) -> Option<String> {
        let options = self.options.rows().into_iter();
        let mut named = options.filter(|o| o.variable.eq_ignore_ascii_case(name));
        named.next()?.value
    }

    fn instrument_default(&self, name: &str, timed: bool) -> bool {
        defaults::of_kind(name, timed)
    }

    fn sql_mode(&self) -> String {
        self.text("sql_mode").unwrap_or_default()
    }

    fn digest(&self, statement: &str) -> Option<(String, String)> {
        (self.digest)(statement, self.series().has_9_7_digests())
    }

    fn sleep(&self, seconds: f64) -> Result<bool> {
        std::thread::sleep(Duration::from_secs_f64(seconds.min(31_536_000.0)));
        Ok(false)
    }

    fn take_lock(&self, name: &str, _timeout: Option<Duration>) -> Result<bool> {
        *self.values().locks.entry(name.to_owned()).or_insert(0) += 1;
        Ok(true)
    }

    fn lock_owner(&self, name: &str) -> Option<u64> {
        self.values().locks.contains_key(name).then_some(self.id())
    }

    fn unlock(&self, name: &str) -> Option<bool> {
        let locks = &mut self.values().locks;
        let times = locks.get_mut(name)?;
        *times -= 1;
        if *times == 0 {
            locks.remove(name);
        }
        Some(true)
    }

    fn unlock_all(&self) -> u64 {
        let locks = std::mem::take(&mut self.values().locks);
        locks.into_values().map(u64::from).sum()
    }
}
