//! The rules of setup_actors: which users' foreground threads are instrumented.
//!
//! Any reader adds, changes and removes rules, one reader at a time (`control.truncating`); the host
//! reads them when a client logs in. A rule's `sequence` is odd while it is written, and its reader
//! compares the sequence before and after.

use crate::name::Name;
use crate::primitive::{AtomicU32, Ordering, fence};

/// Any user, any host, any role.
pub const ANY: &str = "%";

/// In [`Actor::flags`]: the rule exists.
pub const USED: u32 = 1;
/// In [`Actor::flags`]: threads are instrumented.
pub const ENABLED: u32 = 2;
/// In [`Actor::flags`]: their events are stored in histories.
pub const HISTORY: u32 = 4;

/// A row of setup_actors.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Actor {
    /// Odd while the rule is being written.
    pub sequence: AtomicU32,
    /// [`USED`], [`ENABLED`], [`HISTORY`].
    pub flags: AtomicU32,
    /// `char(60)`, or [`ANY`].
    pub host: Name<30>,
    /// `char(32)`, or [`ANY`].
    pub user: Name<16>,
    /// `char(32)`; as in MySQL, not used.
    pub role: Name<16>,
}

/// How often a rule that is being written is read again: writing one takes less than a microsecond, and
/// a writer that was killed during a change leaves it odd for good.
const MAX_READ_TRIES: usize = 1000;

impl Actor {
    /// A consistent result of `read` on the rule; `None` if it is written all the time.
    pub fn read<T>(&self, mut read: impl FnMut(&Self, u32) -> T) -> Option<T> {
        for _ in 0..MAX_READ_TRIES {
            let sequence = self.sequence.load(Ordering::Acquire);
            if sequence.is_multiple_of(2) {
                let copy = read(self, self.flags.load(Ordering::Relaxed));
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == sequence {
                    return Some(copy);
                }
            }
            core::hint::spin_loop();
        }
        None
    }

    /// Changes the rule. One caller at a time.
    pub fn write(&self, write: impl FnOnce(&Self)) {
        // A writer that was killed left the sequence odd.
        let sequence = self.sequence.load(Ordering::Relaxed) & !1;
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        write(self);
        self.sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// How well the rule fits: 0 not at all, 1 any user at any host, 2 any user at this host, 3
    /// this user at any host, 4 this user at this host.
    fn fit(&self, user: &str, host: &str) -> u8 {
        let part = |name: &str, any: bool, exact: bool| match (any, exact) {
            (_, true) if !name.is_empty() => Some(1),
            (true, _) => Some(0),
            _ => None,
        };
        let of_user = part(user, self.user.is(ANY), self.user.is(user));
        let of_host = part(host, self.host.is(ANY), self.host.is(host));
        match (of_user, of_host) {
            (Some(user), Some(host)) => 1 + 2 * user + host,
            _ => 0,
        }
    }
}

/// INSTRUMENTED and HISTORY of a new thread of this user and host, by the rule that fits best (the
/// exact account, then the user, then the host, then any); both false if none fits.
pub fn resolve<'a>(
    actors: impl IntoIterator<Item = &'a Actor>,
    user: &str,
    host: &str,
) -> (bool, bool) {
    let mut best = (0, 0);
    for actor in actors {
        let best_fit = actor.read(|actor, flags| match flags & USED {
            0 => (0, 0),
            _ => (actor.fit(user, host), flags),
        });
        if let Some((fit, flags)) = best_fit
            && fit > best.0
        {
            best = (fit, flags);
        }
    }
    (best.1 & ENABLED != 0, best.1 & HISTORY != 0)
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    fn actor(user: &str, host: &str, flags: u32) -> Actor {
        let actor = Actor::default();
        actor.write(|actor| {
            actor.user.set(user);
            actor.host.set(host);
            actor.flags.store(USED | flags, Ordering::Relaxed);
        });
        actor
    }

    #[test]
    fn the_best_fit_wins_whatever_the_order() {
        let rules = [
            actor("%", "%", 0),
            actor("%", "h1", HISTORY),
            actor("alice", "%", ENABLED),
            actor("alice", "h1", ENABLED | HISTORY),
        ];
        let of = |user, host| resolve(&rules, user, host);
        assert_eq!(of("alice", "h1"), (true, true));
        assert_eq!(of("alice", "h2"), (true, false));
        assert_eq!(of("bob", "h1"), (false, true));
        assert_eq!(of("bob", "h2"), (false, false));
        let turned = rules.iter().rev();
        assert_eq!(resolve(turned, "alice", "h1"), (true, true));
        assert_eq!(resolve(&rules[1..2], "bob", "h2"), (false, false));
        assert_eq!(resolve([], "alice", "h1"), (false, false));
    }

    #[test]
    fn a_half_written_rule_is_ignored() {
        let rule = actor("%", "%", ENABLED);
        rule.sequence.store(7, Ordering::Relaxed);
        assert_eq!(resolve([&rule], "alice", "h1"), (false, false));
        rule.write(|rule| rule.flags.store(USED | HISTORY, Ordering::Relaxed));
        assert_eq!(resolve([&rule], "alice", "h1"), (false, true));
    }
}
