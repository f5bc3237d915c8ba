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

        /// Says how many rows of a table it was about.
        #[inline(always)]
        pub fn rows(&mut self, _: u64) {}
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

    use crate::{Class, Operation, TableLock};

    /// Begins a wait for a table.
    #[inline(always)]
    pub fn wait(class: &Class, operation: Operation) -> Wait {
        wait::start(class, operation)
    }

    /// Tells nobody.
    #[inline(always)]
    pub fn dropped(_: &str, _: &str) {}

    /// What a table's events are of.
    #[derive(Clone, Copy, Debug)]
    pub struct Classes {
        /// Of its rows.
        pub io: &'static Class,
        /// Of its locks.
        pub lock: &'static Class,
    }

    /// A table.
    #[derive(Clone, Debug)]
    pub struct Table(Classes);

    impl Table {
        /// A table.
        #[inline(always)]
        pub fn new(classes: Classes, _: &str, _: &str, _: &[&str]) -> Self {
            Self(classes)
        }

        /// A temporary table.
        #[inline(always)]
        pub fn temporary(classes: Classes, _: &str, _: &str, _: &[&str]) -> Self {
            Self(classes)
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn io(&self, operation: Operation, _: Option<usize>) -> Wait {
            wait::start(self.0.io, operation)
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn io_in_stage(&self, operation: Operation, _: Option<usize>) -> Wait {
            wait::start(self.0.io, operation)
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn lock(&self, lock: TableLock) -> Wait {
            wait::start(self.0.lock, lock.operation())
        }

        /// Does nothing.
        #[inline(always)]
        pub fn locked(&self, _: TableLock) {}

        /// A handle.
        #[inline(always)]
        pub fn open(&self) -> Handle {
            Handle(self.clone())
        }
    }

    /// A table that is open.
    #[derive(Debug)]
    pub struct Handle(Table);

    /// Methods that do nothing.
    macro_rules! nothing {
        ($($name:ident($($type:ty),*);)*) => {
            $(
                /// Does nothing.
                #[inline(always)]
                pub fn $name(&mut self, $(_: $type),*) {}
            )*
        };
    }

    impl Handle {
        /// Its table.
        #[inline(always)]
        pub fn table(&self) -> &Table {
            &self.0
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn io(&self, operation: Operation, index: Option<usize>) -> Wait {
            self.0.io(operation, index)
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn io_in_stage(&self, operation: Operation, index: Option<usize>) -> Wait {
            self.0.io(operation, index)
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn lock(&self, lock: TableLock) -> Wait {
            self.0.lock(lock)
        }

        nothing! {
            locked(TableLock);
            holds(TableLock);
            unlocked();
            unlocked_internally();
            bind();
            unbind();
        }
    }
}

pub mod metadata {
    //! Metadata locks.
    use super::wait::{self, Wait};
    use crate::{Class, LockDuration, LockStatus, LockType, Namespace, Operation};

    /// What a session locks.
    #[derive(Debug)]
    pub struct Lock(&'static Class);

    impl Lock {
        /// A lock.
        #[inline(always)]
        pub fn new(class: &'static Class, _: Namespace, _: &str, _: &str) -> Self {
            Self(class)
        }

        /// A lock.
        #[inline(always)]
        pub fn of_column(class: &'static Class, _: Namespace, _: &str, _: &str, _: &str) -> Self {
            Self(class)
        }

        /// Begins a wait.
        #[inline(always)]
        pub fn wait(&mut self, _: LockType, _: LockDuration) -> Wait {
            wait::start(self.0, Operation::MetadataLock)
        }

        /// Does nothing.
        #[inline(always)]
        pub fn granted(&mut self, _: LockType, _: LockDuration) {}

        /// Does nothing.
        #[inline(always)]
        pub fn failed(&mut self, _: LockStatus) {}

        /// Does nothing.
        #[inline(always)]
        pub fn released(&mut self) {}

        /// Does nothing.
        #[inline(always)]
        pub fn show(&mut self, _: LockType, _: LockDuration, _: LockStatus) {}
    }
}

pub mod prepared {
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
}

pub mod program {
    //! Stored programs.
    use crate::ObjectType;
    use std::marker::PhantomData;

    /// A stored program.
    #[derive(Debug)]
    pub struct Program<T = &'static str>([T; 2]);

    impl<T> Program<T> {
        /// A program.
        #[inline(always)]
        pub const fn new(_: ObjectType, schema: T, name: T) -> Self {
            Self([schema, name])
        }
    }

    impl<T: AsRef<str>> Program<T> {
        /// A call begins.
        #[inline(always)]
        pub fn start(&self) -> Call {
            let _ = &self.0;
            Call(PhantomData)
        }

        /// Does nothing.
        #[inline(always)]
        pub fn dropped(self) {}
    }

    /// A program that runs.
    #[must_use = "the call ends when this is dropped"]
    #[derive(Debug)]
    pub struct Call(PhantomData<*const ()>);
}

/// An instance that nobody knows of.
macro_rules! instance {
    ($name:ident, $new:ident, $what:ty $(, $follow:ident)?) => {
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

    /// Does nothing.
    #[inline(always)]
    pub fn own(&self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn idle(&self, _: bool) {}
}

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
    use super::prepared::Prepared;
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
            executes(&Prepared);
            prepares(&Prepared);
            schema(&str);
            set(Counter, u64);
            add(Counter, u64);
            set_all(impl IntoIterator<Item = (Counter, u64)>);
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

    /// Begins a transaction of a single statement.
    #[inline(always)]
    pub fn of_statement(class: &crate::Class, mode: Mode) -> Transaction {
        start(class, mode)
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
