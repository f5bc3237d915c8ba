//! The points when instrumentation is not compiled in: the same names without an effect.
//!
//! Guards are of size zero, functions are empty and inlined; `tests/absent.rs` checks it.

/// Methods that do nothing.
macro_rules! nothing {
    ($($name:ident($($type:ty),*);)*) => {
        $(
            /// Does nothing.
            #[inline(always)]
            pub fn $name(&self, $(_: $type),*) {}
        )*
    };
}

mod class;
pub mod memory;
pub mod metadata;
pub mod metric;
pub mod prepared;
pub mod program;
pub mod statement;
pub mod table;
pub mod task;
pub mod thread;
pub mod transaction;

use std::os::fd::OwnedFd;

use crate::config::{Config, StartError};

/// Fails: there is nothing to start.
///
/// # Errors
/// [`StartError::NotCompiledIn`], always.
pub fn start(_: Config) -> Result<(), StartError> {
    Err(StartError::NotCompiledIn)
}

/// Does nothing.
pub fn stop() {}

/// False.
pub const fn is_running() -> bool {
    false
}

/// None.
pub const fn failed_starts() -> u64 {
    0
}

/// Does nothing.
pub fn follow_forks(_: bool) {}

/// Does nothing.
pub fn watch_settings() {}

/// Fails: there is no segment.
///
/// # Errors
/// Always.
pub fn descriptor() -> std::io::Result<OwnedFd> {
    Err(std::io::Error::new(
        std::io::ErrorKind::NotFound,
        "built without the feature `instrument`",
    ))
}

pub mod wait {
    //! Waits.
    use crate::class::Class;
    use std::marker::PhantomData;
    use tare_layout::event::Operation;

    /// A wait.
    #[must_use = "the wait ends when this is dropped"]
    #[derive(Debug)]
    pub struct Wait(PhantomData<*const ()>);

    /// False.
    #[inline(always)]
    pub const fn are_counted() -> bool {
        false
    }

    /// Begins a wait.
    #[inline(always)]
    pub fn start(_: &Class, _: Operation) -> Wait {
        Wait(PhantomData)
    }

    /// The future itself.
    #[inline(always)]
    pub fn future<F: Future>(_: &'static Class, _: Operation, future: F) -> F {
        future
    }

    impl Wait {
        /// Does nothing.
        #[inline(always)]
        pub fn bytes(&mut self, _: u64) {}

        /// Does nothing.
        #[inline(always)]
        pub fn rows(&mut self, _: u64) {}
    }
}

pub mod idle {
    //! Idle times.
    use super::wait::{self, Wait};

    /// Begins an idle time.
    #[inline(always)]
    pub fn start(class: &crate::class::Class) -> Wait {
        wait::start(class, tare_layout::event::Operation::Idle)
    }

    /// No moment.
    #[inline(always)]
    pub fn now() -> u64 {
        0
    }
}

/// An instance that is not recorded.
macro_rules! instance {
    ($name:ident, $new:ident, $what:ty $(, $follow:ident)?) => {
        pub mod $name {
            //! Instances.
            use super::wait::{self, Wait};
            use tare_layout::event::Operation;
            use crate::class::Class;

            /// An instance.
            #[derive(Debug)]
            pub struct Instance(&'static Class);

            impl Instance {
                /// Records nothing.
                #[inline(always)]
                pub fn $new(class: &'static Class, _: $what) -> Self {
                    Self(class)
                }

                /// Begins an operation.
                #[inline(always)]
                pub fn wait(&self, operation: Operation) -> Wait {
                    wait::start(self.0, operation)
                }

                $(
                    /// Begins an operation that follows another event.
                    #[inline(always)]
                    pub fn $follow(&self, operation: Operation) -> Wait {
                        wait::start(self.0, operation)
                    }
                )?
            }
        }
    };
}

instance!(file, open, &str);
instance!(socket, new, i32, follow);

impl socket::Instance {
    /// Does nothing.
    #[inline(always)]
    pub fn peer(&mut self, _: &str, _: u16) {}

    nothing! {
        own();
        idle(bool);
    }
}

pub mod stage {
    //! Stages.

    /// Enters a stage.
    #[inline(always)]
    pub fn set(_: &crate::class::Class) {}

    /// Leaves the stage.
    #[inline(always)]
    pub fn end() {}

    /// Does nothing.
    #[inline(always)]
    pub fn progress(_: u64, _: u64) {}
}

pub mod digest {
    //! Statement digests.

    /// None.
    pub const fn hash_and_text(_: &str, _: bool) -> Option<(String, String)> {
        None
    }

    /// Nothing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Digest;

    impl Digest {
        /// Nothing.
        #[inline(always)]
        pub fn of(_: &str) -> Self {
            Self
        }

        /// Nothing.
        #[inline(always)]
        pub fn with_verb(_: &str, _: &str) -> Self {
            Self
        }
    }
}

pub mod error {
    //! Errors.

    /// The code of errors that the host does not have.
    pub const OTHER: u32 = 0;

    /// Does nothing.
    #[inline(always)]
    pub fn define(_: u32, _: &str, _: &str) {}

    /// Does nothing.
    #[inline(always)]
    pub fn raised(_: u32) {}

    /// Does nothing.
    #[inline(always)]
    pub fn handled(_: u32) {}
}
