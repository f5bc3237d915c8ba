//! The client that waits for a statement's result.

use std::fmt;

/// The client that statements run for.
pub trait Client: fmt::Debug + Send + Sync {
    /// Whether it has disconnected. Must not block.
    fn has_gone(&self) -> bool;

    /// Shuts down reading: a thread that waits for its next command sees the end.
    fn hang_up(&self);

    /// Shuts down reading and writing: nothing more is sent.
    fn disconnect(&self);
}
