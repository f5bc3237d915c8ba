//! The points when instrumentation is not compiled in: the same names, and nothing behind them.
//!
//! Guards are of no size, functions are empty and inlined away; `tests/absent.rs` keeps it so.

use std::os::fd::OwnedFd;

use crate::{Config, StartError};

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
    use crate::{Class, Operation};
    use std::marker::PhantomData;

    /// A wait.
    #[must_use = "the wait ends when this is dropped"]
    #[derive(Debug)]
    pub struct Wait(PhantomData<*const ()>);

    /// Begins a wait.
    #[inline(always)]
    pub fn start(_: &Class, _: Operation) -> Wait {
        Wait(PhantomData)
    }

    impl Wait {
        /// Says how many bytes were moved.
        #[inline(always)]
        pub fn bytes(&mut self, _: u64) {}
    }
}

pub mod idle {
    //! Idle times.
    use super::wait::{self, Wait};

    /// Begins an idle time.
    #[inline(always)]
    pub fn start(class: &crate::Class) -> Wait {
        wait::start(class, crate::Operation::Idle)
    }
}

pub mod table {
    //! Table io and locks.
    use super::wait::{self, Wait};

    /// Begins a wait for a table.
    #[inline(always)]
    pub fn wait(class: &crate::Class, operation: crate::Operation) -> Wait {
        wait::start(class, operation)
    }
}

/// An instance that nobody knows of.
macro_rules! instance {
    ($name:ident, $new:ident, $what:ty) => {
        pub mod $name {
            //! Instances.
            use super::wait::{self, Wait};
            use crate::{Class, Operation};

            /// An instance.
            #[derive(Debug)]
            pub struct Instance(&'static Class);

            impl Instance {
                /// Tells nobody of it.
                #[inline(always)]
                pub fn $new(class: &'static Class, _: $what) -> Self {
                    Self(class)
                }

                /// Begins an operation.
                #[inline(always)]
                pub fn wait(&self, operation: Operation) -> Wait {
                    wait::start(self.0, operation)
                }
            }
        }
    };
}

instance!(file, open, &str);
instance!(socket, new, i32);

pub mod stage {
    //! Stages.

    /// Enters a stage.
    #[inline(always)]
    pub fn set(_: &crate::Class) {}

    /// Leaves the stage.
    #[inline(always)]
    pub fn end() {}

    /// Says how far the stage is.
    #[inline(always)]
    pub fn progress(_: u64, _: u64) {}
}

pub mod digest {
    //! Statement digests.

    /// Nothing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Digest;

    impl Digest {
        /// Nothing.
        #[inline(always)]
        pub fn of(_: &str) -> Self {
            Self
        }
    }
}

pub mod statement {
    //! Statements.
    use super::digest::Digest;
    use crate::{Class, Counter};
    use std::marker::PhantomData;

    /// A statement.
    #[must_use = "the statement ends when this is dropped"]
    #[derive(Debug)]
    pub struct Statement(PhantomData<*const ()>);

    /// Begins a statement.
    #[inline(always)]
    pub fn start(_: &Class) -> Statement {
        Statement(PhantomData)
    }

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

    impl Statement {
        /// False.
        #[inline(always)]
        pub fn is_recorded(&self) -> bool {
            false
        }

        nothing! {
            refine(&Class);
            text(&str);
            prepared(&str, &Digest);
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

pub mod transaction {
    //! Transactions.
    pub use crate::modes::{Isolation, Mode};

    /// A transaction.
    #[must_use = "the transaction is rolled back when this is dropped"]
    #[derive(Debug)]
    pub struct Transaction(());

    /// Begins a transaction.
    #[inline(always)]
    pub fn start(_: &crate::Class, _: Mode) -> Transaction {
        Transaction(())
    }

    impl Transaction {
        /// Ends it as committed.
        #[inline(always)]
        pub fn commit(self) {}

        /// Ends it as rolled back.
        #[inline(always)]
        pub fn rollback(self) {}

        /// Does nothing.
        #[inline(always)]
        pub fn trx_id(&self, _: u64) {}

        /// Does nothing.
        #[inline(always)]
        pub fn savepoint(&self) {}

        /// Does nothing.
        #[inline(always)]
        pub fn rollback_to_savepoint(&self) {}

        /// Does nothing.
        #[inline(always)]
        pub fn release_savepoint(&self) {}
    }
}

pub mod error {
    //! Errors.

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

pub mod memory {
    //! Memory.
    use crate::Class;
    use std::alloc::{GlobalAlloc, Layout};

    /// An allocator that counts nothing.
    #[derive(Debug)]
    pub struct Tracked<A>(A);

    impl<A> Tracked<A> {
        /// `inner` as it is.
        pub const fn new(inner: A, _: &'static Class) -> Self {
            Self(inner)
        }
    }

    // SAFETY: every call goes to the allocator within, unchanged.
    unsafe impl<A: GlobalAlloc> GlobalAlloc for Tracked<A> {
        #[inline(always)]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are those of the allocator within.
            unsafe { self.0.alloc(layout) }
        }

        #[inline(always)]
        unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { self.0.dealloc(place, layout) }
        }

        #[inline(always)]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            unsafe { self.0.alloc_zeroed(layout) }
        }

        #[inline(always)]
        unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as above.
            unsafe { self.0.realloc(place, layout, size) }
        }
    }

    /// Does nothing.
    #[inline(always)]
    pub fn allocated(_: &Class, _: usize) {}

    /// Does nothing.
    #[inline(always)]
    pub fn freed(_: &Class, _: usize) {}
}

pub mod thread {
    //! Threads.
    pub use crate::modes::ConnectionType;
    use crate::{Class, Command};
    use std::marker::PhantomData;
    use std::thread::JoinHandle;

    /// Starts a thread, named after its class.
    ///
    /// # Errors
    /// When the system can start no thread.
    pub fn spawn<F, T>(class: &'static Class, body: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        crate::modes::builder(class).spawn(body)
    }

    /// Does nothing.
    #[inline(always)]
    pub fn register(_: &'static Class) {}

    /// Does nothing.
    #[inline(always)]
    pub fn register_child(_: &'static Class, _: u64) {}

    /// 0.
    #[inline(always)]
    pub const fn id() -> u64 {
        0
    }

    /// Functions that do nothing.
    macro_rules! nothing {
        ($($name:ident($($type:ty),*);)*) => {
            $(
                /// Does nothing.
                #[inline(always)]
                pub fn $name($(_: $type),*) {}
            )*
        };
    }

    nothing! {
        set_account(&str, &str);
        set_processlist_id(u64);
        set_db(&str);
        set_command(Command);
        set_state(&str);
        set_info(&str);
        set_connection_type(ConnectionType);
        set_os_id(u64);
        set_attributes(&str);
    }

    /// A session that nobody knows of.
    #[derive(Debug)]
    pub struct Session(());

    impl Session {
        /// A session.
        #[inline(always)]
        pub fn new(_: &'static Class) -> Self {
            Self(())
        }

        /// Does nothing.
        #[inline(always)]
        pub fn enter(&mut self) -> Entered<'_> {
            Entered(PhantomData)
        }
    }

    /// A session entered.
    #[must_use = "the session is left when this is dropped"]
    #[derive(Debug)]
    pub struct Entered<'a>(PhantomData<(&'a mut Session, *const ())>);
}
