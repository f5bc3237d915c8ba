//! The lab runs a matrix of servers, configurations, workloads and connections. It reports the
//! differences, their intervals, and the events that servers counted. docs/weigh.md describes it; `tare
//! weigh` is its command line.
//!
//! A run goes through these modules: [`recipe`] -> [`matrix`] -> [`run`] (with [`server`], [`load`],
//! [`sampler`], [`events`]) -> [`store`] -> [`analysis`] (with [`stats`]) -> [`report`].

pub mod analysis;
pub mod cell;
pub mod child;
pub mod compare;
pub mod connection;
pub mod counters;
pub mod events;
pub mod interrupt;
pub mod live;
pub mod load;
pub mod machine;
pub mod matrix;
pub mod probe;
pub mod proc;
mod processors;
pub mod progress;
pub mod published;
pub mod recipe;

pub mod error;
pub mod report;
pub mod restore;
pub mod run;
pub mod sampler;
pub mod server;
pub mod stats;
pub mod stopping_rule;
pub mod store;
pub mod work;
