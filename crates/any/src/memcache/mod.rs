//! The protocols of memcached: text, with the meta commands, and binary.
//!
//! | file | contents |
//! |---|---|
//! | commands | the commands, their classes, and what the server counts of each |
//! | pipeline | the commands of a connection that run |
//! | replies | reads replies |
//! | requests | reads requests |
//! | binary | requests of the binary protocol |

mod binary;
pub mod commands;
pub mod pipeline;
mod replies;
mod requests;
