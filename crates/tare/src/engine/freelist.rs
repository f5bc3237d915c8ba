//! Lists of free slots, banks and instances inside the segment: a stack of indexes.
//!
//! The head has index + 1 in its low half, and in its high half a tag that every change increments, so
//! that an equal head is the same list (no ABA). Threads use these lists when they come and go.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Puts `index` on the list; `next` is its link.
pub fn push(head: &AtomicU64, index: usize, next: &AtomicU32) {
    let mut old = head.load(Ordering::Relaxed);
    loop {
        next.store(old as u32, Ordering::Relaxed);
        let new = bumped(old) | (index as u64 + 1);
        // Release: the thread that pops the index sees what its last owner wrote.
        match head.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}

/// Takes an index off the list; `link` gives the link of an index.
pub fn pop<'a>(head: &AtomicU64, link: impl Fn(usize) -> Option<&'a AtomicU32>) -> Option<usize> {
    let mut old = head.load(Ordering::Acquire);
    loop {
        let index = (old as u32).checked_sub(1)? as usize;
        // Another thread may take the index and change its link before the exchange; then the tag differs.
        let next = link(index)?.load(Ordering::Relaxed);
        let new = bumped(old) | u64::from(next);
        match head.compare_exchange_weak(old, new, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return Some(index),
            Err(now) => old = now,
        }
    }
}

fn bumped(head: u64) -> u64 {
    ((head >> 32).wrapping_add(1)) << 32
}

/// Takes the next index that was never used, if any is left of `limit`.
pub fn take_new(used: &AtomicU32, limit: usize) -> Option<usize> {
    used.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| {
        ((n as usize) < limit).then_some(n + 1)
    })
    .ok()
    .map(|n| n as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn each_pushed_index_is_popped_once() {
        let links: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
        let head = AtomicU64::new(0);
        let owned: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
        for (i, link) in links.iter().enumerate() {
            push(&head, i, link);
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(i) = pop(&head, |i| links.get(i)) {
                            assert_eq!(
                                owned[i].swap(1, Ordering::SeqCst),
                                0,
                                "{i} was given twice"
                            );
                            owned[i].store(0, Ordering::SeqCst);
                            push(&head, i, &links[i]);
                        }
                    }
                });
            }
        });
        let mut popped: Vec<usize> = std::iter::from_fn(|| pop(&head, |i| links.get(i))).collect();
        popped.sort_unstable();
        assert_eq!(popped, (0..64).collect::<Vec<_>>());
    }
}
