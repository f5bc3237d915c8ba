//! Tasks.

use std::sync::Arc;

use super::thread::ThreadSession;
use crate::class::Class;

/// The future itself.
pub type SharedScope<F> = F;

/// A session that is not recorded.
#[derive(Debug)]
pub struct SharedSession(());

impl SharedSession {
    /// A session.
    #[inline(always)]
    pub fn new(_: ThreadSession) -> Arc<Self> {
        Arc::new(Self(()))
    }

    /// A session.
    #[inline(always)]
    pub fn of_client(_: &'static Class) -> Arc<Self> {
        Arc::new(Self(()))
    }

    /// False.
    #[inline(always)]
    pub fn enter(self: &Arc<Self>) -> bool {
        false
    }

    /// False.
    #[inline(always)]
    pub fn leave(&self) -> bool {
        false
    }

    /// Calls `work`.
    #[inline(always)]
    pub fn run<T>(&self, work: impl FnOnce(bool) -> T) -> T {
        work(false)
    }

    /// The future itself.
    #[inline(always)]
    pub fn scope<F: Future>(self: Arc<Self>, future: F) -> F {
        future
    }
}

/// A pool without sessions.
#[derive(Debug)]
pub struct SessionPool(());

impl SessionPool {
    /// A pool without sessions.
    #[inline(always)]
    pub const fn new(_: &'static Class, _: usize) -> Self {
        Self(())
    }

    /// None.
    #[inline(always)]
    pub fn take(&self) -> Option<Arc<SharedSession>> {
        None
    }

    /// Does nothing.
    #[inline(always)]
    pub fn give(&self, _: Arc<SharedSession>) {}
}

/// The future itself.
#[inline(always)]
pub fn scope<F: Future>(_: ThreadSession, future: F) -> F {
    future
}

/// The future itself.
#[inline(always)]
pub fn branch<F: Future>(future: F) -> F {
    future
}

pub mod stage {
    //! Stages.

    /// A stage.
    #[must_use = "the stage ends when this is dropped"]
    #[derive(Debug)]
    pub struct Stage(());

    /// Begins a stage.
    #[inline(always)]
    pub fn start(_: &crate::class::Class) -> Stage {
        Stage(())
    }
}

pub mod statement {
    //! Statements.

    use crate::absent::digest::Digest;
    use crate::class::Class;
    use tare_layout::class::Counter;

    /// A statement.
    #[must_use = "the statement ends when this is dropped"]
    #[derive(Debug)]
    pub struct Statement(());

    /// Begins a statement.
    #[inline(always)]
    pub fn start(_: &Class) -> Statement {
        Statement(())
    }

    impl Statement {
        /// False.
        #[inline(always)]
        pub fn is_recorded(&self) -> bool {
            false
        }

        nothing! {
            resume();
            suspend();
            refine(&Class);
            text(&str);
            text_only(&str);
            prepared(&str, &Digest);
            shape(&str);
            digest_by_shape(&str, &str);
            schema(&str);
            set(Counter, u64);
            add(Counter, u64);
            rows_sent(u64);
            rows_examined(u64);
            rows_affected(u64);
            warnings(u64);
            error(u32, &str, &str);
        }
    }
}
