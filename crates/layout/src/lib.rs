//! The bytes of a Tare segment, as drawn in `docs/segment.md`.
//!
//! A segment is shared memory that one host process (the *writer*) fills and any number of *readers*
//! map. This crate defines all offsets, and how a record is published and read; it does no I/O and
//! allocates nothing, so that both sides agree, although they are compiled separately.
//!
//! All structures consist of plain integers in atomics: any bit pattern is a valid value, so that
//! mapping hostile bytes is safe; the reader validates what they *mean*.

#![no_std]

pub mod account;
pub mod activity;
pub mod actor;
pub mod attributes;
pub mod bank;
pub mod class;
pub mod control;
pub mod digest;
pub mod event;
pub mod fine;
pub mod geometry;
pub mod governor;
pub mod header;
pub mod histogram;
pub mod instance;
pub mod line;
pub mod metric;
pub mod metric_switch;
pub mod name;
pub mod object;
pub mod object_mask;
pub mod pattern;
pub mod primitive;
pub mod process;
pub mod row_lock;
pub mod sampling;
pub mod seqlock;
pub mod shared;
pub mod sizes;
pub mod slot;
pub mod source;
pub mod traceparent;
pub mod view;

pub use class::Kind;
pub use geometry::{Geometry, Limits, Region};
pub use header::{LAYOUT_VERSION, MAGIC};
pub use view::View;
