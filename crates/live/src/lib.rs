//! HTTP for a server: OpenMetrics for Prometheus, and the live page for people.
//!
//! ```text
//! cli opens a server or segment ---> target.rs ----> metrics/ (queries when scraped) -------\
//!                                                \-> page/watch.rs -> timeline.rs             web.rs ---> HTTP
//! history's files -----------------------------------------------------/        |          /
//! cli compares its windows -------------> page/diff.rs ------------------ site.rs, servers.rs, answers.rs
//! ```
#![forbid(unsafe_code)]

mod metrics;
mod page;
mod target;
mod web;

pub use metrics::{Figures, Metrics};
pub use page::{
    ChangedFigure, ChangesRequest, Compare, CompareStatement, DIFF_HEADS, DiffReport, DiffRequest,
    Live, LiveServer, RunningLive, Section, StatementChanges, StatementComparison, TrendPoint,
    Watched,
};
pub use target::{Open, WatchTarget};
pub use web::{Request, Response, Site, Web};
