//! MySQL's functions, on their way to a crate of their own.

pub mod functions;
