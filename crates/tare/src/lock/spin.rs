//! How long to spin for a lock before sleeping.
//!
//! Spinning pays only while the holder runs: it will then release the lock in less time than two
//! context switches take. Two facts are known about the holder:
//!
//! - On a single processor the holder does not run while we do: never spin.
//! - The kernel stores the number of a thread's processor in the thread's rseq area, and a holder copies
//!   it into the lock. A waiter on that same processor knows that the holder was pre-empted (or has
//!   moved, which is rare): do not spin.
//!
//! Otherwise it spins with growing pauses, for some 2 µs at most.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod rseq;

use std::sync::atomic::{AtomicU32, Ordering};

/// Rounds of spinning; round n pauses 2^n times. 2^8 pauses are 1 to 2 µs on Zen 4 and on
/// Skylake, less than a sleep and a wake-up (some 5 µs).
const ROUNDS: u32 = 7;

/// Spins for one lock acquisition.
#[derive(Debug)]
pub struct Spin {
    round: u32,
}

impl Spin {
    /// Begins to spin, after the first try has failed.
    pub fn new() -> Self {
        Self {
            round: if processors() == 1 { ROUNDS } else { 0 },
        }
    }

    /// Pauses; false if it is time to sleep. `holder`: the processor that the holder recorded.
    #[inline]
    pub fn again(&mut self, holder: u32) -> bool {
        if self.round >= ROUNDS || (holder != NOWHERE && holder == processor()) {
            return false;
        }
        for _ in 0..1 << self.round {
            std::hint::spin_loop();
        }
        self.round += 1;
        true
    }
}

/// The processor number "unknown".
pub const NOWHERE: u32 = u32::MAX;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use rseq::processor;

/// The processor is unknown.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub const fn processor() -> u32 {
    NOWHERE
}

/// Processors that this process may use.
fn processors() -> u32 {
    static PROCESSORS: AtomicU32 = AtomicU32::new(0);
    match PROCESSORS.load(Ordering::Relaxed) {
        0 => {
            let number = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
            PROCESSORS.store(number, Ordering::Relaxed);
            number
        }
        number => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_one_of_the_machine() {
        let number = processor();
        // The first call finds the rseq area, the second uses it.
        let number = if number == NOWHERE {
            processor()
        } else {
            number
        };
        // SAFETY: sysconf has no preconditions.
        let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) } as u32;
        assert!(
            number == NOWHERE || number < configured,
            "{number} of {configured}"
        );
    }

    #[test]
    fn nobody_spins_for_a_holder_on_the_same_processor() {
        let mut spin = Spin { round: 0 };
        while spin.again(NOWHERE) {}
        assert_eq!(spin.round, ROUNDS);
        if processor() != NOWHERE {
            assert!((0..100).any(|_| !Spin { round: 0 }.again(processor())));
        }
    }
}
