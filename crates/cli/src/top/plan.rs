//! The plan of the chosen statement: EXPLAIN of an example, or what a history has.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph, Wrap};
use tare_history::{Plan, PlanReason, PlanSeries, PlanTree, RecordedPlan, parse_time};

use super::prepared::is_prepared;
use super::snapshot::Key;
use super::theme::BOLD;
use crate::observe::{ObservedServer, QueryError, format, rows, sql_literal, text};
use crate::plans::{self, ExampleReader, Outcome};
use crate::sql::{SqlSession, local};

/// A statement whose plan is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    schema: Option<String>,
    digest: String,
    /// The digest's text.
    text: String,
}

/// What is known of a statement's plan, as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementPlan {
    /// The digest's text.
    title: String,
    lines: Vec<String>,
    /// The first line on the screen.
    top: u16,
}

impl Statement {
    /// Of the row with this key: its schema and its digest. The error is a sentence.
    pub fn new(key: &Key, text: String) -> Result<Self, String> {
        let [schema, Some(digest)] = &key[..] else {
            return Err("this row has no digest, so it has no plan".to_owned());
        };
        if is_prepared(key) {
            return Err("a prepared statement has no digest here, so it has no plan".to_owned());
        }
        Ok(Self {
            schema: schema.clone(),
            digest: digest.clone(),
            text,
        })
    }

    /// A remark in place of a plan.
    pub fn without_plan(&self, why: &str) -> StatementPlan {
        self.with_lines(vec![why.to_owned()])
    }

    fn with_lines(&self, lines: Vec<String>) -> StatementPlan {
        StatementPlan {
            title: self.text.clone(),
            lines,
            top: 0,
        }
    }

    /// Asks a server for the plan of an example. `reader` is opened at the first call.
    pub fn explain(
        &self,
        reader: &mut Option<ExampleReader>,
        observed: &ObservedServer,
    ) -> StatementPlan {
        let reader = match reader {
            Some(reader) => reader,
            None => match open(observed) {
                Ok(opened) => reader.insert(opened),
                Err(why) => return self.without_plan(&why),
            },
        };
        let key = (self.schema.clone(), self.digest.clone());
        let (outcome, message) = reader.read(&key, PlanReason::New);
        match outcome {
            Outcome::Plan(plan) | Outcome::TimedOut(plan) => self.with_lines(plan_lines(&plan)),
            Outcome::NoText => {
                let why = "the server has no text of this statement now";
                self.without_plan(message.as_deref().unwrap_or(why))
            }
            Outcome::Unreachable => {
                let why = "the server does not answer";
                self.without_plan(message.as_deref().unwrap_or(why))
            }
        }
    }

    /// The last plan of a history's range of time, and the one before if the plan changed.
    pub fn recorded(&self, history: &mut SqlSession) -> Result<StatementPlan, QueryError> {
        let schema = match &self.schema {
            Some(schema) => format!("= {}", sql_literal(schema)),
            None => "IS NULL".to_owned(),
        };
        let query = format!(
            "SELECT sampled_at, example, problem, plan, shape FROM plans WHERE digest = {} AND `schema` {schema} \
             ORDER BY sampled_at",
            sql_literal(&self.digest)
        );
        let mut series = PlanSeries::default();
        for row in rows(history, &query)? {
            series.add(PlanRow(row.iter().map(text).collect()));
        }
        let Some(last) = series.last() else {
            return Ok(self.without_plan("no plan of this statement was recorded until then"));
        };
        let mut lines = last.lines();
        if let Some(before) = series.before_change(last) {
            lines.push(String::new());
            lines.push("the plan changed; before:".to_owned());
            lines.extend(before.lines());
        }
        Ok(self.with_lines(lines))
    }
}

/// Opens a reader of plans. The error is a sentence.
fn open(observed: &ObservedServer) -> Result<ExampleReader, String> {
    let target = observed.target();
    let segment = match target.is_segment() {
        true => Some(local::attach(target.segment()).map_err(|failure| failure.message)?),
        false => None,
    };
    plans::reader(target, observed, segment.map(Arc::new)).ok_or_else(|| {
        "plans are those of MySQL and MariaDB: this server or program has none".to_owned()
    })
}

/// A row of a history's plans: when it was read, example, problem, plan, shape.
struct PlanRow(Vec<Option<String>>);

impl PlanRow {
    fn column(&self, column: usize) -> Option<&str> {
        self.0.get(column)?.as_deref()
    }

    fn lines(&self) -> Vec<String> {
        let heading = format!("read at {} UTC", self.column(0).unwrap_or_default());
        let plan = lines_of(self.column(1), self.column(2), self.column(3));
        std::iter::once(heading).chain(plan).collect()
    }
}

impl RecordedPlan for PlanRow {
    fn at(&self) -> SystemTime {
        let ms = parse_time(self.column(0).unwrap_or_default(), UNIX_EPOCH);
        UNIX_EPOCH + Duration::from_millis(ms.unwrap_or(0).max(0) as u64)
    }

    fn shape(&self) -> Option<&str> {
        self.column(4)
    }
}

fn plan_lines(plan: &Plan) -> Vec<String> {
    let (example, problem) = (plan.example.as_deref(), plan.problem.as_deref());
    lines_of(example, problem, plan.plan.as_deref())
}

/// The lines of an example, with its tree or the reason why there is none.
fn lines_of(example: Option<&str>, problem: Option<&str>, plan: Option<&str>) -> Vec<String> {
    let example = example.map(|example| format!("example: {example}"));
    let problem = problem.map(|problem| format!("no plan: {problem}"));
    let tree = plan.and_then(PlanTree::parse).unwrap_or_default();
    let tree = tree.lines().into_iter().map(|line| format!("  {line}"));
    (example.into_iter().chain(problem)).chain(tree).collect()
}

impl StatementPlan {
    /// Moves the lines so many up.
    pub fn scroll(&mut self, lines: i32) {
        let last = i32::try_from(self.lines.len()).unwrap_or(i32::MAX);
        let top = (i32::from(self.top) + lines).clamp(0, last);
        self.top = u16::try_from(top).unwrap_or(u16::MAX);
    }

    /// Draws it in place of the rows.
    pub fn draw(&self, frame: &mut Frame, area: Rect) {
        frame.render_widget(Clear, area);
        let title = Line::styled(format!("plan of {}", format::line(&self.title)), BOLD);
        let lines = self.lines.iter();
        let lines = lines.map(|line| Line::raw(format::line(line)));
        let lines: Vec<Line> = std::iter::once(title).chain(lines).collect();
        let text = Paragraph::new(lines).wrap(Wrap { trim: false });
        frame.render_widget(text.scroll((self.top, 0)), area);
    }
}
