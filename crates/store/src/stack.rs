//! The stack that SQLite needs: it recurses over a statement's tree when it prepares it.

/// Texts up to this long nest too little to need more stack than every thread has: a level takes
/// at least one byte, and SQLite some 1,100 bytes of stack (measured with subqueries in one another;
/// a chain takes 550, a compound SELECT 740).
const MAX_SHALLOW_BYTES: usize = 2 << 10;
/// For SQLite's 50,000 levels (.cargo/config.toml), at 1,100 bytes each.
const DEEP_STACK_BYTES: usize = 56 << 20;

/// Whether a statement's text may nest so deep that SQLite needs a stack of its own for it.
pub fn is_deep(sql: &str) -> bool {
    sql.len() > MAX_SHALLOW_BYTES
}

/// Runs SQLite over a statement, on a stack that is large enough for it.
#[inline]
pub fn with_stack<R>(deep: bool, run: impl FnOnce() -> R) -> R {
    match deep {
        true => stacker::maybe_grow(DEEP_STACK_BYTES, DEEP_STACK_BYTES + (1 << 20), run),
        false => run(),
    }
}
