//! The protocol of MySQL and MariaDB: login, commands, results, prepared statements.
//!
//! | file | contents |
//! |---|---|
//! | classes | the classes of statements and commands |
//! | kinds | the kind of a statement, by its first words |
//! | login | the greeting, and who the client is |
//! | packets | the frames of packets, and their fields |
//! | pipeline | the commands of a connection, as statements |
//! | prepared | prepared statements by their numbers |
//! | replies | reads the answer to a command |
//! | results | outcomes: OK, EOF and error packets |
//! | attributes, trace | the trace of a request: its query attribute, and `@traceparent` |
//! | running | the statement that runs, and how it ends |
//! | secrets | passwords in statements |
//! | session | how a session begins; its user, database and character set |
//! | tokens | the tokens of a statement, and where it ends |

mod attributes;
pub mod classes;
mod kinds;
mod login;
mod packets;
pub mod pipeline;
mod prepared;
mod replies;
mod results;
mod running;
mod secrets;
mod session;
mod tokens;
mod trace;
