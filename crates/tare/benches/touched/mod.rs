//! The memory that an event touches: pages of code and data, and lines of data, counted by callgrind's
//! simulation of caches.
//!
//! A path runs once after everything has been evicted from the simulated caches, as a server and its
//! clients evict a statement's memory between two events. A cache with lines as large as a page counts
//! pages.

use std::hint::black_box;

/// A measure: its name, callgrind's options, and the events to add up: I1mr, or D1mr and D1mw.
pub struct Measure {
    pub name: &'static str,
    pub options: &'static [&'static str],
    pub events: &'static [&'static str],
}

/// 64 pages of 4 KiB, whichever: as many as first-level tables of address translation have entries.
const PAGES: &[&str] = &[
    "--cache-sim=yes",
    "--I1=262144,64,4096",
    "--D1=262144,64,4096",
    "--LL=8388608,16,64",
];
/// 1 MiB in lines of 64 bytes.
const LINES: &[&str] = &[
    "--cache-sim=yes",
    "--I1=32768,8,64",
    "--D1=1048576,16,64",
    "--LL=8388608,16,64",
];

pub const MEASURES: [Measure; 3] = [
    Measure {
        name: "code pages",
        options: PAGES,
        events: &["I1mr"],
    },
    Measure {
        name: "data pages",
        options: PAGES,
        events: &["D1mr", "D1mw"],
    },
    Measure {
        name: "data lines",
        options: LINES,
        events: &["D1mr", "D1mw"],
    },
];

const PAGE: usize = 4096;
/// More than the simulated caches hold.
const CODE_PAGES: usize = 80;
const DATA_BYTES: usize = 4 << 20;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.tare_evict,\"ax\",@progbits",
    ".balign {page}",
    "tare_evict:",
    ".rept {pages}",
    "ret",
    ".balign {page}, 0xcc",
    ".endr",
    ".popsection",
    page = const PAGE,
    pages = const CODE_PAGES,
);

/// Evicts everything else from the simulated caches.
pub fn evict() {
    let data = vec![0_u8; DATA_BYTES];
    for byte in data.iter().step_by(64) {
        black_box(byte);
    }
    #[cfg(target_arch = "x86_64")]
    for i in 0..CODE_PAGES {
        unsafe extern "C" {
            fn tare_evict();
        }
        let at = (tare_evict as *const () as usize) + i * PAGE;
        // SAFETY: each of these pages begins with a function that returns at once.
        unsafe { std::mem::transmute::<usize, extern "C" fn()>(at)() };
    }
}
