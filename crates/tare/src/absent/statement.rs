//! Statements.

use super::digest::Digest;
use super::prepared::Prepared;
use crate::class::Class;
use std::marker::PhantomData;
use tare_layout::class::Counter;

/// A statement.
#[must_use = "the statement ends when this is dropped"]
#[derive(Debug)]
pub struct Statement(PhantomData<*const ()>);

/// Begins a statement.
#[inline(always)]
pub fn start(_: &Class) -> Statement {
    Statement(PhantomData)
}

/// Begins a statement that arrived earlier.
#[inline(always)]
pub fn start_since(_: &Class, _: u64) -> Statement {
    Statement(PhantomData)
}

impl Statement {
    /// False.
    #[inline(always)]
    pub fn is_recorded(&self) -> bool {
        false
    }

    /// False.
    #[inline(always)]
    pub fn has_lost_digest(&self) -> bool {
        false
    }

    nothing! {
        refine(&Class);
        text(&str);
        text_only(&str);
        prepared(&str, &Digest);
        prepared_with_verb(&str, &str, &Digest);
        shape(&str);
        digest_by_shape(&str, &str);
        remove_digest();
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
        end_without_sqlstate();
        error(u32, &str, &str);
    }
}
