//! The protocol of Redis and Valkey: what clients send is read as commands, and what they get as replies.
//!
//! | file | contents |
//! |---|---|
//! | client | a connection: its session, its running commands, its user, name and database |
//! | commands | the commands, their classes and where their keys are |
//! | replies | reads replies: where each ends, and whether it is an error |
//! | requests | reads requests |
//! | text | a command as text, and its normalised form |

pub mod client;
pub mod commands;
mod replies;
mod requests;
mod text;
