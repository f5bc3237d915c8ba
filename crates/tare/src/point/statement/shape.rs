//! Statements of another language than SQL, which the host normalises.

use tare_layout::control::effective;

use super::Statement;

impl Statement {
    /// Sets its digest by its normalised text, such as `get ?`, as the column DIGEST_TEXT shows it. Its text
    /// is set by [`text_only`](Self::text_only).
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn shape(&self, shape: &str) {
        self.digest_by_shape(shape, shape);
    }

    /// Sets its digest as [`shape`](Self::shape) does. `text`: the statement, stored as the digest's first
    /// sample.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn digest_by_shape(&self, shape: &str, text: &str) {
        let Some((running, local)) = self.recorded() else {
            return;
        };
        if running.bits.get() & effective::DIGEST != 0 {
            let schema = running.schema.get();
            running.set_digest(local, local.digest_of_shape(shape, text, schema));
        }
    }
}
