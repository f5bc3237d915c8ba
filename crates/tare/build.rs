//! Decides which locks are compiled: `futex_locks` where the target has futexes and the atomics for
//! them, and the feature `os-locks` does not ask for the operating system's.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(futex_locks)");
    let linux = env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux");
    let widths = env::var("CARGO_CFG_TARGET_HAS_ATOMIC").unwrap_or_default();
    let atomics = widths.split(',').any(|width| width == "32");
    if linux && atomics && env::var_os("CARGO_FEATURE_OS_LOCKS").is_none() {
        println!("cargo::rustc-cfg=futex_locks");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
