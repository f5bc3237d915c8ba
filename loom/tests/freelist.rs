//! The list of free slots: one thread pops each pushed index, and sees what was written before.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;

use tare_loom::freelist::{pop, push, take_new};

struct List {
    head: AtomicU64,
    links: [AtomicU32; 3],
    /// The last owner's writes to each entry.
    things: [AtomicU32; 3],
}

impl List {
    fn new(free: usize) -> Arc<Self> {
        let list = Self {
            head: AtomicU64::new(0),
            links: std::array::from_fn(|_| AtomicU32::new(0)),
            things: std::array::from_fn(|_| AtomicU32::new(0)),
        };
        for index in 0..free {
            push(&list.head, index, &list.links[index]);
        }
        Arc::new(list)
    }

    /// Takes an index, checks that no other thread has it, and gives it back.
    fn borrow(&self) -> bool {
        let Some(index) = pop(&self.head, |index| self.links.get(index)) else {
            return false;
        };
        // Relaxed: only the list orders one owner before the next.
        assert_eq!(
            self.things[index].load(Ordering::Relaxed),
            0,
            "{index} was given twice"
        );
        self.things[index].store(1, Ordering::Relaxed);
        self.things[index].store(0, Ordering::Relaxed);
        push(&self.head, index, &self.links[index]);
        true
    }

    fn drain(&self) -> Vec<usize> {
        let mut popped: Vec<_> =
            std::iter::from_fn(|| pop(&self.head, |index| self.links.get(index))).collect();
        popped.sort_unstable();
        popped
    }
}

#[test]
fn an_index_has_one_owner() {
    loom::model(|| {
        let list = List::new(2);
        let other = thread::spawn({
            let list = list.clone();
            move || (list.borrow(), list.borrow())
        });
        list.borrow();
        other.join().unwrap();
        assert_eq!(list.drain(), [0, 1]);
    });
}

#[test]
fn three_threads_share_two_indexes() {
    loom::model(|| {
        let list = List::new(2);
        let others = [(); 2].map(|()| {
            let list = list.clone();
            thread::spawn(move || list.borrow())
        });
        list.borrow();
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(list.drain(), [0, 1]);
    });
}

#[test]
fn an_unused_index_is_taken_once() {
    loom::model(|| {
        let used = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let used = used.clone();
            move || take_new(&used, 1)
        });
        let mine = take_new(&used, 1);
        let theirs = other.join().unwrap();
        assert!(mine.is_some() != theirs.is_some());
    });
}
