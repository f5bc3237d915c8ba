//! The global values of system variables, and which variables have an effect.

mod effect;
mod globals;
mod info;

pub use self::effect::{ACCEPTED, TUNING, deprecation, may_change};
pub use self::globals::Globals;
