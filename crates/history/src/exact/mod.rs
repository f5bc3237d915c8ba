//! Exact windows by rule: when a condition holds, and the budget has enough left, the observed program counts
//! every event for a while. `docs/exact-windows.md` describes them.

mod budget;
mod condition;
mod manual;
mod meter;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_reader::{ExactError, ExactWindow, Segment, process};

use self::budget::Ledger;
pub use self::condition::{Condition, Metric};
pub use self::manual::ManualWindow;
use self::meter::Meter;
use crate::query::{Query, QueryError};
use crate::sample::Moment;
use crate::segment::is_exact;

/// When exact windows open, and what they may cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactRule {
    /// When a window opens.
    pub condition: Condition,
    /// The length of a window.
    pub length: Duration,
    /// The part of the program's CPU time that windows may cost in an hour.
    pub share: f64,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// A window is to be [opened](ExactWindows::open).
    Open,
    /// The window is to be [ended](ExactWindows::end), or has ended.
    End,
}

/// The interval of readings of CPU time and costs.
const READING_INTERVAL: Duration = Duration::from_secs(1);

const COST: &str = "SELECT SUM(sum_cost) FROM tare.cost_by_event_name";

/// Opens exact windows of one program. Dropping it ends an open window.
#[derive(Debug)]
pub struct ExactWindows {
    segment: Arc<Segment>,
    length: Duration,
    share: f64,
    meter: Meter,
    ledger: Ledger,
    last_reading: Instant,
    open: Option<OpenWindow>,
    /// Why no window opens while the condition holds, as the log says.
    refused: Option<Refusal>,
}

/// Why no window opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// It would cost more than the budget has left.
    Budget,
    /// The level is not `active`.
    Level,
    /// Another reader has opened one.
    Other,
}

#[derive(Debug)]
struct OpenWindow {
    window: ExactWindow,
    opened: Instant,
    /// Seconds of CPU that all instrumentation had cost before.
    cost_before: f64,
    cpu_before: f64,
    /// What it has cost so far.
    cost: f64,
    /// What it may cost.
    most: f64,
}

impl ExactWindows {
    /// The windows of a program, whose settings this process may change.
    ///
    /// # Errors
    /// A sentence that says why there can be no windows.
    pub fn new(segment: Arc<Segment>, rule: ExactRule) -> Result<Self, String> {
        segment.writable().map_err(|error| error.to_string())?;
        let cpu = cpu_seconds(segment.pid())?;
        let cpus = std::thread::available_parallelism().map_or(1.0, |cpus| cpus.get() as f64);
        Ok(Self {
            segment,
            length: rule.length,
            share: rule.share,
            meter: Meter::new(rule.condition, cpus),
            ledger: Ledger::new(rule.share, Instant::now(), cpu),
            last_reading: Instant::now(),
            open: None,
            refused: None,
        })
    }

    /// Whether a window of this rule is open, or was not ended yet.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// When the window is to be [ended](Self::end), if one is open.
    pub fn end_time(&self) -> Option<Instant> {
        self.open.as_ref().map(|open| open.opened + self.length)
    }

    /// Whether the program counts every event now.
    pub fn is_exact(&self) -> bool {
        is_exact(self.segment.view())
    }

    /// Adds a moment, and returns what is due. `report` gets lines for the log.
    ///
    /// # Errors
    /// [`QueryError`].
    pub fn follow(
        &mut self,
        moment: &Moment,
        server: &mut dyn Query,
        report: &mut dyn FnMut(String),
    ) -> Result<Due, QueryError> {
        let now = Instant::now();
        let holds = self.meter.add(moment, now, server)?;
        let is_reading = now - self.last_reading >= READING_INTERVAL;
        if is_reading {
            self.last_reading = now;
            self.read_cpu(now)?;
        }
        if self.open.is_some() {
            let is_over = self.is_over(is_reading, server)?;
            return Ok(if is_over { Due::End } else { Due::Nothing });
        }
        if !self.meter.is_met() {
            self.refused = None;
        }
        if !holds || self.refused.is_some() && !is_reading {
            return Ok(Due::Nothing);
        }
        // Before growth is recorded for the window.
        if let Err(error) = ExactWindow::check(&self.segment) {
            self.refuse(error, report)?;
            return Ok(Due::Nothing);
        }
        let (cost, allowance) = (self.ledger.estimate(self.length), self.ledger.allowance());
        if cost < allowance.left {
            return Ok(Due::Open);
        }
        if self.set_refusal(Refusal::Budget) {
            report(format!(
                "exact window refused by the budget: {}, and a window of {} s would cost about {cost:.2} s of CPU. \
                 The budget has {:.2} s left: {} % of the {:.1} s that the program used in the last hour, \
                 less what windows cost",
                self.holding(),
                self.length.as_secs_f64(),
                allowance.left,
                self.share * 100.0,
                allowance.used,
            ));
        }
        Ok(Due::Nothing)
    }

    /// Opens a window.
    ///
    /// # Errors
    /// [`QueryError`].
    pub fn open(
        &mut self,
        server: &mut dyn Query,
        report: &mut dyn FnMut(String),
    ) -> Result<(), QueryError> {
        let cost_before = read_cost(server)?;
        // The program ends the window later than this and its length.
        let opened = Instant::now();
        match ExactWindow::open(&self.segment, self.length) {
            Ok(window) => {
                report(format!(
                    "exact window opened for {} s: {}",
                    self.length.as_secs_f64(),
                    self.holding()
                ));
                self.refused = None;
                self.open = Some(OpenWindow {
                    window,
                    opened,
                    cost_before,
                    cpu_before: self.ledger.cpu(),
                    cost: 0.0,
                    most: self.ledger.allowance().left,
                });
            }
            Err(error) => self.refuse(error, report)?,
        }
        Ok(())
    }

    /// Ends the window, if one is open, and adds up what it cost.
    ///
    /// # Errors
    /// [`QueryError`]. The window has ended all the same.
    pub fn end(
        &mut self,
        server: &mut dyn Query,
        report: &mut dyn FnMut(String),
    ) -> Result<(), QueryError> {
        let Some(OpenWindow {
            window,
            opened,
            cost_before,
            cpu_before,
            cost,
            ..
        }) = self.open.take()
        else {
            return Ok(());
        };
        let was_open = window.is_open();
        drop(window);
        let seconds = opened.elapsed().as_secs_f64();
        self.meter.restart();
        let read = read_cost(server).map(|now| grown(cost_before, now));
        // What was read last is at least counted if the program has ended.
        let total = *read.as_ref().unwrap_or(&cost);
        let has_read_cpu = self.read_cpu(Instant::now());
        let cpu = self.ledger.cpu() - cpu_before;
        self.ledger.spend(total, cpu);
        let allowance = self.ledger.allowance();
        let by = match was_open || seconds >= self.length.as_secs_f64() {
            true => "",
            false => ", by a change of the sampling rules",
        };
        report(format!(
            "exact window ended after {seconds:.1} s{by}: it cost {total:.3} s of the {cpu:.2} s of CPU that the \
             program used in it; the budget has {:.2} s left",
            allowance.left
        ));
        read.and(has_read_cpu)
    }

    /// Whether the window has ended, or has to.
    fn is_over(&mut self, is_reading: bool, server: &mut dyn Query) -> Result<bool, QueryError> {
        let Some(open) = &mut self.open else {
            return Ok(false);
        };
        if !open.window.is_open() || open.opened.elapsed() >= self.length {
            return Ok(true);
        }
        if !is_reading {
            return Ok(false);
        }
        let before = open.cost;
        open.cost = grown(open.cost_before, read_cost(server)?);
        // The next second may cost as much as the last.
        Ok(open.cost + (open.cost - before) >= open.most)
    }

    /// Reports once why no window opens.
    fn refuse(
        &mut self,
        error: ExactError,
        report: &mut dyn FnMut(String),
    ) -> Result<(), QueryError> {
        let refusal = match &error {
            ExactError::NotActive { .. } => Refusal::Level,
            ExactError::Open { .. } => Refusal::Other,
            ExactError::Write(error) => return Err(QueryError::Lost(error.to_string())),
        };
        if self.set_refusal(refusal) {
            report(format!("no exact window is opened: {error}"));
        }
        Ok(())
    }

    /// Stores why no window opens. Returns whether the log does not say so yet.
    fn set_refusal(&mut self, refusal: Refusal) -> bool {
        self.refused.replace(refusal) != Some(refusal)
    }

    fn read_cpu(&mut self, now: Instant) -> Result<(), QueryError> {
        let cpu = cpu_seconds(self.segment.pid()).map_err(QueryError::Lost)?;
        self.ledger.read(now, cpu);
        Ok(())
    }

    /// The condition and the value that meets it.
    fn holding(&self) -> String {
        let condition = self.meter.condition();
        let (metric, value) = (condition.metric().name(), self.meter.value());
        format!("{condition}, and {metric} is {value:.1}")
    }
}

/// Seconds of CPU that instrumentation has cost.
fn read_cost(server: &mut dyn Query) -> Result<f64, QueryError> {
    let rows = server.query(COST)?;
    let text = rows.first().and_then(|row| row.first()?.as_deref());
    let ps: Option<f64> = text.and_then(|text| text.parse().ok());
    Ok(ps.unwrap_or(0.0) * 1e-12)
}

/// The growth of a cost. It is complete if it is less than before: summaries were truncated.
fn grown(before: f64, now: f64) -> f64 {
    if now < before { now } else { now - before }
}

/// Seconds of CPU that a process has used.
fn cpu_seconds(pid: u32) -> Result<f64, String> {
    process::cpu_seconds(pid)
        .ok_or_else(|| format!("the CPU time of process {pid} cannot be read, or it has ended"))
}
