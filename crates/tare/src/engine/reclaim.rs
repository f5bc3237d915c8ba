//! Slots, banks and sockets of dead processes. The caller has the lock of the [tree](super::tree).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare_layout::account::{CHANGING, READY};
use tare_layout::process;
use tare_layout::slot::{FREE, LIVE, NO_BANK, STOPPED, ring};

use super::clock;
use super::slot::end_slot;
use super::state::Engine;
use super::tree::Tree;

/// How many threads come between two searches, at least.
const MIN_BEFORE_SEARCH: u32 = 16;
/// How many living threads are searched in a second, because that second has passed: a process takes four
/// system calls.
const MAX_PER_SECOND: u32 = 64;

impl Engine {
    /// A thread comes: now and then, dead processes are searched, and what they had is freed.
    pub(super) fn count_down_to_search(&self) {
        let Some(tree) = &self.tree else { return };
        let before_search = tree.before_search().load(Ordering::Relaxed);
        let is_late = clock::boot_s() >= tree.next_search_s().load(Ordering::Relaxed);
        match before_search.checked_sub(1).filter(|_| !is_late) {
            Some(less) => tree.before_search().store(less, Ordering::Relaxed),
            None => self.reclaim(tree),
        }
    }

    /// Searches dead processes now. Whether there can be any.
    pub(super) fn try_reclaim(&self) -> bool {
        let tree = self.tree.as_ref();
        tree.inspect(|tree| self.reclaim(tree)).is_some()
    }

    fn reclaim(&self, tree: &Tree) {
        // Whether each process is dead.
        let mut dead = BTreeMap::new();
        let mut alive = 0;
        for number in self.slots_with(|state| state != FREE) {
            let process = self.view.slot(number).process.load(Ordering::Relaxed);
            match *dead.entry(process).or_insert_with(|| self.is_dead(process)) {
                true => self.end_dead_thread(number),
                false => alive += 1,
            }
        }
        tree.before_search()
            .store(alive + MIN_BEFORE_SEARCH, Ordering::Relaxed);
        let next_s = clock::boot_s() + 1 + alive / MAX_PER_SECOND;
        tree.next_search_s().store(next_s, Ordering::Relaxed);
        self.end_dead_sockets(&mut dead);
    }

    /// The numbers of slots in such a state.
    fn slots_with(&self, is_it: impl Fn(u32) -> bool) -> impl Iterator<Item = usize> {
        let state = |number: usize| self.view.slot(number).state.load(Ordering::Acquire);
        (0..self.slots_used()).filter(move |number| is_it(state(*number)))
    }

    /// This process stops: its threads, which may end later, are none that go on.
    pub(super) fn stop_threads(&self) {
        let own = self.process.load(Ordering::Relaxed);
        for number in self.slots_with(|state| state == LIVE) {
            let slot = self.view.slot(number);
            if slot.process.load(Ordering::Relaxed) == own {
                slot.state.store(STOPPED, Ordering::Release);
            }
        }
    }

    /// How many slots were ever used.
    pub(super) fn slots_used(&self) -> usize {
        let used = self.view.shared().slots_used.0.load(Ordering::Acquire) as usize;
        used.min(self.view.geometry().limits.threads)
    }

    /// The process, other than this one, that has the oldest thread.
    pub(super) fn oldest_other(&self) -> Option<u64> {
        let own = self.process.load(Ordering::Relaxed);
        let mut threads: Vec<(u64, u64)> = self
            .slots_with(|state| state == LIVE)
            .map(|number| self.view.slot(number))
            .map(|slot| {
                let thread = slot.thread_id.load(Ordering::Relaxed);
                (thread, slot.process.load(Ordering::Relaxed))
            })
            .filter(|(_, process)| *process != own)
            .collect();
        threads.sort_unstable();
        let mut processes = threads.into_iter().map(|(_, process)| process);
        processes.find(|process| !self.is_dead(*process))
    }

    /// Whether a process has ended. If that cannot be known, it has not.
    pub(super) fn is_dead(&self, word: u64) -> bool {
        let own = self.process.load(Ordering::Relaxed);
        if word == own {
            return false;
        }
        let id = process::id(word);
        if id == process::id(own) {
            return true;
        }
        // SAFETY: signal 0 is never sent.
        let error = match unsafe { libc::kill(id as libc::pid_t, 0) } {
            0 => None,
            _ => std::io::Error::last_os_error().raw_os_error(),
        };
        if error == Some(libc::ESRCH) {
            return true;
        }
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        Stat::parse(&stat).is_some_and(|stat| {
            stat.has_ended() || stat.start_s > u64::from(process::attached_s(word))
        })
    }

    /// Ends a thread whose process is dead. Its counts stay with its account.
    fn end_dead_thread(&self, number: usize) {
        let slot = self.view.slot(number);
        complete_change(&slot.sequence);
        for ring in 0..ring::RINGS {
            self.give_chunk(number, ring);
        }
        let bank = slot.bank.load(Ordering::Relaxed);
        if bank != NO_BANK && (bank as usize) < self.banks() {
            self.give_dead_bank(bank as usize, number);
        }
        self.disconnect_number(slot.account.swap(0, Ordering::Relaxed));
        end_slot(self, number);
    }

    /// Gives back the bank of a dead thread, unless that has given it back itself.
    fn give_dead_bank(&self, number: usize, slot: usize) {
        let bank = self.view.bank(number);
        if bank.slot.load(Ordering::Relaxed) != slot as u32 + 1 {
            return;
        }
        complete_change(&bank.sequence);
        self.put_all_to_sleep(number);
        self.give_bank(number);
    }

    /// Also those of a process whose threads have given back their slots in exit(3).
    fn end_dead_sockets(&self, dead: &mut BTreeMap<u64, bool>) {
        let used = self.view.shared().sockets_used.0.load(Ordering::Acquire) as usize;
        for index in 0..used.min(self.view.geometry().limits.sockets) {
            let socket = self.view.socket(index);
            let id = socket.id.load(Ordering::Acquire);
            if id == 0 {
                continue;
            }
            let process = socket.process.load(Ordering::Relaxed);
            if *dead.entry(process).or_insert_with(|| self.is_dead(process)) {
                self.end_socket(id);
            }
        }
    }

    /// The owner of the lock has died: completes what it may have been doing, or undoes it.
    #[cold]
    pub(super) fn repair(&self, tree: &Tree) {
        let shared = self.view.shared();
        complete_change(&shared.merge_sequence.0);
        complete_change(&shared.digest_sequence.0);
        self.reclaim(tree);
        self.restore_slots();
        self.restore_banks();
        self.restore_accounts();
        self.restore_files();
        self.restore_digests();
    }

    /// Puts slots that no thread has on the list of free ones.
    fn restore_slots(&self) {
        let used = self.slots_used();
        let free = &self.view.shared().free_slots.0;
        let is_listed = listed(free, used, |i| &self.view.slot(i).next_free);
        for (number, _) in is_listed.iter().enumerate().filter(|(_, listed)| !**listed) {
            let slot = self.view.slot(number);
            if slot.state.load(Ordering::Relaxed) == FREE {
                complete_change(&slot.sequence);
                end_slot(self, number);
            }
        }
    }

    /// Puts banks that no thread has on the lists of their accounts.
    fn restore_banks(&self) {
        let used = self.view.shared().banks_used.0.load(Ordering::Acquire) as usize;
        let used = used.min(self.banks());
        let mut is_listed = vec![false; used];
        let accounts = self.view.geometry().nobody() + 1;
        for account in 0..accounts {
            let free = &self.view.account(account).free_banks;
            let listed = listed(free, used, |i| &self.view.bank(i).next_free);
            is_listed
                .iter_mut()
                .zip(listed)
                .for_each(|(all, one)| *all |= one);
        }
        for (number, _) in is_listed.iter().enumerate().filter(|(_, listed)| !**listed) {
            let bank = self.view.bank(number);
            let has_it = |slot: usize| {
                let slot = self.view.slot(slot);
                let of_slot = slot.bank.load(Ordering::Relaxed) as usize;
                slot.state.load(Ordering::Relaxed) != FREE && of_slot == number
            };
            let slot = bank.slot.load(Ordering::Relaxed).checked_sub(1);
            if slot.is_some_and(|slot| has_it(slot as usize)) {
                continue;
            }
            if bank.used.load(Ordering::Relaxed) == 0 {
                self.begin_bank(number, 0);
            }
            complete_change(&bank.sequence);
            self.put_all_to_sleep(number);
            self.give_bank(number);
        }
    }

    /// An account, user or host that was being given to another one has one of the two names.
    fn restore_accounts(&self) {
        let shared = self.view.shared();
        let accounts = 0..shared.accounts_used.0.load(Ordering::Acquire) as usize;
        let users = 0..shared.users_used.0.load(Ordering::Acquire) as usize;
        let hosts = 0..shared.hosts_used.0.load(Ordering::Acquire) as usize;
        let states = accounts
            .map(|i| &self.view.account(i).state)
            .chain(users.map(|i| &self.view.user(i).state))
            .chain(hosts.map(|i| &self.view.host(i).state));
        for state in states.filter(|state| state.load(Ordering::Relaxed) == CHANGING) {
            state.store(READY, Ordering::Release);
        }
    }
}

/// Completes a change under a sequence lock whose owner died.
fn complete_change(sequence: &AtomicU32) {
    let now = sequence.load(Ordering::Relaxed);
    if now % 2 == 1 {
        sequence.store(now.wrapping_add(1), Ordering::Release);
    }
}

/// For each of the first `count` indexes, whether it is on a list.
fn listed<'a>(head: &AtomicU64, count: usize, link: impl Fn(usize) -> &'a AtomicU32) -> Vec<bool> {
    let mut is_listed = vec![false; count];
    let mut next = head.load(Ordering::Acquire) as u32;
    while let Some(index) = next.checked_sub(1) {
        match is_listed.get_mut(index as usize) {
            Some(listed) if !*listed => *listed = true,
            _ => break,
        }
        next = link(index as usize).load(Ordering::Relaxed);
    }
    is_listed
}

/// What `/proc/PID/stat` says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat<'a> {
    /// Of its first thread.
    state: &'a str,
    threads: u64,
    /// Seconds since boot.
    start_s: u64,
}

impl<'a> Stat<'a> {
    fn parse(stat: &'a str) -> Option<Self> {
        // The name before may have blanks and parentheses (proc_pid_stat(5): fields 3, 20 and 22).
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let threads = fields.nth(16)?.parse().ok()?;
        let start: u64 = fields.nth(1)?.parse().ok()?;
        // SAFETY: no preconditions.
        let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let start_s = start / u64::try_from(per_second).ok()?.max(1);
        Some(Self {
            state,
            threads,
            start_s,
        })
    }

    /// A process whose first thread has ended before others is a zombie with several threads.
    fn has_ended(&self) -> bool {
        self.state == "X" || self.state == "Z" && self.threads <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_and_the_start_of_this_process_are_read() {
        let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc");
        let stat = Stat::parse(&stat).expect("a state");
        assert!(!stat.has_ended());
        assert!(stat.threads >= 1);
        assert!(stat.start_s <= u64::from(clock::boot_s()));
        let of =
            |threads| format!("7 (a b) R) Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 {threads} 0 12345 0");
        let one = of(1);
        let one = Stat::parse(&one).expect("a state");
        assert_eq!((one.state, one.threads, one.start_s), ("Z", 1, 123));
        assert!(one.has_ended());
        assert!(!Stat::parse(&of(2)).expect("a state").has_ended());
    }

    #[test]
    fn an_incomplete_list_ends() {
        let links: Vec<AtomicU32> = [2, 4, 0, 2].map(AtomicU32::new).into();
        let head = |first: u64| AtomicU64::new(7 << 32 | first);
        let of = |first| listed(&head(first), 4, |i| &links[i]);
        assert_eq!(of(0), [false; 4]);
        assert_eq!(of(3), [false, false, true, false]);
        // 0 -> 1 -> 3 -> 1
        assert_eq!(of(1), [true, true, false, true]);
        assert_eq!(of(9), [false; 4]);
    }
}
