//! Reads an example of a digest and asks the server for its plan, on a connection of its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tare_history::{Plan, PlanReason, PlanTree};
use tare_reader::Segment;

use super::check::{Explainable, check, possible_tables};
use super::due::DigestKey;
use super::mask::{mask_literals, mask_plan};
use crate::observe::{self, connect_to_listener, explain_refusal, sql_literal, text};
use crate::sql::{Answer, Local, SqlError, SqlSession, Target};

/// How long the server may take to answer. Then the connection is killed. The server's own limits are shorter.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// The server itself ends an EXPLAIN that takes longer, and a wait for a lock. Each may be unknown to it.
const LIMITS: [&str; 4] = [
    "SET max_execution_time = 900",
    "SET max_statement_time = 0.9",
    "SET lock_wait_timeout = 1, innodb_lock_wait_timeout = 1",
    // The form that MySQL 8.0 and MariaDB have, too.
    "SET explain_json_format_version = 1",
];

/// Settings of the server that change the meaning of a statement, and not where its texts end.
const MODES: [&str; 2] = ["PIPES_AS_CONCAT", "HIGH_NOT_PRECEDENCE"];

/// The largest plan that is recorded.
const MAX_PLAN_BYTES: usize = 256 << 10;

/// The most names in a statement that are looked up as views.
const MAX_NAMES: usize = 64;

/// Where a statement's text is, by digest and schema. MySQL 8 has the first, others have the consumers' tables.
const SAMPLES: [(&str, &str, &str); 4] = [
    (
        "QUERY_SAMPLE_TEXT",
        "events_statements_summary_by_digest",
        "SCHEMA_NAME",
    ),
    (
        "SQL_TEXT",
        "events_statements_history_long",
        "CURRENT_SCHEMA",
    ),
    ("SQL_TEXT", "events_statements_history", "CURRENT_SCHEMA"),
    ("SQL_TEXT", "events_statements_current", "CURRENT_SCHEMA"),
];

/// The beginnings of this module's queries of Performance Schema.
pub fn queries() -> impl Iterator<Item = String> {
    SAMPLES
        .into_iter()
        .map(|(column, table, _)| sample_query(column, table))
}

fn sample_query(column: &str, table: &str) -> String {
    format!("SELECT {column} FROM performance_schema.{table} WHERE DIGEST = ")
}

const MAX_TEXT_BYTES: &str = "SELECT @@performance_schema_max_sql_text_length";

const CONSUMERS: &str = "SELECT COUNT(*) FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' \
     AND NAME IN ('events_statements_current', 'events_statements_history', 'events_statements_history_long')";

/// What became of a digest.
pub enum Outcome {
    /// An example, with its plan or the reason why it has none.
    Plan(Plan),
    /// The same, and the server did not answer in time.
    TimedOut(Plan),
    /// The server has no text of it.
    NoText,
    /// The server cannot be reached.
    Unreachable,
}

/// The server's session, and what is known of it.
struct Session {
    session: SqlSession,
    connection: String,
    /// The length at which the server cuts texts.
    max_text_bytes: usize,
}

/// Reads examples and their plans.
pub struct ExampleReader {
    target: Option<Target>,
    segment: Option<Arc<Segment>>,
    session: Option<Session>,
    /// The segment's tables, in this process.
    local: Option<SqlSession>,
    /// Of [`SAMPLES`], those that the server refuses.
    without: HashSet<&'static str>,
    /// Whether the last call has sent EXPLAIN.
    pub is_explained: bool,
}

/// Why there is no plan.
enum PlanError {
    Refused(String),
    TimedOut,
    Lost,
}

impl ExampleReader {
    /// For a server that the user has named.
    pub fn of_server(target: Target) -> Self {
        Self::new(Some(target), None)
    }

    /// For the server of a segment.
    pub fn of_segment(segment: Arc<Segment>) -> Self {
        Self::new(None, Some(segment))
    }

    fn new(target: Option<Target>, segment: Option<Arc<Segment>>) -> Self {
        Self {
            target,
            segment,
            session: None,
            local: None,
            without: HashSet::new(),
            is_explained: false,
        }
    }

    /// Reads an example of a digest, and its plan if it may be explained. Also a reason why this and other digests have
    /// no plan.
    pub fn read(&mut self, key: &DigestKey, reason: PlanReason) -> (Outcome, Option<String>) {
        self.is_explained = false;
        let example = match self.read_example(key) {
            Ok(example) => example,
            Err(why) => return (Outcome::Unreachable, Some(why)),
        };
        let Some(example) = example else {
            return (Outcome::NoText, self.explain_missing_text());
        };
        let plan = empty_plan(key, reason, mask_literals(&example));
        let max = self
            .session
            .as_ref()
            .map_or(0, |session| session.max_text_bytes);
        // A character of up to four bytes may have been cut off, too.
        if example.ends_with("...") || example.len() + 4 > max {
            let problem =
                format!("its text is cut at {max} bytes (performance_schema_max_sql_text_length)");
            return (Outcome::Plan(with_problem(plan, &problem)), None);
        }
        let kind = match check(&example) {
            Ok(kind) => kind,
            Err(problem) => return (Outcome::Plan(with_problem(plan, problem)), None),
        };
        match self.explain(key, &example, kind) {
            Ok(json) => (Outcome::Plan(with_plan(plan, &json)), None),
            Err(PlanError::TimedOut) => {
                let problem = "EXPLAIN took more than a second";
                (Outcome::TimedOut(with_problem(plan, problem)), None)
            }
            Err(PlanError::Lost) => (Outcome::Unreachable, None),
            Err(PlanError::Refused(why)) => {
                let message = why.contains("GRANT").then(|| why.clone());
                // The server's message may quote the statement.
                let number = why.split(": ").next().unwrap_or_default();
                let problem = match message {
                    Some(_) => why.clone(),
                    None if number.starts_with("ERROR") => {
                        format!("the server refuses EXPLAIN: {number}")
                    }
                    None => why,
                };
                (Outcome::Plan(with_problem(plan, &problem)), message)
            }
        }
    }

    /// A text of the digest, the slowest one that the server has.
    fn read_example(&mut self, (schema, digest): &DigestKey) -> Result<Option<String>, String> {
        self.connect()?;
        let mut refusal = None;
        for (column, table, schema_column) in SAMPLES {
            if self.without.contains(table) {
                continue;
            }
            let of_schema = match schema {
                Some(schema) => format!("{schema_column} = {}", sql_literal(schema)),
                None => format!("{schema_column} IS NULL"),
            };
            let order = if column == "SQL_TEXT" {
                "ORDER BY TIMER_WAIT DESC"
            } else {
                ""
            };
            let query = format!(
                "{}{} AND {of_schema} AND {column} IS NOT NULL {order} LIMIT 1",
                sample_query(column, table),
                sql_literal(digest)
            );
            match self.query_tables(&query) {
                Ok(Some(text)) => return Ok(Some(text)),
                Ok(None) => {}
                Err(error) if is_lost(&error) => {
                    self.session = None;
                    return Err(error.to_string());
                }
                Err(error) => {
                    self.without.insert(table);
                    refusal = Some(explain_refusal(error.errno(), &error.to_string(), None));
                }
            }
        }
        match refusal.filter(|_| self.without.len() == SAMPLES.len()) {
            Some(why) => Err(why),
            None => Ok(None),
        }
    }

    /// The first value of a query of Performance Schema: of the segment, if it has one.
    fn query_tables(&mut self, query: &str) -> Result<Option<String>, SqlError> {
        let session = match (&mut self.local, &mut self.session) {
            (Some(local), _) => local,
            (None, Some(session)) => &mut session.session,
            (None, None) => return Ok(None),
        };
        first_value(session, query)
    }

    /// The reason if the server stores no texts at all.
    fn explain_missing_text(&mut self) -> Option<String> {
        let has_samples = !self.without.contains(SAMPLES[0].1);
        let on = self.query_tables(CONSUMERS).ok()?;
        (!has_samples && on.as_deref() == Some("0")).then(|| {
            "this server has texts of statements only while a consumer is on: UPDATE \
             performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('events_statements_current', \
             'events_statements_history_long')"
                .to_owned()
        })
    }

    /// The JSON of a statement's plan.
    fn explain(
        &mut self,
        (schema, _): &DigestKey,
        example: &str,
        kind: Explainable,
    ) -> Result<String, PlanError> {
        if let Some(schema) = schema {
            self.run(&format!("USE `{}`", schema.replace('`', "``")), schema)?;
        }
        let schema = schema.as_deref().unwrap_or_default();
        let transaction = match kind {
            // A view may call a stored function, which EXPLAIN may call. So it cannot change a table.
            Explainable::Select => "START TRANSACTION READ ONLY",
            // Of these the server demands a transaction that may change tables.
            Explainable::Change => {
                self.check_views(example, schema)?;
                "START TRANSACTION"
            }
        };
        self.run(transaction, schema)?;
        self.is_explained = true;
        let answer = self.run(&format!("EXPLAIN FORMAT=JSON {example}"), schema);
        let ended = self.run("ROLLBACK", schema);
        let answer = answer?;
        ended?;
        answer.ok_or_else(|| PlanError::Refused("EXPLAIN has no answer".to_owned()))
    }

    /// Refuses a statement that may change a table and use a view.
    fn check_views(&mut self, example: &str, schema: &str) -> Result<(), PlanError> {
        let names = possible_tables(example);
        let may_be_view = || {
            Err(PlanError::Refused(
                "it may use a view, whose functions could be called".to_owned(),
            ))
        };
        if names.len() > MAX_NAMES {
            return may_be_view();
        }
        let lookups = names.iter().map(|(of, name)| {
            format!(
                "SELECT 1 FROM information_schema.VIEWS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
                sql_literal(of.as_deref().unwrap_or(schema)),
                sql_literal(name)
            )
        });
        let lookups: Vec<String> = lookups.collect();
        match self.run(&lookups.join(" UNION ALL "), schema)? {
            Some(_) => may_be_view(),
            None => Ok(()),
        }
    }

    /// The first value of a statement on the server.
    fn run(&mut self, statement: &str, schema: &str) -> Result<Option<String>, PlanError> {
        let Some(session) = &mut self.session else {
            return Err(PlanError::Lost);
        };
        let error = match first_value(&mut session.session, statement) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match error.errno() {
            // The server has ended the statement at its limit.
            1969 | 3024 => Err(PlanError::TimedOut),
            _ if is_lost(&error) => {
                self.kill();
                Err(PlanError::TimedOut)
            }
            // ER_LOCK_WAIT_TIMEOUT
            1205 => Err(PlanError::Refused(
                "EXPLAIN waited a second for a lock".to_owned(),
            )),
            // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
            1792 => Err(PlanError::Refused(
                "it uses a view or function that changes a table".to_owned(),
            )),
            errno => {
                let schema = if schema.is_empty() { "*" } else { schema };
                let why = explain_refusal(errno, &error.to_string(), Some(schema));
                Err(PlanError::Refused(why))
            }
        }
    }

    /// The connection on the server.
    pub fn connection(&self) -> Option<u64> {
        self.session.as_ref()?.connection.parse().ok()
    }

    /// Ends the session in the server, which would go on with a statement whose client has gone.
    fn kill(&mut self) {
        let Some(lost) = self.session.take() else {
            return;
        };
        if let Ok(mut session) = self.open_session() {
            let _ = session.query(&format!("KILL {}", lost.connection));
        }
    }

    fn open_session(&self) -> Result<SqlSession, String> {
        match (&self.target, &self.segment) {
            (Some(target), _) => SqlSession::open_with_timeout(target, ANSWER_TIMEOUT)
                .map_err(|failure| failure.message),
            (None, Some(segment)) => connect_to_listener(segment.pid(), ANSWER_TIMEOUT),
            (None, None) => Err("there is no server".to_owned()),
        }
    }

    fn connect(&mut self) -> Result<(), String> {
        if let (Some(segment), None) = (&self.segment, &self.local) {
            let local = Local::new(Arc::clone(segment)).map_err(|failure| failure.message)?;
            self.local = Some(SqlSession::Local(Box::new(local)));
        }
        if self.session.is_some() {
            return Ok(());
        }
        let mut session = self.open_session()?;
        for limit in LIMITS {
            // A server without the variable is limited by the timeout alone.
            let _ = session.query(limit);
        }
        let mut value = |query: &str| first_value(&mut session, query).ok().flatten();
        let modes = value("SELECT @@GLOBAL.sql_mode").unwrap_or_default();
        let modes: Vec<&str> = modes
            .split(',')
            .filter(|mode| MODES.contains(mode))
            .collect();
        let connection = value("SELECT CONNECTION_ID()").ok_or("the server does not answer")?;
        if !modes.is_empty() {
            let _ = session.query(&format!("SET sql_mode = '{}'", modes.join(",")));
        }
        // Texts are of the segment, if there is one.
        let texts = self.local.as_mut().unwrap_or(&mut session);
        let max_text_bytes = first_value(texts, MAX_TEXT_BYTES).ok().flatten();
        let max_text_bytes = max_text_bytes.and_then(|bytes| bytes.parse().ok());
        self.session = Some(Session {
            session,
            connection,
            // MySQL 5.6 and early MariaDB have this limit, and no variable.
            max_text_bytes: max_text_bytes.filter(|bytes| *bytes > 0).unwrap_or(1024),
        });
        Ok(())
    }
}

/// A plan without an answer of EXPLAIN yet.
fn empty_plan(key: &DigestKey, reason: PlanReason, example: Option<String>) -> Plan {
    Plan {
        at: SystemTime::now(),
        schema: key.0.clone(),
        digest: key.1.clone(),
        reason,
        example,
        problem: None,
        plan: None,
        shape: None,
        full_scans: Vec::new(),
        indexes: Vec::new(),
    }
}

fn with_problem(plan: Plan, problem: &str) -> Plan {
    Plan {
        problem: Some(problem.to_owned()),
        ..plan
    }
}

fn with_plan(plan: Plan, json: &str) -> Plan {
    let masked = mask_plan(json).filter(|masked| masked.len() <= MAX_PLAN_BYTES);
    let (Some(masked), Some(tree)) = (masked, PlanTree::parse(json)) else {
        return with_problem(
            plan,
            "the server's answer to EXPLAIN is not in a form that Tare reads",
        );
    };
    Plan {
        shape: Some(tree.shape()),
        full_scans: tree.full_scans(),
        indexes: tree.indexes(),
        plan: Some(masked),
        ..plan
    }
}

fn first_value(session: &mut SqlSession, statement: &str) -> Result<Option<String>, SqlError> {
    Ok(match session.query(statement)? {
        Answer::Rows(rows) => rows.rows.first().and_then(|row| text(row.first()?)),
        Answer::Changed(_) => None,
    })
}

fn is_lost(error: &SqlError) -> bool {
    observe::is_lost(error.errno())
}
