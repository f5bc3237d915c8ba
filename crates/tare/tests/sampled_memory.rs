//! Sampled memory of a host that stores the weight of each allocation: unbiased, with standard errors
//! of the right size.
#![cfg(feature = "instrument")]

mod support;

use support::{Coverage, Random, scale, start};
use tare::settings::ManualWindows;
use tare::{Config, Rule, Sampling};
use tare_layout::line::memory as at;
use tare_layout::sampling::{LARGE, MEMORY};

tare::classes! {
    static HEAP: Memory = "memory/sampling/heap";
}

/// Allocations of a host that stores their weights: large ones are counted one by one, and some of the
/// others stand for all.
#[test]
fn intervals_cover_allocations() {
    const RUNS: usize = 200;
    let tare = start(Config::everything().sampling(Sampling::of(Rule::OneIn(16))));
    let mut windows = ManualWindows::begin().expect("nobody else opens windows");
    windows.at(1);
    let number = tare::host_lock::class_number(&HEAP);
    let cells = |line: usize| {
        let cell = |cell| tare.cell(&HEAP, line, cell);
        [
            at::ALLOC_COUNT,
            at::FREE_COUNT,
            at::ALLOC_BYTES,
            at::FREE_BYTES,
        ]
        .map(cell)
    };
    let variances = || [at::COUNT_VARIANCE, at::BYTES_VARIANCE].map(|i| tare.cell(&HEAP, 1, i));
    let mut random = Random(31);
    let (mut counts, mut bytes) = (Coverage::default(), Coverage::default());
    let (mut all, mut estimated) = ([0; 2], [0; 2]);
    let mut blocks = Vec::new();
    for _ in 0..RUNS {
        let (before, variance) = (cells(0), variances());
        let mut exact = [0; 2];
        for _ in 0..scale(1_000, 10_000) {
            let size = match random.below(20) {
                0 => LARGE as u64 + random.below(100_000),
                _ => 1 + random.below(LARGE as u64 - 1),
            } as usize;
            blocks.push((size, tare::memory::allocated_as(number, size)));
            exact[0] += 1;
            exact[1] += size as u64;
        }
        let (now, variances) = (cells(0), variances());
        let error = |i: usize| ((variances[i] - variance[i]) as f64).sqrt();
        let gained = [now[0] - before[0], now[2] - before[2]];
        counts.add(exact[0], gained[0], error(0));
        bytes.add(exact[1], gained[1], error(1) * at::VARIANCE_UNIT as f64);
        for i in 0..2 {
            all[i] += exact[i];
            estimated[i] += gained[i];
        }
    }
    let (counts, bytes) = (counts.percent(), bytes.percent());
    println!("{counts:.1} % of counts, {bytes:.1} % of bytes");
    for percent in [counts, bytes] {
        // Drawn again each time: four standard errors and more.
        assert!((88.0..=99.9).contains(&percent), "{percent:.1} %");
    }
    for (all, estimated) in all.into_iter().zip(estimated) {
        let off = estimated as f64 / all as f64 - 1.0;
        assert!(off.abs() < 0.05, "{off}");
    }
    let large = blocks.iter().filter(|(size, _)| *size >= LARGE);
    assert!(large.clone().count() > 0 && large.into_iter().all(|(_, weight)| *weight == 1));
    // Each is freed with the weight of its allocation, whatever N is by then.
    tare.view.control().set_rule(MEMORY, Rule::OneIn(3));
    tare.recompute();
    windows.at(2);
    for (size, weight) in blocks {
        tare::memory::freed_as(number, size, weight);
    }
    let [allocated, freed, bytes, bytes_freed] = cells(0);
    assert_eq!((allocated, bytes), (freed, bytes_freed));
    assert_eq!(tare.losses(), []);
}
