//! Statement digests: the same statement with other values is the same statement.
//!
//! [`normalize`] writes a statement in the form of MySQL 8.0's DIGEST_TEXT, [`Digest`] is the hash of
//! that text, and [`fast_hash`] looks up a statement whose digest is cached.

use std::borrow::Cow;

use crate::payload::IS_COMPILED_IN;

mod hash;
mod keywords;
mod normalize;
mod positions;
mod statements;
mod tokens;

#[cfg(all(test, feature = "instrument"))]
mod tests;

/// The text from which the digest of a prepared statement is computed: a verb (`EXECUTE`, and so on),
/// and its text.
pub(crate) fn with_verb<'t>(verb: &str, text: &'t str) -> Cow<'t, str> {
    match verb {
        "" => Cow::Borrowed(text),
        verb => Cow::Owned(format!("{verb} {text}")),
    }
}

/// The digest of a statement in hexadecimal digits, and its text, for STATEMENT_DIGEST. `None`: Tare was
/// built without instrumentation. `retains_positions`: as in [`Rules`].
pub fn hash_and_text(statement: &str, retains_positions: bool) -> Option<(String, String)> {
    if !IS_COMPILED_IN {
        return None;
    }
    let mut text = Vec::new();
    let rules = Rules { retains_positions };
    normalize_by(rules, statement.as_bytes(), MAX_DIGEST_LENGTH, &mut text);
    let hash = Digest::of_normalized(&text).to_string();
    Some((hash, String::from_utf8_lossy(&text).into_owned()))
}

pub(crate) use statements::first_statement;

pub use hash::{Digest, FAST_HASH_LIMIT, MAX_DIGEST_LENGTH, fast_hash};
pub use normalize::{Extent, Rules, normalize, normalize_by};
