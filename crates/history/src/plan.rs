//! Plans of statements: an example of a statement, and what EXPLAIN says about it.

use std::time::SystemTime;

use crate::growth::{GrowthRow, Text};

/// Why a plan was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanReason {
    /// The recorder has no plan of the digest yet.
    New,
    /// The time per call changed.
    Changed,
}

impl PlanReason {
    /// Its name in table `plans`.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
        }
    }

    /// The reason with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::New, Self::Changed]
            .into_iter()
            .find(|reason| reason.name() == name)
    }
}

/// An example of a digest's statements and its plan. A row of table `plans`.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// When it was read.
    pub at: SystemTime,
    /// The default schema.
    pub schema: Option<String>,
    /// The digest.
    pub digest: String,
    /// Why it was read.
    pub reason: PlanReason,
    /// A statement, with its literals masked; `None` if they cannot be told from the rest.
    pub example: Option<String>,
    /// Why there is no plan.
    pub problem: Option<String>,
    /// The JSON of EXPLAIN, with its literals masked.
    pub plan: Option<String>,
    /// Of two plans, the same if they differ only in estimates and literals.
    pub shape: Option<String>,
    /// Tables that are read completely, without an index.
    pub full_scans: Vec<String>,
    /// Indexes that are used, as `table.index`.
    pub indexes: Vec<String>,
}

/// What a reader of plans has for the recorder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanReading {
    /// Plans that were read since the last call.
    pub plans: Vec<Plan>,
    /// Sentences for the log.
    pub messages: Vec<String>,
}

/// Reads plans beside the recorder, which waits for none of them.
pub trait PlanReader {
    /// Takes note of the growth of digests, and of the texts of those that are new.
    fn observe(&mut self, grown: &[GrowthRow], texts: &[Text]);

    /// Starts reading the next plan, if one is due and the server is not too busy, and returns what was read. So many
    /// sessions run a statement now.
    fn poll(&mut self, active: usize) -> PlanReading;
}
