//! Stored programs.

use std::marker::PhantomData;
use tare_layout::object::ObjectType;

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
    pub fn list(&self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn dropped(self) {}
}

/// A program that runs.
#[must_use = "the call ends when this is dropped"]
#[derive(Debug)]
pub struct Call(PhantomData<*const ()>);
