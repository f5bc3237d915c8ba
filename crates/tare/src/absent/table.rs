//! Table io and locks.

use super::wait::{self, Wait};

use crate::class::Class;
use tare_layout::event::Operation;
use tare_layout::object::TableLock;

/// Begins a wait for a table.
#[inline(always)]
pub fn wait(class: &Class, operation: Operation) -> Wait {
    wait::start(class, operation)
}

/// Does nothing.
#[inline(always)]
pub fn dropped(_: &str, _: &str) {}

/// Does nothing.
#[inline(always)]
pub fn disown_all() {}

/// The classes of a table's events.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    /// The class of its rows.
    pub io: &'static Class,
    /// The class of its locks.
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

/// An open table.
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
