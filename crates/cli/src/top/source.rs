//! Queries the server: one query per interval, for the page on the screen.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tare_history::Value;

use super::average::AverageLoad;
use super::blockers::Blocked;
use super::errors::Errors;
use super::kill::Kill;
use super::load::{Load, LoadReader};
use super::plan::{Statement, StatementPlan};
use super::processes::ProcessSampler;
use super::replay::Replay;
use super::sheet::{Drill, Measure, Sheet};
use super::snapshot::{Key, Row, Snapshot, growth};
use super::states::States;
use super::{blockers, errors, executions, idle, last_statements, own, prepared, transactions};
use crate::observe::innodb::InnodbReader;
use crate::observe::sampling::{self, Sampling};
use crate::observe::server_status::StatusReader;
use crate::observe::{ObservedServer, Product, QueryError};
use crate::output::Cell;
use crate::plans::ExampleReader;

/// Finds executions of prepared statements without a digest, which MySQL before 9 counts only in
/// prepared_statements_instances.
const WITHOUT_DIGEST: &str = "SELECT 1 FROM performance_schema.events_statements_history \
     WHERE EVENT_NAME = 'statement/com/Execute' AND DIGEST IS NULL \
     UNION ALL SELECT 1 FROM performance_schema.events_statements_current \
     WHERE EVENT_NAME = 'statement/com/Execute' AND DIGEST IS NULL AND END_EVENT_ID IS NOT NULL LIMIT 1";

/// The same for MariaDB, which has no digests of them, and no current statements by default.
const WITHOUT_DIGEST_IN_MARIADB: &str = "SELECT 1 FROM performance_schema.events_statements_summary_global_by_event_name \
     WHERE EVENT_NAME = 'statement/com/Execute' AND COUNT_STAR > 0";

/// The queries of this module in addition to those of pages.
pub fn queries() -> [&'static str; 3] {
    [WITHOUT_DIGEST, WITHOUT_DIGEST_IN_MARIADB, sampling::QUERY]
}

/// A page, or a drill-down from a row.
#[derive(Debug, Clone)]
pub struct Place {
    /// The page.
    pub sheet: &'static Sheet,
    /// The keys of the row that was drilled down from.
    pub keys: Key,
    /// A title for that row.
    pub title: String,
}

impl Place {
    /// A page.
    pub fn page(sheet: &'static Sheet) -> Self {
        Self {
            sheet,
            keys: Key::new(),
            title: String::new(),
        }
    }

    /// The drill-down from a row of this place.
    pub fn below(&self, row: &Row, title: String) -> Option<Self> {
        let sheet = match self.sheet.drill {
            Drill::None => return None,
            Drill::Executions => &super::drills::EXECUTIONS,
            Drill::To(sheet) => sheet,
        };
        Some(Self {
            sheet,
            keys: row.key.clone(),
            title,
        })
    }

    fn equals(&self, other: &Self) -> bool {
        std::ptr::eq(self.sheet, other.sheet) && self.keys == other.keys
    }
}

/// An answer, in the figures of the interval.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The rows.
    pub rows: Vec<Row>,
    /// The length of the interval; `None` for totals.
    pub seconds: Option<f64>,
    /// Remarks.
    pub notes: Vec<String>,
    /// The server's sampling rules if it samples, or its exact window.
    pub sampling: Option<String>,
    /// The sampling rule for these rows, if they are sampled.
    pub estimated: Option<String>,
    /// The end of an interval of a history, in milliseconds since 1970.
    pub until_ms: Option<i64>,
}

impl Answer {
    /// Whether its counters are estimates.
    pub fn is_estimated(&self) -> bool {
        self.estimated.is_some()
    }

    /// Whether any of its sessions waits for another.
    pub fn has_blocked(&self, sheet: &Sheet) -> bool {
        let at = sheet.find(|kind| kind == Measure::BlockedBy);
        at.is_some_and(|at| self.rows.iter().any(|row| row.figures[at].is_waiting()))
    }
}

/// A source of answers.
pub enum Source {
    /// A server, or a segment.
    Live(Box<Sampler>),
    /// A process without a segment, and the processes below it.
    Processes(Box<ProcessSampler>),
    /// A history.
    Past(Box<Replay>),
}

impl Source {
    /// Queries a place.
    pub fn sample(&mut self, place: &Place) -> Result<Answer, QueryError> {
        match self {
            Self::Live(sampler) => sampler.sample(place),
            Self::Processes(sampler) => sampler.sample(place),
            Self::Past(replay) => replay.sample(place),
        }
    }

    /// The server's load in the last interval.
    pub fn load(&mut self) -> Result<Option<Load>, QueryError> {
        match self {
            Self::Live(sampler) => sampler.load(),
            Self::Processes(_) => Ok(None),
            Self::Past(replay) => replay.load(),
        }
    }

    /// The average load of an interval: the next one, or the current one of a history.
    pub fn average_load(&mut self, length: Duration) -> Result<AverageLoad, QueryError> {
        match self {
            Self::Live(sampler) => sampler.average_load(length),
            Self::Processes(_) => Err(QueryError::Refused("a process has no statements".into())),
            Self::Past(replay) => {
                replay.set_length(length);
                replay.average_load()
            }
        }
    }

    /// Advances a history by an interval of this length.
    pub fn advance(&mut self, every: Duration) {
        match self {
            Self::Live(_) | Self::Processes(_) => {}
            Self::Past(replay) => {
                replay.set_length(every);
                replay.advance();
            }
        }
    }

    /// The time between two answers, for intervals of this length.
    pub fn pace(&self, every: Duration) -> Duration {
        match self {
            Self::Live(_) | Self::Processes(_) => every,
            Self::Past(_) => every.min(Duration::from_secs(3)),
        }
    }

    /// Moves so many intervals forward in a history.
    pub fn step(&mut self, intervals: i64) {
        match self {
            Self::Live(_) | Self::Processes(_) => {}
            Self::Past(replay) => replay.step(intervals),
        }
    }

    /// Whether this is a history.
    pub fn is_past(&self) -> bool {
        !matches!(self, Self::Live(_) | Self::Processes(_))
    }

    /// Executes a KILL and returns a message about the outcome.
    pub fn kill(&mut self, kill: &Kill) -> String {
        match self {
            Self::Live(sampler) => sampler.kill(kill),
            Self::Processes(_) => format!("{}: a process has no sessions", kill.statement()),
            Self::Past(_) => format!("{}: that is the past", kill.statement()),
        }
    }

    /// Reads the plan of a statement.
    pub fn plan(&mut self, of: &Statement) -> StatementPlan {
        match self {
            Self::Live(sampler) => of.explain(&mut sampler.plans, &sampler.observed),
            Self::Processes(_) => of.without_plan("a process has no statements"),
            Self::Past(replay) => replay.plan(of),
        }
    }

    /// The processors of the machine that the server runs on, where that is this one.
    pub fn processors(&mut self) -> Option<f64> {
        match self {
            Self::Live(sampler) => sampler.processors(),
            Self::Processes(_) => None,
            Self::Past(_) => None,
        }
    }

    /// Whether it may answer again after it was lost.
    pub fn may_return(&self) -> bool {
        !matches!(self, Self::Processes(_))
    }

    /// Connects anew, after the server was lost.
    pub fn reopen(&mut self) -> Result<(), String> {
        match self {
            Self::Live(sampler) => sampler.reopen(),
            // Another process may have its id by now.
            Self::Processes(_) => Err("the process has ended".into()),
            Self::Past(_) => Ok(()),
        }
    }

    /// The name for the headline.
    pub fn headline(&self) -> String {
        match self {
            Self::Live(sampler) => sampler.headline(),
            Self::Processes(sampler) => sampler.headline(),
            Self::Past(replay) => replay.headline(),
        }
    }
}

/// Queries a server, and compares with the last answer.
pub struct Sampler {
    observed: ObservedServer,
    last: Option<(Place, Snapshot, Errors)>,
    /// Whether there were executions of prepared statements without a digest.
    lacks_prepared: bool,
    load: LoadReader,
    /// Row locks and transactions that Tare's engine does not have.
    innodb: Option<InnodbReader>,
    /// The status of a server.
    status: StatusReader,
    /// What sessions of a stock server do.
    states: States,
    /// Plans, once one was requested.
    plans: Option<ExampleReader>,
    /// Connections of other threads of this process.
    others: Others,
}

/// Connections of this process's recorder.
pub type Others = Arc<Mutex<Vec<u64>>>;

impl Sampler {
    /// For a connected server.
    pub fn new(observed: ObservedServer, others: Others) -> Self {
        Self {
            innodb: observed.innodb(),
            observed,
            last: None,
            lacks_prepared: false,
            load: LoadReader::default(),
            status: StatusReader::default(),
            states: States::default(),
            plans: None,
            others,
        }
    }

    /// The server's load since the last call; `None` for a saved segment.
    pub fn load(&mut self) -> Result<Option<Load>, QueryError> {
        let about = &self.observed.about;
        if !about.was_live || about.explain_empty_page().is_some() {
            return Ok(None);
        }
        if !self.observed.is_live()? {
            return Err(QueryError::Lost("the program has ended".into()));
        }
        self.load.read(&mut self.observed)
    }

    /// The average load of the next interval.
    fn average_load(&mut self, length: Duration) -> Result<AverageLoad, QueryError> {
        let about = &self.observed.about;
        if let Some(reason) = about.explain_empty_page() {
            return Err(QueryError::Refused(reason.to_owned()));
        }
        if !about.was_live {
            let why =
                "the program has ended and has no load; top_statements and waits have its totals";
            return Err(QueryError::Refused(why.to_owned()));
        }
        AverageLoad::measure(&mut self.observed, length)
    }

    /// Executes a KILL and returns a message about the outcome.
    pub fn kill(&mut self, kill: &Kill) -> String {
        kill.run(&mut self.observed)
    }

    /// The processors of the machine that the server runs on, where that is this one.
    pub fn processors(&mut self) -> Option<f64> {
        let pid = self.observed.find_process().ok()?.ok();
        let count = std::thread::available_parallelism().ok()?;
        pid.map(|_| count.get() as f64)
    }

    /// Asks about a place.
    pub fn sample(&mut self, place: &Place) -> Result<Answer, QueryError> {
        if place.sheet.is_status {
            return self.read_status(place);
        }
        if let Some(reason) = place.sheet.missing_reason(&self.observed.about) {
            return Err(QueryError::Refused(reason));
        }
        if let Some(reason) = self.observed.about.explain_empty_page() {
            return Err(QueryError::Refused(reason.to_owned()));
        }
        if self.observed.about.was_live && !self.observed.is_live()? {
            return Err(QueryError::Lost(
                "the program has ended; these were its last figures".into(),
            ));
        }
        let sampling = Sampling::query(&mut self.observed)?;
        if place.sheet.from.is_empty() {
            return self.read_executions(place, sampling.is_active());
        }
        let before = self
            .last
            .take()
            .filter(|(of, _, _)| of.equals(place))
            .map(|(_, snapshot, errors)| (snapshot, errors));
        let (before, errors_before) = before.unzip();
        // Two seconds more, because old servers round times to seconds, and clocks step.
        let recent = before
            .as_ref()
            .map(|before| before.at.elapsed().as_secs() + 2);
        let about = &self.observed.about;
        let has_states = about.product == Product::Tare && about.was_live;
        let with_states = place.sheet.with_states.filter(|_| has_states);
        let queried = with_states.unwrap_or(place.sheet);
        let query = prepared::query(about, place.sheet, queried.query(&place.keys, recent));
        let has_prepared = prepared::has_prepared(about, place.sheet);
        let rows = self.observed.rows(&query)?;
        let blocked = Blocked::from_states(with_states, &rows);
        let errors = match sampling.is_on() {
            true => Errors::query(&mut self.observed, place.sheet)?,
            false => Errors::default(),
        };
        let mut now = Snapshot::new(place.sheet, rows, Instant::now());
        if let (Some(before), Some(_)) = (&before, place.sheet.recent) {
            now = now.with_older_rows(before);
        }
        // A saved segment has only totals.
        let before = before.filter(|_| self.observed.about.was_live);
        let mut rows = growth(place.sheet, before.as_ref(), &now);
        self.remove_own(place.sheet, &mut rows);
        let seconds = before.map(|before| now.at.duration_since(before.at).as_secs_f64());
        errors.fill(place.sheet, errors_before.as_ref(), &mut rows, seconds);
        let estimated = sampling.rule(place.sheet.estimated);
        let mut notes =
            self.fill_sessions(place.sheet, &mut rows, sampling.is_active(), blocked)?;
        notes.extend(
            estimated
                .as_ref()
                .map(|rule| errors::note(place.sheet, rule)),
        );
        if rows.is_empty() {
            let is_unread = now.rows.is_empty();
            notes.extend(self.explain_no_rows(place, is_unread, sampling.is_active())?);
        }
        if sampling.is_active() {
            notes.push(sampling::active_note(self.observed.about.was_live));
        }
        if matches!(place.sheet.drill, Drill::Executions) && self.lacks_prepared()? {
            notes.push(prepared::place_note(has_prepared).into());
        }
        if !self.observed.about.was_live {
            notes.push("a saved segment: totals of the entire recording".into());
        }
        self.last = Some((place.clone(), now, errors));
        Ok(Answer {
            rows,
            seconds,
            notes,
            sampling: sampling.headline(),
            estimated,
            until_ms: None,
        })
    }

    /// Fills in the transactions, blockers, last statements and states of a page's sessions. Returns notes.
    fn fill_sessions(
        &mut self,
        sheet: &Sheet,
        rows: &mut [Row],
        is_active: bool,
        blocked: Blocked,
    ) -> Result<Vec<String>, QueryError> {
        let (observed, innodb) = (&mut self.observed, self.innodb.as_mut());
        let transactions = transactions::fill(observed, innodb, sheet, rows, is_active)?;
        let (innodb, is_complete) = (self.innodb.as_mut(), transactions.is_complete);
        let mut notes = blockers::fill(observed, innodb, sheet, rows, is_complete, blocked)?;
        notes.extend(transactions.note);
        // At the level active there are no ended statements.
        if !is_active {
            notes.extend(last_statements::fill(observed, sheet, rows)?);
        }
        notes.extend(self.states.fill(observed, sheet, rows)?);
        Ok(notes)
    }

    /// A page of the server's status, which needs no Performance Schema.
    fn read_status(&mut self, place: &Place) -> Result<Answer, QueryError> {
        let sheet = place.sheet;
        let own = self.own_connections();
        let Some(innodb) = &mut self.innodb else {
            let why = format!(
                "{} is no MySQL or MariaDB, and has no {}",
                self.headline(),
                sheet.name
            );
            return Err(QueryError::Refused(why));
        };
        let segment = self.observed.segment_session();
        let status = self.status.read(innodb.session(), segment, &own);
        let names: Vec<&str> = sheet.columns.iter().map(|column| column.sql).collect();
        let cell = |value| match value {
            Value::Long(n) => n.map_or(Cell::Null, Cell::Signed),
            Value::Double(x) => x.map_or(Cell::Null, Cell::Real),
            Value::Text(text) => text.map_or(Cell::Null, |text| Cell::Text(text.to_owned())),
        };
        let rows = status.select(sheet.name, &names).into_iter();
        let rows = rows.map(|row| row.into_iter().map(cell).collect());
        let now = Snapshot::new(sheet, rows.collect(), Instant::now());
        let rows = growth(sheet, None, &now);
        let before = self.last.take().filter(|(of, ..)| of.equals(place));
        let seconds = before.map(|(_, before, _)| now.at.duration_since(before.at).as_secs_f64());
        self.last = Some((place.clone(), now, Errors::default()));
        let hint = (rows.is_empty() && !sheet.hint.is_empty()).then(|| sheet.hint.to_owned());
        let mut notes = status.unread;
        // What could not be read may be there.
        notes.extend(hint.filter(|_| notes.is_empty()));
        Ok(Answer {
            rows,
            seconds,
            notes,
            ..Answer::default()
        })
    }

    /// The last executions of a statement.
    fn read_executions(&mut self, place: &Place, is_active: bool) -> Result<Answer, QueryError> {
        let drill_down = executions::read(&mut self.observed, &place.keys, is_active)?;
        Ok(Answer {
            rows: drill_down.rows,
            seconds: None,
            notes: drill_down.notes,
            ..Answer::default()
        })
    }

    /// Removes this program's own rows from a page.
    fn remove_own(&self, sheet: &Sheet, rows: &mut Vec<Row>) {
        let own = self.own_connections();
        if !own.is_empty() {
            own::remove(sheet, rows, &own);
        }
    }

    /// This program's own connections.
    fn own_connections(&self) -> Vec<u64> {
        let innodb_connection = self.innodb.as_ref().and_then(InnodbReader::connection);
        let of_plans = self.plans.as_ref().and_then(ExampleReader::connection);
        let mut own: Vec<u64> = innodb_connection.into_iter().chain(of_plans).collect();
        // Nothing else is sent to a segment's program.
        if !self.observed.about.is_segment {
            own.push(self.observed.about.connection_id);
            own.extend(self.others.lock().iter().flat_map(|own| own.iter()));
        }
        own
    }

    /// Why a page has no row, if it is not the level `active`; `is_unread`: the server has none either.
    fn explain_no_rows(
        &mut self,
        place: &Place,
        is_unread: bool,
        is_active: bool,
    ) -> Result<Option<String>, QueryError> {
        // This works for a saved segment, too.
        let off = idle::find_disabled(&mut self.observed, place.sheet, is_active)?;
        Ok(match off {
            Some(off) => Some(off),
            None if is_active => Some("threads (7) has what each session does now".to_owned()),
            None if is_unread && !place.sheet.hint.is_empty() => Some(place.sheet.hint.to_owned()),
            None => Some("nothing happened in this interval".to_owned()),
        })
    }

    /// Whether this server's digests lack executions of prepared statements. Once true, it stays true.
    fn lacks_prepared(&mut self) -> Result<bool, QueryError> {
        if !self.lacks_prepared {
            let query = match self.observed.about.product {
                Product::MariaDb => WITHOUT_DIGEST_IN_MARIADB,
                Product::Tare | Product::MySql => WITHOUT_DIGEST,
            };
            self.lacks_prepared = match self.observed.rows(query) {
                Ok(rows) => !rows.is_empty(),
                Err(QueryError::Refused(_)) => false,
                Err(lost) => return Err(lost),
            };
        }
        Ok(self.lacks_prepared)
    }

    /// Connects again after the server was lost, and forgets the last answer.
    pub fn reopen(&mut self) -> Result<(), String> {
        self.last = None;
        self.load = LoadReader::default();
        self.states = States::default();
        self.observed.reopen().map_err(|failure| failure.message)?;
        self.innodb = self.observed.innodb();
        Ok(())
    }

    /// The server's name, for the headline.
    pub fn headline(&self) -> String {
        format!(
            "{} ({})",
            self.observed.about.name,
            self.observed.about.server()
        )
    }
}

/// A request of the screen.
#[derive(Debug)]
pub enum Request {
    /// Query this place from now on.
    Open(Place),
    /// Query at this interval.
    Every(Duration),
    /// Pause queries, or continue.
    Pause(bool),
    /// Whether the page is on the screen. Otherwise only the load is queried.
    Visible(bool),
    /// Move so many intervals forward in a history, or back if negative.
    Step(i64),
    /// Execute a KILL.
    Kill(Kill),
    /// Read the plan of a statement.
    Plan(Statement),
}

/// An update for the screen.
#[derive(Debug)]
pub enum Update {
    /// An answer about a place, which may be the one before the last.
    Answer(Place, Answer),
    /// The server refused the query.
    Refused(Place, String),
    /// The server is gone.
    Lost(String),
    /// The server is connected (again): its headline, and its processors if they are known.
    Back(String, Option<f64>),
    /// Its load.
    Load(Load),
    /// The outcome of a KILL.
    Done(String),
    /// The plan of a statement.
    Plan(StatementPlan),
}

/// The remark on the last interval of a history.
pub const HISTORY_ENDS: &str = "the history ends here";
