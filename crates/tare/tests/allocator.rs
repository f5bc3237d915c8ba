//! An allocator that counts through Tare agrees with an independent count. Without a harness, because
//! its threads would allocate, too.
#![cfg_attr(not(feature = "instrument"), allow(dead_code, unused_imports))]

#[cfg(feature = "instrument")]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "instrument")]
use support::{everything, scale};
use tare::memory::Tracked;
use tare_layout::Limits;
use tare_layout::line::memory;
use tare_layout::shared::Lost;

tare::classes! {
    static HEAP: Memory = "memory/allocator/heap", enabled;
    static OTHER: Memory = "memory/allocator/other", enabled;
}

/// The independent count, while Tare runs.
struct Counting;

static ALLOCATED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static FREED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn count(what: &[AtomicU64; 2], bytes: usize) {
    if tare::is_running() {
        what[0].fetch_add(1, Ordering::Relaxed);
        what[1].fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(&ALLOCATED, layout.size());
        // SAFETY: the caller keeps the rules of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(&FREED, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(&ALLOCATED, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(&FREED, layout.size());
        count(&ALLOCATED, size);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Tracked<Counting> = Tracked::new(Counting, &HEAP);

fn read(what: &[AtomicU64; 2]) -> (u64, u64) {
    (
        what[0].load(Ordering::Relaxed),
        what[1].load(Ordering::Relaxed),
    )
}

/// Vectors that grow, shrink, are cloned and dropped.
fn churn(n: usize) {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for i in 0..n {
        let mut one = vec![0u8; i % 300 + 1];
        one.extend_from_slice(&[1; 77]);
        one.shrink_to_fit();
        blocks.push(one.clone());
        if blocks.len() > 20 {
            blocks.remove(i % 20);
        }
    }
}

fn main() {
    #[cfg(feature = "instrument")]
    {
        every_allocation_is_counted_on_one_thread_and_on_many();
        high_marks_are_those_of_the_balance();
    }
    drop(std::hint::black_box(vec![1]));
    println!("allocator: ok");
}

#[cfg(feature = "instrument")]
fn every_allocation_is_counted_on_one_thread_and_on_many() {
    let tare = everything(Limits::default());
    let figures = || {
        [
            memory::ALLOC_COUNT,
            memory::ALLOC_BYTES,
            memory::FREE_COUNT,
            memory::FREE_BYTES,
        ]
        .map(|cell| tare.cell(&HEAP, 0, cell))
    };
    churn(10);
    // On one thread the counts and bytes are exact.
    let (allocated, freed, before) = (read(&ALLOCATED), read(&FREED), figures());
    churn(scale(10_000, 1_000_000));
    let after = figures();
    let (allocated_after, freed_after) = (read(&ALLOCATED), read(&FREED));
    assert_eq!(after[0] - before[0], allocated_after.0 - allocated.0);
    assert_eq!(after[1] - before[1], allocated_after.1 - allocated.1);
    assert_eq!(after[2] - before[2], freed_after.0 - freed.0);
    assert_eq!(after[3] - before[3], freed_after.1 - freed.1);

    // On many threads that come and go: frees after a thread has left count for its account;
    // allocations while it gets its slot are each counted as lost.
    let pool = Mutex::new(Vec::new());
    for _ in 0..scale(20, 500) {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let pool = &pool;
                scope.spawn(move || {
                    churn(50);
                    // Freed by another thread than the one that allocated it.
                    let mut pool = pool.lock().expect("no panic");
                    match thread % 2 {
                        0 => pool.push(vec![1u64; 100]),
                        _ => drop(pool.pop()),
                    }
                });
            }
        });
    }
    while tare.live().len() > 1 {
        std::thread::yield_now();
    }
    // Events that interrupted the creation of a row are pending; this counts them.
    OTHER.register();
    let all = figures();
    assert_eq!(tare.lost(Lost::ThreadEvents), 0);
    let lost = tare.lost(Lost::SignalEvents);
    let counted = all[0] + all[2] + lost;
    let independent = read(&ALLOCATED).0 + read(&FREED).0;
    assert_eq!(counted, independent, "{:?}", tare.losses());
    assert!(lost < independent / 20, "{lost} of {independent} lost");
}

#[cfg(feature = "instrument")]
fn high_marks_are_those_of_the_balance() {
    let tare = everything(Limits::default());
    for bytes in [100, 200, 300] {
        tare::memory::allocated(&OTHER, bytes);
    }
    tare::memory::freed(&OTHER, 300);
    tare::memory::allocated(&OTHER, 50);
    assert_eq!(tare.cell(&OTHER, 0, memory::HIGH_COUNT), 3);
    assert_eq!(tare.cell(&OTHER, 0, memory::HIGH_BYTES), 600);
    // Freed here, allocated elsewhere: this thread's balance falls below zero.
    for _ in 0..5 {
        tare::memory::freed(&OTHER, 100);
    }
    assert_eq!(tare.cell(&OTHER, 1, memory::LOW_COUNT) as i64, -2);
    assert_eq!(tare.cell(&OTHER, 1, memory::LOW_BYTES) as i64, -150);
    assert_eq!(tare.cell(&OTHER, 0, memory::HIGH_BYTES), 600);
}
