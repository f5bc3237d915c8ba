//! The processors that server and load run on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Restores the calling thread's processors when it is dropped.
#[derive(Debug)]
pub struct AffinityGuard {
    before: Option<CpuSet>,
}

/// Restricts the calling thread, and what it starts, to so many processors; 0 means all. It chooses the
/// last ones, because the first does most of a system's other work. If that is not allowed, all are
/// used.
pub fn share(count: usize) -> AffinityGuard {
    let all = sched_getaffinity(None).ok();
    let before = all.filter(|_| count > 0).filter(|all| {
        let mut some = CpuSet::new();
        let there = (0..CpuSet::MAX_CPU).rev().filter(|cpu| all.is_set(*cpu));
        there.take(count).for_each(|cpu| some.set(cpu));
        sched_setaffinity(None, &some).is_ok()
    });
    AffinityGuard { before }
}

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // These processors were allowed before.
            let _ = sched_setaffinity(None, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_threads_share_the_processors() {
        let count = || sched_getaffinity(None).expect("known").count();
        let all = count();
        let shared = share(1);
        assert_eq!(count(), 1);
        assert_eq!(std::thread::spawn(count).join().expect("counted"), 1);
        drop(shared);
        assert_eq!(count(), all);
        drop(share(0));
        assert_eq!(count(), all);
    }
}
