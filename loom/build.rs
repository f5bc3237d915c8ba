//! Takes the locks and lists of crates/tare as they are, and puts loom's atomics into them.
//!
//! Locks are created in constants, which loom's atomics cannot be in; so their sources are rewritten,
//! in few and checked ways, instead of being compiled twice: the algorithms do not change.

use std::path::Path;
use std::{env, fs};

/// Replacements in each file. Each must match, so that a change of the source is noticed.
const REWRITES: [(&str, &[(&str, &str)]); 4] = [
    (
        "lock/mutex.rs",
        &[
            ("std::sync::atomic", "loom::sync::atomic"),
            ("use lock_api::", "use crate::lock_api::"),
            ("lock_api::RawMutex for", "crate::lock_api::RawMutex for"),
            (
                "lock_api::RawMutex::lock(self)",
                "crate::lock_api::RawMutex::lock(self)",
            ),
            ("const fn with", "fn with"),
            ("const INIT: Self = Self::with(P::MUTEX);", ""),
        ],
    ),
    (
        "lock/rwlock.rs",
        &[
            ("std::sync::atomic", "loom::sync::atomic"),
            ("use lock_api::", "use crate::lock_api::"),
            ("lock_api::RawRwLock for", "crate::lock_api::RawRwLock for"),
            ("const fn with", "fn with"),
            ("const INIT: Self = Self::with(P::RWLOCK);", ""),
        ],
    ),
    (
        "sync/condvar.rs",
        &[
            ("std::sync::atomic", "loom::sync::atomic"),
            (
                "lock_api::MutexGuard<'a, RawMutex<LockPoint>, T>",
                "super::MutexGuard<'a, T>",
            ),
            ("pub const fn new", "pub fn new"),
        ],
    ),
    (
        "engine/freelist.rs",
        &[("std::sync::atomic", "loom::sync::atomic")],
    ),
];

fn main() {
    let out = env::var("OUT_DIR").unwrap();
    for (file, replacements) in REWRITES {
        let path = Path::new("../crates/tare/src").join(file);
        println!("cargo:rerun-if-changed={}", path.display());
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        // Tests and examples are std's.
        let mut source = match source.split_once("#[cfg(test)]") {
            Some((code, _)) => code.to_owned(),
            None => source,
        };
        for (from, to) in replacements {
            assert!(
                source.contains(from),
                "{file} no longer has {from:?}: adapt loom/build.rs"
            );
            source = source.replace(from, to);
        }
        // `include!` takes no inner documentation.
        let source = source.replace("//! ", "// ").replace("//!", "//");
        fs::write(
            Path::new(&out).join(Path::new(file).file_name().unwrap()),
            source,
        )
        .unwrap();
    }
}
