//! Tables, MySQL dialect, MySQL wire protocol and the server behind `tare serve`.
//!
//! [`server`] is the way in: a [`server::Config`] says what to serve, [`server::Server::start`]
//! serves it.

pub mod server;
