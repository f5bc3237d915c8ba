//! Warnings about deprecated syntax.

/// A warning about deprecated syntax.
#[derive(Debug, PartialEq, Eq)]
pub struct Deprecated {
    /// Its number.
    pub code: u16,
    /// Its text.
    pub message: &'static str,
}
