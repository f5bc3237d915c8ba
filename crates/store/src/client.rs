//! Who waits for what a statement gives.

use std::fmt;

/// Whom statements run for.
pub trait Client: fmt::Debug + Send + Sync {
    /// Whether it has gone: nobody waits for the rows. Must not block.
    fn has_gone(&self) -> bool;

    /// Nothing more is read from it: whoever waits for its next command sees the end.
    fn hang_up(&self);
}
