//! What a statement left out by sampling keeps of itself until it ends: should it be slow, its digest is wanted.

use super::digest_table::Found;
use super::local::Local;
use crate::digest::Digest;

/// Text and tokens, or a digest that is known.
#[derive(Default)]
pub(crate) struct Held {
    what: What,
    schema: u32,
    text: Vec<u8>,
    tokens: Vec<u8>,
}

#[derive(Default)]
enum What {
    #[default]
    Nothing,
    Text,
    Tokens,
    Digest(Digest),
}

/// Longer texts are read for their digest at once: that takes long anyway.
const LONGEST: usize = 4096;

impl Held {
    pub fn clear(&mut self) {
        self.what = What::Nothing;
    }

    fn keep(&mut self, what: What, text: &str, tokens: &[u8], schema: u32) {
        self.text.clear();
        self.text.extend_from_slice(text.as_bytes());
        self.tokens.clear();
        self.tokens.extend_from_slice(tokens);
        self.schema = schema;
        self.what = what;
    }
}

impl Local {
    fn hold(&self, what: What, text: &str, tokens: &[u8], schema: u32) -> bool {
        let is_short = text.len() <= LONGEST && tokens.len() <= LONGEST;
        if is_short {
            // SAFETY: only this thread's statements touch it, and none of them keeps a reference.
            unsafe { &mut *self.sampler.held.get() }.keep(what, text, tokens, schema);
        }
        is_short
    }

    /// Keeps a text; false: it is too long.
    pub fn hold_text(&self, text: &str, schema: u32) -> bool {
        self.hold(What::Text, text, &[], schema)
    }

    /// Keeps a text and the parser's tokens; false: they are too long.
    pub fn hold_tokens(&self, tokens: &[u8], text: &str, schema: u32) -> bool {
        self.hold(What::Tokens, text, tokens, schema)
    }

    /// Keeps a text and its digest; false: it is too long.
    pub fn hold_digest(&self, digest: &Digest, text: &str, schema: u32) -> bool {
        self.hold(What::Digest(*digest), text, &[], schema)
    }

    /// The digest of what is kept.
    #[cold]
    pub fn digest_of_held(&self) -> Option<Found> {
        // SAFETY: as in `hold`.
        let held = std::mem::take(unsafe { &mut *self.sampler.held.get() });
        let text = std::str::from_utf8(&held.text).ok()?;
        let found = match &held.what {
            What::Nothing => None,
            What::Text => Some(self.digest_of_text(text, held.schema)),
            What::Tokens => Some(self.digest_of_tokens(&held.tokens, text, held.schema)),
            What::Digest(digest) => Some(self.digest_known(digest, text, held.schema)),
        };
        // Its memory is used again.
        // SAFETY: as above.
        let place = unsafe { &mut *self.sampler.held.get() };
        *place = held;
        place.clear();
        found
    }
}
