//! Whether the statement that a thread runs must end: it was killed, its time is over, its client has
//! gone, or it has taken more memory than it may.
//!
//! A session puts itself on watch when a statement comes, and stays there until it is answered. Whatever
//! works for the statement meanwhile, from its first token to its last row, asks [`pace`] as it goes on.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::error::{Result, SqlError};
use crate::memory;

/// Who knows whether a statement must end.
pub trait Watch: Send + Sync {
    /// Whether it must. May be asked often, and must not block.
    fn must_stop(&self) -> bool;

    /// Why: 1317 or 3024.
    fn interruption(&self) -> SqlError;
}

/// Steps of some hundred nanoseconds between two looks.
const STEPS: u32 = 256;

/// What a step goes through.
const BYTES: usize = 512;

/// What is gone through between two looks.
pub(crate) const LOOKS: usize = BYTES * STEPS as usize;

thread_local! {
    static WATCH: RefCell<Option<Arc<dyn Watch>>> = const { RefCell::new(None) };
    /// Steps until the next look.
    static LEFT: Cell<u32> = const { Cell::new(STEPS) };
    /// Why the statement must end, once that was seen.
    static ENDED: RefCell<Option<SqlError>> = const { RefCell::new(None) };
    /// What is done is not the statement's alone.
    static SHARED: Cell<bool> = const { Cell::new(false) };
    /// The statement changes nothing: what it would give after it must end, nobody gets.
    static READS: Cell<bool> = const { Cell::new(false) };
    /// It reads outside of a transaction.
    static ALONE: Cell<bool> = const { Cell::new(false) };
    /// It was told what is not so.
    static CUT: Cell<bool> = const { Cell::new(false) };
}

/// While this lives, the thread's statement is watched.
#[derive(Debug)]
pub struct Watched(());

/// A statement comes, and with it who watches it. One that runs within another one is a part of that:
/// `None` there.
pub fn watched(by: &Arc<impl Watch + 'static>) -> Option<Watched> {
    WATCH.with_borrow_mut(|watch| match watch {
        Some(_) => None,
        None => {
            *watch = Some(by.clone());
            Some(Watched(()))
        }
    })
}

impl Drop for Watched {
    fn drop(&mut self) {
        WATCH.take();
        ENDED.take();
    }
}

/// Does what is kept for others, too: it is done to its end, whatever becomes of the statement.
pub fn shared<R>(run: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            SHARED.set(self.0);
        }
    }
    let _before = Before(SHARED.replace(true));
    run()
}

/// Whether what is done is kept for others, too.
pub fn is_shared() -> bool {
    SHARED.get()
}

/// While this lives, the thread's statement changes nothing.
#[derive(Debug)]
pub struct Reading {
    before: bool,
    alone_before: bool,
}

/// A statement begins to run that changes nothing: in a transaction, or alone.
#[inline]
pub fn reading(in_transaction: bool) -> Reading {
    let before = READS.replace(true);
    let alone_before = ALONE.get();
    // One that runs within another one has its transaction.
    ALONE.set(!in_transaction && (alone_before || !before));
    Reading {
        before,
        alone_before,
    }
}

impl Drop for Reading {
    #[inline]
    fn drop(&mut self) {
        READS.set(self.before);
        ALONE.set(self.alone_before);
        if !self.before {
            // Where the statement has ended by an error, nobody has asked.
            CUT.set(false);
        }
    }
}

/// Whether the statement changes nothing and must end: then it may be told anything, so that it ends soon.
/// It has to ask [`whole`] before it says that it is done. A step, as [`pace`] is.
#[inline]
pub fn may_cut(bytes: usize) -> bool {
    READS.get() && pace_by(bytes).is_err() && cut()
}

/// The same, where `must_stop` tells whether it must end.
pub fn may_cut_if(must_stop: impl FnOnce() -> bool) -> bool {
    READS.get() && must_stop() && cut()
}

/// Whether the statement must end, and may be refused a large block of memory for that. SQLite gives a
/// transaction up that it gets no memory for: so only a statement that is no part of one.
#[inline]
pub fn may_refuse() -> bool {
    ALONE.get() && must_stop() && cut()
}

#[cold]
fn cut() -> bool {
    CUT.set(true);
    true
}

/// Whether the statement was told nothing but what is so.
///
/// # Errors
/// As [`look`].
#[inline]
pub fn whole() -> Result<()> {
    match CUT.replace(false) {
        false => Ok(()),
        true => look().and(Err(SqlError::interrupted())),
    }
}

/// Looks whether the statement goes on.
///
/// # Errors
/// 1317, 3024 or 1041, from then on.
pub fn look() -> Result<()> {
    LEFT.set(STEPS);
    if is_shared() {
        return Ok(());
    }
    let watch = WATCH.with_borrow(Clone::clone);
    let is_watched = watch.is_some();
    let error =
        ENDED
            .with_borrow(Clone::clone)
            .or_else(|| match watch.filter(|watch| watch.must_stop()) {
                Some(watch) => Some(watch.interruption()),
                None => (!memory::has_room(0)).then(memory::exhausted),
            });
    let Some(error) = error else {
        return Ok(());
    };
    if is_watched {
        // The next step looks again, and sees the same.
        LEFT.set(1);
        ENDED.set(Some(error.clone()));
    }
    Err(error)
}

/// A step of a statement's work, of less than a microsecond: looks now and then whether it goes on.
///
/// # Errors
/// As [`look`].
#[inline]
pub fn pace() -> Result<()> {
    let left = LEFT.get() - 1;
    LEFT.set(left);
    match left {
        0 => look(),
        _ => Ok(()),
    }
}

/// The same of a step that goes through so many bytes.
///
/// # Errors
/// As [`look`].
#[inline]
pub fn pace_by(bytes: usize) -> Result<()> {
    let steps = u32::try_from(bytes / BYTES).unwrap_or(STEPS);
    LEFT.set(LEFT.get().saturating_sub(steps).max(1));
    pace()
}

/// Whether the statement must end, for whoever can tell no error.
pub fn must_stop() -> bool {
    look().is_err()
}

/// The text of what may be long.
///
/// # Errors
/// As [`look`].
pub fn text(of: &impl std::fmt::Display) -> Result<String> {
    struct Paced(String);
    impl std::fmt::Write for Paced {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.push_str(text);
            pace().map_err(|_| std::fmt::Error)
        }
    }
    let mut paced = Paced(String::new());
    match std::fmt::Write::write_fmt(&mut paced, format_args!("{of}")) {
        Ok(()) => Ok(paced.0),
        Err(std::fmt::Error) => {
            look()?;
            Ok(of.to_string())
        }
    }
}

/// The text that bytes are, read in steps; `None` where they are none. Of a statement that may be told
/// anything, maybe only the beginning.
fn valid(bytes: &[u8]) -> Option<&str> {
    let mut at = 0;
    while at < bytes.len() {
        let step = &bytes[at..bytes.len().min(at + LOOKS)];
        at += match std::str::from_utf8(step) {
            Ok(_) => step.len(),
            // The step ends within a character.
            Err(e) if e.error_len().is_none() && at + step.len() < bytes.len() => e.valid_up_to(),
            Err(_) => return None,
        };
        if may_cut(LOOKS) {
            break;
        }
    }
    // SAFETY: each step so far is UTF-8 up to where the next one begins.
    Some(unsafe { std::str::from_utf8_unchecked(&bytes[..at]) })
}

/// The text of bytes: what is no UTF-8 is replaced, as [`String::from_utf8_lossy`] does it. Of a statement
/// that [may be told anything](may_cut), only the beginning.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if bytes.len() <= LOOKS {
        return String::from_utf8_lossy(bytes);
    }
    let bytes = match may_cut(bytes.len()) {
        true => &bytes[..LOOKS],
        false => bytes,
    };
    if let Some(text) = valid(bytes) {
        return text.into();
    }
    let mut text = String::with_capacity(bytes.len());
    let mut since = 0;
    // Each byte may be a chunk of its own, which takes some ten nanoseconds.
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        since += chunk.valid().len() + chunk.invalid().len();
        if since >= LOOKS {
            if may_cut(since) {
                break;
            }
            since = 0;
        }
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Switch(AtomicBool);

    impl Watch for Switch {
        fn must_stop(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }

        fn interruption(&self) -> SqlError {
            SqlError::interrupted()
        }
    }

    fn steps() -> u32 {
        (0..10 * STEPS).take_while(|_| pace().is_ok()).count() as u32
    }

    #[test]
    fn who_is_watched_ends_and_who_is_not_goes_on() {
        assert_eq!(steps(), 10 * STEPS, "nobody watches");
        let switch = Arc::new(Switch::default());
        {
            let watched = watched(&switch);
            assert!(watched.is_some() && super::watched(&switch).is_none());
            assert_eq!(steps(), 10 * STEPS);
            assert_eq!(text(&"a".repeat(5)).as_deref(), Ok("aaaaa"));
            switch.0.store(true, Ordering::Relaxed);
            assert!(steps() < STEPS);
            assert_eq!(steps(), 0, "and from then on");
            assert_eq!(text(&"a").map_err(|e| e.code), Err(1317));
            // What was seen holds, though the reason has gone.
            switch.0.store(false, Ordering::Relaxed);
            assert!(must_stop());
        }
        assert_eq!(steps(), 10 * STEPS, "the next statement");
    }

    #[test]
    fn what_is_kept_for_others_is_done_to_its_end() {
        let switch = Arc::new(Switch(AtomicBool::new(true)));
        let _watched = watched(&switch);
        assert_eq!(shared(|| shared(steps) + steps()), 20 * STEPS);
        assert!(must_stop());
    }

    #[test]
    fn memory_ends_a_statement_too() {
        let limit = memory::statement(1000);
        assert!(look().is_ok());
        assert!(memory::take(1000) && look().is_ok());
        // What an allocator counts that cannot refuse.
        memory::count(1);
        assert_eq!(look().map_err(|e| e.code), Err(1041));
        drop(limit);
        assert!(look().is_ok());
    }

    #[test]
    fn only_what_reads_is_cut_and_does_not_say_that_it_is_whole() {
        let switch = Arc::new(Switch(AtomicBool::new(true)));
        let _watched = watched(&switch);
        let cuts = || (0..2 * STEPS).any(|_| may_cut(0)) || may_cut_if(|| true);
        assert!(!cuts() && whole().is_ok());
        {
            let _outer = reading(true);
            assert!(cuts() && !may_cut_if(|| false));
            drop(reading(true));
            assert_eq!(whole().map_err(|e| e.code), Err(1317));
        }
        assert!(!cuts() && whole().is_ok());
        // One that has failed has not asked, and the next one does not hear of it.
        {
            let _reads = reading(true);
            assert!(cuts());
        }
        assert!(whole().is_ok());
    }

    #[test]
    fn only_what_reads_alone_is_refused_memory() {
        let switch = Arc::new(Switch(AtomicBool::new(true)));
        let _watched = watched(&switch);
        assert!(!may_refuse());
        {
            let _in_transaction = reading(true);
            assert!(!may_refuse());
            let _within = reading(false);
            assert!(!may_refuse());
        }
        {
            let _alone = reading(false);
            assert!(may_refuse() && whole().is_err());
            drop(reading(true));
            assert!(may_refuse(), "as before");
        }
        assert!(!may_refuse());
    }

    #[test]
    fn a_long_text_is_whole_unless_it_may_be_cut() {
        let switch = Arc::new(Switch(AtomicBool::new(true)));
        let _watched = watched(&switch);
        for part in [&b"\xff"[..], b"ab\xc3", "é".as_bytes()] {
            let bytes = part.repeat(4 * LOOKS);
            let whole_text = String::from_utf8_lossy(&bytes);
            assert!(lossy(&bytes) == whole_text && whole().is_ok());
            let _reads = reading(true);
            let found = lossy(&bytes);
            assert!(
                found.len() > LOOKS / 2
                    && whole_text.starts_with(found.trim_end_matches(char::REPLACEMENT_CHARACTER))
            );
            assert!(found.len() < whole_text.len() && whole().is_err());
        }
    }
}
