//! The protocol of PostgreSQL (version 3): startup, simple and extended queries, COPY.
//!
//! | file | contents |
//! |---|---|
//! | commands | the command tags, their classes, and the command of a statement |
//! | messages | the frames of messages |
//! | pending | messages that wait for their replies |
//! | pipeline | the messages of a connection, as statements |
//! | pipeline/execution | executions of prepared statements that arrive, and are answered, in one part |
//! | statements | prepared statements and portals by their names |
//! | requests | reads what clients send |
//! | replies | reads what clients get |
//! | running | the statement that runs, and how it ends |
//! | session | a session's parameters: user, database, encoding |
//! | shape | a statement's normalised text |
//! | tokens | the tokens of PostgreSQL's SQL |
//! | transactions | a session's transactions |

pub mod commands;
mod messages;
mod pending;
pub mod pipeline;
mod replies;
mod requests;
mod running;
mod session;
mod shape;
mod statements;
mod tokens;
mod transactions;
