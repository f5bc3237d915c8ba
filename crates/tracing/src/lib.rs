//! A [`tracing_subscriber::Layer`] that records spans as Tare's sessions, statements and stages
//! (docs/tracing.md).
//!
//! ```
//! use tracing_subscriber::prelude::*;
//!
//! tare::start(tare::Config::default())?;
//! tracing_subscriber::registry()
//!     .with(tare_tracing::layer().sessions("connection"))
//!     .init();
//! # Ok::<(), tare::StartError>(())
//! ```
//!
//! | span | becomes |
//! |---|---|
//! | one with a name that [`sessions`](TareLayer::sessions) has | a session: a row of `threads`, with an account |
//! | one inside of no other, or directly inside of a session | a statement |
//! | any other with a field that is a statement's text or shape, or a name that [`statements`](TareLayer::statements) has | a statement inside of another |
//! | any other | a stage of the statement around it |
//!
//! The span's fields become the account, the default database, and the statement's text and digest
//! ([`Attribute`]). An event of level ERROR inside of a span becomes the error of the statement around it.
#![forbid(unsafe_code)]

mod classes;
mod fields;
mod layer;
mod site;
mod span;

pub use fields::Attribute;
pub use layer::{TareLayer, layer};

/// The examples of the document compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tracing.md")]
struct Document;
