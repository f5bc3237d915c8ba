//! The turn of a thread that samples.
//!
//! On busy processors a sampler that wakes gets a processor when another thread gives one up. So it would see
//! the places where threads do that, such as the writes that wake their clients, more often than they are.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem;

/// `struct sched_attr` of sched_setattr(2), in its first version.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// Of threads of the normal policy, from Linux 6.12 on: the length of a turn in nanoseconds, 0 = the
    /// kernel's.
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: u32 = mem::size_of::<Attributes>() as u32;
const HIGHEST: i32 = -20;
/// The shortest that the kernel accepts.
const SHORTEST_TURN: u64 = 100_000;

/// While it lives, its thread runs as soon as it wakes.
#[derive(Debug)]
pub struct Raised {
    before: Option<Attributes>,
    /// It is of the thread that made it.
    _not_send: PhantomData<*const ()>,
}

/// Asks that the calling thread runs as soon as it wakes, until the result is dropped: with short turns, and at
/// the highest priority below that of real-time threads, where it has the right (CAP_SYS_NICE). A thread with
/// a positive nice value keeps it. Without effect on a thread of another policy than the normal one, or if the
/// kernel refuses.
#[must_use = "the priority is as before when it is dropped"]
pub fn raise() -> Raised {
    let Some(before) = read().filter(|now| now.policy == libc::SCHED_OTHER as u32) else {
        return Raised::of(None);
    };
    let short = Attributes {
        runtime: SHORTEST_TURN,
        ..before.clone()
    };
    let is_raised = before.nice <= 0
        && set(&Attributes {
            nice: HIGHEST,
            ..short.clone()
        });
    Raised::of((is_raised || set(&short)).then_some(before))
}

impl Raised {
    fn of(before: Option<Attributes>) -> Self {
        Self {
            before,
            _not_send: PhantomData,
        }
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(before) = &mut self.before {
            // The kernel's length: that of the user, if there was one, cannot be told from it.
            before.runtime = 0;
            // It was so before, and a lower priority needs no right.
            let _ = set(before);
        }
    }
}

/// Those of the calling thread.
fn read() -> Option<Attributes> {
    let mut attributes = Attributes::default();
    let place = &raw mut attributes;
    // SAFETY: the kernel writes at most SIZE bytes of integers.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, place, SIZE, 0_u32) };
    (result == 0).then_some(attributes)
}

fn set(attributes: &Attributes) -> bool {
    let place = &raw const *attributes;
    // SAFETY: the kernel reads SIZE bytes.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, place, 0_u32) };
    result == 0
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_raised_thread_is_as_before_when_its_turn_is_over() {
        let test = || {
            let nice_now = || read().expect("the kernel tells").nice;
            let before = nice_now();
            let nice = |nice| Attributes {
                nice,
                ..read().expect("the kernel tells")
            };
            let has_right = before <= 0 && set(&nice(before - 1)) && set(&nice(before));
            let raised = raise();
            let short = read().expect("the kernel tells").runtime;
            // Before Linux 6.12 turns have no length.
            assert!(short == SHORTEST_TURN || short == 0);
            assert_eq!(nice_now(), if has_right { HIGHEST } else { before });
            drop(raised);
            assert_eq!(nice_now(), before);
        };
        thread::spawn(test).join().expect("no panic");
    }
}
