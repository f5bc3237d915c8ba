//! What changed of one statement, from a history: its last hour compared with earlier ones, and its mean time before
//! the page was opened.

use serde_json::{Value, json};

/// A statement, a range of time in milliseconds since 1970, and a server of the history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangesRequest {
    /// The digest.
    pub digest: String,
    /// The start of the visible time.
    pub from: i64,
    /// Its end, which is also that of the later window.
    pub to: i64,
    /// Only this host.
    pub host: Option<String>,
    /// Only this server.
    pub server: Option<String>,
}

/// A figure of a statement, as texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangedFigure {
    /// What it measures.
    pub name: String,
    /// The value in the earlier window.
    pub before: String,
    /// The value in the later window.
    pub after: String,
    /// The change with its interval; empty if there are too few calls for one.
    pub change: String,
    /// Whether the interval excludes zero.
    pub is_changed: bool,
}

/// The later window compared with an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementComparison {
    /// Which earlier window, such as `the hour before`.
    pub title: String,
    /// Its start and end in milliseconds since 1970.
    pub before: [i64; 2],
    /// The figures, or why there are none.
    pub figures: Result<Vec<ChangedFigure>, String>,
    /// A remark, such as that the plan changed.
    pub remark: Option<String>,
    /// Which control days were used, or that there were none; `None` if none is needed.
    pub control: Option<String>,
}

/// The calls of a short time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrendPoint {
    /// The end of the time, in milliseconds since 1970.
    pub at: i64,
    /// The mean time of the calls that ended then, in picoseconds.
    pub mean_ps: f64,
}

/// What changed of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementChanges {
    /// The start and the end of the later window.
    pub after: Option<[i64; 2]>,
    /// The comparisons.
    pub comparisons: Vec<StatementComparison>,
    /// Why there are none.
    pub why: Option<String>,
    /// The visible time, in the order of time.
    pub trend: Vec<TrendPoint>,
}

/// Reads what changed of a statement, or says why it cannot.
pub type CompareStatement =
    Box<dyn FnMut(&ChangesRequest) -> Result<StatementChanges, String> + Send>;

/// The state for the page.
pub fn state(changes: &StatementChanges) -> Value {
    let figure = |figure: &ChangedFigure| {
        json!({
            "name": figure.name,
            "before": figure.before,
            "after": figure.after,
            "change": figure.change,
            "is_changed": figure.is_changed,
        })
    };
    let comparison = |one: &StatementComparison| {
        let figures = one.figures.as_ref().map_or(&[][..], Vec::as_slice);
        json!({
            "title": one.title,
            "before": one.before,
            "figures": figures.iter().map(figure).collect::<Vec<_>>(),
            "why": one.figures.as_ref().err(),
            "remark": one.remark,
            "control": one.control,
        })
    };
    let point = |point: &TrendPoint| json!({ "at": point.at, "mean": point.mean_ps });
    json!({
        "after": changes.after,
        "comparisons": changes.comparisons.iter().map(comparison).collect::<Vec<_>>(),
        "why": changes.why,
        "trend": changes.trend.iter().map(point).collect::<Vec<_>>(),
    })
}
