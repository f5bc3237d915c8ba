//! What HTTP shows of a server: OpenMetrics for Prometheus, and the live page for people.
//!
//! ```text
//! cli opens a server or segment ---> watched.rs (a thread that asks) ---> metrics/ ---\
//!                                                                                     web.rs ---> HTTP
//! ```
#![forbid(unsafe_code)]

mod metrics;
mod watched;
mod web;

pub use metrics::{Figures, Metrics};
pub use watched::{Open, Watched};
pub use web::{Request, Response, Site, Web};
