//! The server's values of system variables, and which of them do something.

mod effect;
mod globals;
mod info;

pub use self::effect::{ACCEPTED, may_change};
pub use self::globals::Globals;
