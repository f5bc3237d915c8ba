//! The protocol of Redis and Valkey: what clients send is read as commands, and what they get as replies.
//!
//! | file | contents |
//! |---|---|
//! | commands | the commands, their classes and where their keys are |
//! | pipeline | the commands of a connection that run; its user, name and database |
//! | pipeline/only | a command that is sent alone |
//! | replies | reads replies: where each ends, and whether it is an error |
//! | requests | reads requests |
//! | stages | the stages of a command |
//! | text | a command as text, and its normalised form |

pub mod commands;
pub mod pipeline;
mod replies;
mod requests;
mod stages;
mod text;
