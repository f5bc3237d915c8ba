//! Prepared statements.

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared(());

impl Prepared {
    /// A prepared statement.
    #[inline(always)]
    pub fn new(_: u64, _: Option<&str>, _: &str) -> Self {
        Self(())
    }

    /// Does nothing.
    #[inline(always)]
    pub fn reprepared(&self) {}
}
