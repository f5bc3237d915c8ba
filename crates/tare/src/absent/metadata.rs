//! Metadata locks.

use super::wait::{self, Wait};
use crate::class::Class;
use tare_layout::event::Operation;
use tare_layout::object::{LockDuration, LockStatus, LockType, Namespace};

/// What a session locks.
#[derive(Debug)]
pub struct MetadataLock(&'static Class);

impl MetadataLock {
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
    pub fn publish(&mut self, _: LockType, _: LockDuration, _: LockStatus) {}

    /// Does nothing.
    #[inline(always)]
    pub fn republish(&mut self, _: LockType, _: LockDuration, _: LockStatus) {}
}
