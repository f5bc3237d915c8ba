//! Statement digests: the same statement with other values is the same statement.
//!
//! [`normalize`] writes a statement as MySQL 8.0's DIGEST_TEXT shows it, [`Digest`] is the hash of
//! that text, and [`fast_hash`] finds a statement whose digest is known already.

use std::borrow::Cow;

mod hash;
mod keywords;
mod normalize;
mod positions;
mod tokens;

#[cfg(test)]
mod tests;

/// What the digest of a prepared statement is read from: what is done with it (`EXECUTE`, and so on), and its text.
pub(crate) fn with_verb<'t>(verb: &str, text: &'t str) -> Cow<'t, str> {
    match verb {
        "" => Cow::Borrowed(text),
        verb => Cow::Owned(format!("{verb} {text}")),
    }
}

pub use hash::{Digest, FAST_HASH_LIMIT, MAX_DIGEST_LENGTH, fast_hash};
pub use normalize::{Extent, Rules, normalize, normalize_by};
