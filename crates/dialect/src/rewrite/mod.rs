//! Rewrites the tree of a statement on rows in place, until its text is SQLite's.

mod argument;
mod assign;
mod change;
mod compare;
mod create_as_select;
mod exact;
mod expr;
mod grouped;
mod insert;
mod like;
mod member;
mod mixed_moment;
mod moment;
mod operands;
mod pair;
mod recursive;
mod rewriter;
mod rollup;
mod scalar;
mod select;
mod set;
mod sys;
mod unify;
mod union_parts;
mod visit;
mod zoned;

pub use self::assign::conversion_call;
pub use self::expr::{interval, negative_number};
pub use self::insert::{change_of, insert_table};
pub use self::rewriter::Rewriter;

use self::rewriter::canonical;
