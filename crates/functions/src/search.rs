//! Where a text has another one.

use rusqlite::Result;

use crate::call::{Call, STEP};
use crate::made::Watch;

impl Call<'_> {
    /// Where a text has another, from a byte on.
    pub(crate) fn find(&self, text: &str, what: &str, from: usize) -> Result<Option<usize>> {
        if what.len() > STEP {
            let (text, what) = (&text.as_bytes()[from..], what.as_bytes());
            let found = self.find_long(text.len(), what.len(), |i| text[i], |i| what[i])?;
            return Ok(found.map(|at| from + at));
        }
        let window = STEP.max(what.len() * 2);
        let mut from = from;
        loop {
            let end = text.ceil_char_boundary(from.saturating_add(window).min(text.len()));
            if let Some(at) = text[from..end].find(what) {
                return Ok(Some(from + at));
            }
            if end == text.len() {
                return Ok(None);
            }
            self.go_on()?;
            // What begins before the window's end may end behind it.
            from = text.floor_char_boundary(end - what.len().saturating_sub(1));
        }
    }

    /// Where a text has another for the last time, before a byte.
    pub(crate) fn find_last(&self, text: &str, what: &str, to: usize) -> Result<Option<usize>> {
        if what.len() > STEP {
            let (text, what) = (&text.as_bytes()[..to], what.as_bytes());
            let (last, last_of) = (to.wrapping_sub(1), what.len() - 1);
            let found =
                self.find_long(to, what.len(), |i| text[last - i], |i| what[last_of - i])?;
            return Ok(found.map(|at| to - at - what.len()));
        }
        let window = STEP.max(what.len() * 2);
        let mut to = to;
        loop {
            let from = text.floor_char_boundary(to.saturating_sub(window));
            if let Some(at) = text[from..to].rfind(what) {
                return Ok(Some(from + at));
            }
            if from == 0 {
                return Ok(None);
            }
            self.go_on()?;
            // What ends behind the window's beginning may begin before it.
            to = text.ceil_char_boundary(from + what.len().saturating_sub(1));
        }
    }

    /// Where bytes first are in others, both of which may be read backwards. The search of a text by a long
    /// one begins with reading that to its end: this one looks meanwhile. It compares sums of all bytes, each
    /// times a power of a number (Karp and Rabin), and the bytes where the sums are alike.
    fn find_long(
        &self,
        len: usize,
        of: usize,
        byte: impl Fn(usize) -> u8,
        sought: impl Fn(usize) -> u8,
    ) -> Result<Option<usize>> {
        if of > len {
            return Ok(None);
        }
        const BASE: u64 = 0x0100_0000_01b3;
        let add = |sum: u64, byte: u8| sum.wrapping_mul(BASE).wrapping_add(byte.into());
        let watch = Watch::new(self.session);
        let (mut here, mut there, mut power) = (0, 0, 1_u64);
        for i in 0..of {
            watch.step(1)?;
            (here, there) = (add(here, byte(i)), add(there, sought(i)));
            power = power.wrapping_mul(BASE);
        }
        for at in 0.. {
            if here == there {
                let mut alike = 0;
                while alike < of && byte(at + alike) == sought(alike) {
                    watch.step(1)?;
                    alike += 1;
                }
                if alike == of {
                    return Ok(Some(at));
                }
            }
            if at + of == len {
                break;
            }
            watch.step(1)?;
            let gone = power.wrapping_mul(byte(at).into());
            here = add(here, byte(at + of)).wrapping_sub(gone);
        }
        Ok(None)
    }
}

/// Where a text's character begins; its end, where it has fewer. As fast as memory is.
pub(crate) fn offset(text: &str, characters: usize) -> usize {
    let Some(skip) = characters.checked_sub(1) else {
        return 0;
    };
    let mut rest = text.chars();
    rest.nth(skip);
    text.len() - rest.as_str().len()
}
