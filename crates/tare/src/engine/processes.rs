//! The engine in each of several processes (docs/many-processes.md).

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

use tare_layout::shared::Lost;

use super::state::{Engine, lock};
use super::tree::{Exclusive, Tree};
use super::{clock, running};

/// A mutex of the engine, locked; and the tree's.
pub struct Locked<'a, T> {
    // Unlocked first.
    guard: MutexGuard<'a, T>,
    _exclusive: Option<Exclusive<'a>>,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl Engine {
    /// Until the result is dropped, no thread of another process changes what threads share. `None`: there
    /// is no other process, or one that has the lock does not go on: then this process goes on without Tare
    /// ([`Self::may_change`]). A thread may call it again meanwhile.
    #[inline]
    pub fn exclusive(&self) -> Option<Exclusive<'_>> {
        self.tree.as_ref().and_then(|tree| self.lock_tree(tree))
    }

    #[cold]
    fn lock_tree<'a>(&self, tree: &'a Tree) -> Option<Exclusive<'a>> {
        if self.gave_up.load(Ordering::Relaxed) {
            return None;
        }
        let Some((exclusive, owner_died)) = tree.lock() else {
            running::record(0);
            if !self.gave_up.swap(true, Ordering::Relaxed) {
                self.lose(Lost::Forks, 1);
            }
            return None;
        };
        if owner_died {
            self.repair(tree);
        }
        Some(exclusive)
    }

    /// Whether slots, banks and the owner may be changed, after [`Self::exclusive`] returned this.
    pub fn may_change(&self, exclusive: Option<&Exclusive<'_>>) -> bool {
        self.tree.is_none() || exclusive.is_some()
    }

    /// Locks one of the engine's mutexes, against threads of all processes.
    pub fn lock<'a, T>(&'a self, mutex: &'a Mutex<T>) -> Locked<'a, T> {
        let exclusive = self.exclusive();
        Locked {
            guard: lock(mutex),
            _exclusive: exclusive,
        }
    }

    /// Whether this process is a child of the one in which the engine was created.
    pub fn is_child(&self) -> bool {
        self.is_child.load(Ordering::Relaxed)
    }

    /// In a child of fork, on its only thread: nothing of its parent's threads is its own.
    pub(super) fn begin_in_child(&self, generation: u32) {
        self.set_generation(generation);
        self.locals.forget_all(self.slots_used());
        self.process.store(0, Ordering::Relaxed);
        self.is_child.store(true, Ordering::Relaxed);
    }

    /// The word of this process; 0 if others cannot write the segment.
    pub fn process(&self) -> u64 {
        match (&self.tree, self.process.load(Ordering::Relaxed)) {
            (None, _) => 0,
            (Some(tree), 0) => self.attach_process(tree),
            (Some(_), word) => word,
        }
    }

    /// The process attaches. If the one in the header is gone, the oldest that is left takes its place.
    #[cold]
    fn attach_process(&self, tree: &Tree) -> u64 {
        let exclusive = self.exclusive();
        let attached = self.process.load(Ordering::Relaxed);
        if attached != 0 {
            return attached;
        }
        let own = tare_layout::process::word(std::process::id(), clock::boot_s());
        self.process.store(own, Ordering::Relaxed);
        if exclusive.is_none() {
            return own;
        }
        let owner = tree.owner().load(Ordering::Relaxed);
        if self.has_ended() || owner == 0 {
            self.set_owner(tree, own);
            self.begin_again();
        } else if self.is_dead(owner) {
            self.set_owner(tree, self.oldest_other().unwrap_or(own));
        }
        own
    }

    /// This process stops. Whether another one goes on: also one that has the lock and is stopped itself.
    pub(super) fn leave_tree(&self) -> bool {
        let Some(tree) = &self.tree else {
            return false;
        };
        let exclusive = self.exclusive();
        if exclusive.is_none() {
            return true;
        }
        self.stop_threads();
        let owner = tree.owner().load(Ordering::Relaxed);
        let is_owner = owner == self.process.load(Ordering::Relaxed);
        if self.is_child() && !is_owner {
            // A search makes system calls for which a filter of the host's child may kill it.
            return true;
        }
        let Some(other) = self.oldest_other() else {
            // What the dead left is no longer of anybody.
            self.try_reclaim();
            return false;
        };
        if is_owner || self.is_dead(owner) {
            self.set_owner(tree, other);
        }
        true
    }

    fn set_owner(&self, tree: &Tree, process: u64) {
        tree.owner().store(process, Ordering::Relaxed);
        let pid = tare_layout::process::id(process);
        self.view.header().pid.store(pid, Ordering::Relaxed);
    }
}
