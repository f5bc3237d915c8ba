//! Who asks the server: one question for each interval, about the page that is shown and nothing else.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tare_rows::time::timestamp;

use super::errors::Errors;
use super::kill::Kill;
use super::pulse::{Beat, Taker};
#[cfg(feature = "history")]
use super::replay::Replay;
use super::sheet::{Drill, Measure, Sheet};
use super::snapshot::{Key, Row, Snapshot, between};
use super::{blockers, errors, executions, idle, own};
use crate::observe::sampling::{self, Sampling};
use crate::observe::{ObservedServer, Product, QueryError};

/// A thread whose last statement was the execution of a prepared one, and that has no digest: MySQL before 9
/// counts those in prepared_statements_instances alone.
const WITHOUT_DIGEST: &str = "SELECT 1 FROM performance_schema.events_statements_history \
     WHERE EVENT_NAME = 'statement/com/Execute' AND DIGEST IS NULL \
     UNION ALL SELECT 1 FROM performance_schema.events_statements_current \
     WHERE EVENT_NAME = 'statement/com/Execute' AND DIGEST IS NULL AND END_EVENT_ID IS NOT NULL LIMIT 1";

/// MariaDB never has digests of them, and keeps no current statements by default.
const OF_MARIADB: &str = "SELECT 1 FROM performance_schema.events_statements_summary_global_by_event_name \
     WHERE EVENT_NAME = 'statement/com/Execute' AND COUNT_STAR > 0";

/// What is asked here beside a page's question.
pub fn questions() -> [&'static str; 3] {
    [WITHOUT_DIGEST, OF_MARIADB, sampling::QUERY]
}

/// What is looked at: a page, or what belongs to a row of one.
#[derive(Debug, Clone)]
pub struct Place {
    /// The page.
    pub sheet: &'static Sheet,
    /// The keys of the row one came from.
    pub keys: Key,
    /// How that row is called.
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

    /// What belongs to a row of this place.
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

    fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.sheet, other.sheet) && self.keys == other.keys
    }
}

/// An answer, in the figures of the interval.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The rows.
    pub rows: Vec<Row>,
    /// The interval; without one, since the server counts.
    pub seconds: Option<f64>,
    /// What is to be said about them.
    pub notes: Vec<String>,
    /// What the server samples, if it does.
    pub sampling: Option<String>,
    /// How the counters of these rows are sampled, if they are.
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
        let at = sheet.find(|kind| kind == Measure::Blocks);
        at.is_some_and(|at| self.rows.iter().any(|row| row.figures[at].number() > 0.0))
    }
}

/// What is watched.
pub enum Source {
    /// A server, or a segment.
    Live(Box<Sampler>),
    /// What was recorded.
    #[cfg(feature = "history")]
    Past(Box<Replay>),
}

impl Source {
    /// Asks about a place.
    pub fn sample(&mut self, place: &Place) -> Result<Answer, QueryError> {
        match self {
            Self::Live(sampler) => sampler.sample(place),
            #[cfg(feature = "history")]
            Self::Past(replay) => replay.sample(place),
        }
    }

    /// What the server did as a whole in the last interval.
    pub fn pulse(&mut self) -> Result<Option<Beat>, QueryError> {
        match self {
            Self::Live(sampler) => sampler.pulse(),
            #[cfg(feature = "history")]
            Self::Past(replay) => replay.pulse(),
        }
    }

    /// An interval has gone by, which is to be so long.
    pub fn advance(&mut self, every: Duration) {
        match self {
            Self::Live(_) => {}
            #[cfg(feature = "history")]
            Self::Past(replay) => {
                replay.set_length(every);
                replay.advance();
            }
        }
        #[cfg(not(feature = "history"))]
        let _ = every;
    }

    /// How long the next answer is waited for, where intervals are so long.
    pub fn pace(&self, every: Duration) -> Duration {
        match self {
            Self::Live(_) => every,
            #[cfg(feature = "history")]
            Self::Past(_) => every.min(Duration::from_secs(3)),
        }
    }

    /// Goes so many intervals forward in a history.
    pub fn step(&mut self, intervals: i64) {
        match self {
            Self::Live(_) => {}
            #[cfg(feature = "history")]
            Self::Past(replay) => replay.step(intervals),
        }
        #[cfg(not(feature = "history"))]
        let _ = intervals;
    }

    /// Whether what is shown has been recorded.
    pub fn is_past(&self) -> bool {
        !matches!(self, Self::Live(_))
    }

    /// Ends a statement or a connection, and says how that went.
    pub fn kill(&mut self, kill: &Kill) -> String {
        match self {
            Self::Live(sampler) => sampler.kill(kill),
            #[cfg(feature = "history")]
            Self::Past(_) => format!("{}: that is the past", kill.statement()),
        }
    }

    /// The processors of the machine that the server runs on, where that is this one.
    pub fn processors(&mut self) -> Option<f64> {
        match self {
            Self::Live(sampler) => sampler.processors(),
            #[cfg(feature = "history")]
            Self::Past(_) => None,
        }
    }

    /// Connects anew, after the server was lost.
    pub fn reopen(&mut self) -> Result<(), String> {
        match self {
            Self::Live(sampler) => sampler.reopen(),
            #[cfg(feature = "history")]
            Self::Past(_) => Ok(()),
        }
    }

    /// What is watched, for the headline.
    pub fn headline(&self) -> String {
        match self {
            Self::Live(sampler) => sampler.headline(),
            #[cfg(feature = "history")]
            Self::Past(replay) => replay.headline(),
        }
    }
}

/// Asks, and remembers the last answer.
pub struct Sampler {
    observed: ObservedServer,
    last: Option<(Place, Snapshot, Errors)>,
    /// Executions of prepared statements were seen that no digest counts.
    lacks_prepared: bool,
    pulse: Taker,
    /// Connections of this process that others of its threads have.
    others: Others,
}

/// Connections that are ours, too: those of a recorder.
pub type Others = Arc<Mutex<Vec<u64>>>;

impl Sampler {
    /// Over a server that is there.
    pub fn new(observed: ObservedServer, others: Others) -> Self {
        Self {
            observed,
            last: None,
            lacks_prepared: false,
            pulse: Taker::default(),
            others,
        }
    }

    /// What the server did as a whole since the last time. What was written into a file and has ended does nothing.
    pub fn pulse(&mut self) -> Result<Option<Beat>, QueryError> {
        let about = &self.observed.about;
        if !about.was_live || about.explain_empty_page().is_some() {
            return Ok(None);
        }
        if !self.observed.is_live()? {
            return Err(QueryError::Lost("the program has ended".into()));
        }
        self.pulse.take(&mut self.observed)
    }

    /// Ends a statement or a connection, and says how that went.
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
        if let Some(reason) = place.sheet.missing(&self.observed.about) {
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
        if place.sheet.from.is_empty() {
            let found = executions::look(&mut self.observed, &place.keys)?;
            return Ok(Answer {
                rows: found.rows,
                seconds: None,
                notes: found.notes,
                ..Answer::default()
            });
        }
        let before = self
            .last
            .take()
            .filter(|(of, _, _)| of.is(place))
            .map(|(_, snapshot, errors)| (snapshot, errors));
        let (before, errors_before) = before.unzip();
        // Two more seconds: times of rows have whole ones in old servers, and clocks step.
        let recent = before
            .as_ref()
            .map(|before| before.at.elapsed().as_secs() + 2);
        let rows = self
            .observed
            .rows(&place.sheet.question(&place.keys, recent))?;
        let sampling = Sampling::query(&mut self.observed)?;
        let errors = match sampling.is_on() {
            true => Errors::ask(&mut self.observed, place.sheet)?,
            false => Errors::default(),
        };
        let mut now = Snapshot::of(place.sheet, rows, Instant::now());
        if let (Some(before), Some(_)) = (&before, place.sheet.recent) {
            now = now.over(before);
        }
        // What was written into a file and has ended does not move: totals are all there is.
        let before = before.filter(|_| self.observed.about.was_live);
        let mut rows = between(place.sheet, before.as_ref(), &now);
        // To a segment nothing is sent.
        if !self.observed.about.is_segment {
            let mut own = self
                .others
                .lock()
                .map(|own| own.clone())
                .unwrap_or_default();
            own.push(self.observed.about.connection_id);
            own::leave_out(place.sheet, &mut rows, &own);
        }
        let seconds = before.map(|before| now.at.duration_since(before.at).as_secs_f64());
        errors.fill(place.sheet, errors_before.as_ref(), &mut rows, seconds);
        let estimated = sampling.rule(place.sheet.estimated);
        let mut notes = blockers::fill(&mut self.observed, place.sheet, &mut rows)?;
        notes.extend(
            estimated
                .as_ref()
                .map(|rule| errors::note(place.sheet, rule)),
        );
        if rows.is_empty() {
            // What is off is known for a segment that nobody writes, too.
            notes.push(match idle::off(&mut self.observed, place.sheet)? {
                Some(off) => off,
                None if now.rows.is_empty() && !place.sheet.hint.is_empty() => {
                    place.sheet.hint.to_owned()
                }
                None => "nothing happened in this interval".to_owned(),
            });
        }
        if matches!(place.sheet.drill, Drill::Executions) && self.lacks_prepared()? {
            notes.push(
                "executions of prepared statements are not here: this server has no digest of them; they are on page 9, prepared"
                    .into(),
            );
        }
        if !self.observed.about.was_live {
            notes.push("a saved segment: totals of the whole recording".into());
        }
        self.last = Some((place.clone(), now, errors));
        Ok(Answer {
            rows,
            seconds,
            notes,
            sampling: sampling.is_on().then(|| sampling.summary()),
            estimated,
            until_ms: None,
        })
    }

    /// Whether this server leaves executions of prepared statements out of its digests. Once seen it stays so.
    fn lacks_prepared(&mut self) -> Result<bool, QueryError> {
        if !self.lacks_prepared {
            let question = match self.observed.about.product {
                Product::MariaDb => OF_MARIADB,
                Product::Tare | Product::MySql => WITHOUT_DIGEST,
            };
            self.lacks_prepared = match self.observed.rows(question) {
                Ok(rows) => !rows.is_empty(),
                Err(QueryError::Refused(_)) => false,
                Err(lost) => return Err(lost),
            };
        }
        Ok(self.lacks_prepared)
    }

    /// Connects anew, after the server was lost; what was counted before is forgotten.
    pub fn reopen(&mut self) -> Result<(), String> {
        self.last = None;
        self.pulse = Taker::default();
        self.observed.reopen().map_err(|failure| failure.message)
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

/// What the screen wants.
#[derive(Debug)]
pub enum Wish {
    /// This place from now on.
    Look(Place),
    /// This often.
    Every(Duration),
    /// No questions until told otherwise.
    Pause(bool),
    /// Whether the page is on the screen; only the pulse is taken while it is not.
    Show(bool),
    /// So many intervals forward in a history; back, where it is below 0.
    Step(i64),
    /// Ends a statement or a connection.
    Kill(Kill),
}

/// What the screen is told.
#[derive(Debug)]
pub enum News {
    /// An answer about the place asked for last but, maybe, one.
    Answer(Place, Answer),
    /// The server cannot answer that.
    Refused(Place, String),
    /// The server is gone and is waited for.
    Lost(String),
    /// It is there, or there again; its headline, and how many processors it has if that is known.
    Back(String, Option<f64>),
    /// What it did as a whole.
    Beat(Beat),
    /// How something that was wished for went.
    Done(String),
}

/// Said of the last interval of a history.
pub const ENDS: &str = "the history ends here";

/// A time in UTC, to the second.
pub fn in_utc(ms: i64) -> String {
    let text = timestamp(ms.max(0).unsigned_abs().saturating_mul(1000));
    text.get(..19).unwrap_or(&text).to_owned()
}
