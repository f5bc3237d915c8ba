//! Taking a slot and a bank for a thread, and giving them back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use tare_layout::attributes::{Attributes, FIRST_BYTES};
use tare_layout::bank::Bank;
use tare_layout::control::{THREAD, thread_mask};
use tare_layout::event;
use tare_layout::geometry::{FIRST_TEXT_BYTES, PAGE};
use tare_layout::shared::Lost;
use tare_layout::sizes;
use tare_layout::slot::{FREE, LIVE, NO_BANK, Slot, ring};

use super::account::Account;
use super::local::{AutocommitTransaction, Local, Rings};
use super::open_stage::OpenStage;
use super::pending::Pending;
use super::running::is_running;
use super::state::Engine;
use super::{clock, freelist, hot, system};
use crate::class::Class;

impl Engine {
    /// Sets `threads.INSTRUMENTED` and `HISTORY` of a slot. If a reader switches
    /// `thread_instrumentation` meanwhile, either it sees this mask, or this thread sees the switch.
    pub(super) fn set_mask(&self, slot: usize, instrumented: bool, history: bool) {
        let consumers = || self.view.control().consumers.load(Ordering::SeqCst);
        let mask = &self.view.thread_masks()[slot];
        let mut under = consumers();
        loop {
            mask.store(thread_mask(instrumented, history, under), Ordering::SeqCst);
            let now = consumers();
            if now & THREAD == under & THREAD {
                return;
            }
            under = now;
        }
    }
}

impl Local {
    /// Takes a slot; `None` if none is left or may be taken, which the caller [counts](Engine::lose_thread).
    /// It has no bank until it counts something: a connection of a server with everything off never does.
    pub fn take_slot(
        engine: &Arc<Engine>,
        class: &'static Class,
        parent: u64,
        os_id: u64,
    ) -> Option<*mut Local> {
        let exclusive = engine.exclusive();
        if !engine.may_change(exclusive.as_ref()) {
            return None;
        }
        let process = engine.process();
        engine.count_down_to_search();
        let view = &engine.view;
        let shared = view.shared();
        let threads = engine.limit_for(sizes::THREADS, view.geometry().limits.threads);
        let threads = engine.limit_for(sizes::THREAD_CLASSES, threads);
        let link = |i: usize| (i < threads).then(|| &view.slot(i).next_free);
        let pop = || freelist::pop(&shared.free_slots.0, link);
        let number = pop()
            .or_else(|| freelist::take_new(&shared.slots_used.0, threads))
            .or_else(|| engine.try_reclaim().then(pop).flatten())?;
        let slot = view.slot(number);
        let parked = engine.locals.of(number);
        let class_number = engine.number(class);
        // SAFETY: null, or created by `new`; the thread that had the slot before has left it.
        let before = unsafe { parked.load(Ordering::Acquire).cast::<Self>().as_ref() };
        // A thread of another process may have written texts.
        let has_texts = process != 0 || before.is_some_and(|before| before.has_texts.get());
        let first_text = view.geometry().limits.text_ring_bytes - FIRST_TEXT_BYTES;
        if has_texts {
            slot.state_text.set("");
            slot.info.set("");
            slot.attributes.clear();
            view.traceparent(number).clear();
        }
        begin_slot(slot, view.statements(number), first_text as u64, |slot| {
            let id = shared.next_thread_id.0.fetch_add(1, Ordering::Relaxed);
            slot.thread_id.store(id, Ordering::Relaxed);
            slot.class.store(u32::from(class_number), Ordering::Relaxed);
            slot.parent_id.store(parent, Ordering::Relaxed);
            slot.os_id.store(os_id, Ordering::Relaxed);
            slot.process.store(process, Ordering::Relaxed);
            slot.bank.store(NO_BANK, Ordering::Relaxed);
            slot.command_since.store(clock::now(), Ordering::Relaxed);
        });
        let (instrumented, history) = engine.thread_class(class_number);
        engine.set_mask(number, instrumented, history);
        let local = match parked.load(Ordering::Acquire).cast::<Self>() {
            place if place.is_null() => {
                let new = Self::new(engine, number);
                if new.is_null() {
                    end_slot(engine, number);
                    return None;
                }
                parked.store(new.cast(), Ordering::Release);
                new
            }
            place => {
                // SAFETY: created by `new`; the thread that had the slot before has left it.
                unsafe { (*place).renew(engine) };
                place
            }
        };
        Some(local)
    }

    /// Allocates a slot's local; null if there is no memory.
    fn new(engine: &Arc<Engine>, number: usize) -> *mut Local {
        let view = &engine.view;
        let value = Local {
            key: u64::from(engine.generation()) << 32 | number as u64,
            effective: view.controls().effective.as_ptr(),
            mask: &view.thread_masks()[number],
            object_masks: view.object_masks(),
            sockets: view.sockets(),
            index: Cell::new(no_bank::INDEX.as_ptr()),
            arena: Cell::new(std::ptr::null()),
            bank: Cell::new(no_bank::bank()),
            slot: view.slot(number),
            rings: Rings {
                waits: view.ring_waits(number),
                stages: view.ring_stages(number),
                statements: view.ring_statements(number),
                open_statements: view.statements(number),
                transactions: view.ring_transactions(number),
                text: view.text_ring(number),
                active_text: view.active_text(number),
                active_text_bytes: (engine.sql_text_bytes).min(8 * view.active_text(number).len()),
                long_waits: view.long_waits(),
                long_stages: view.long_stages(),
            },
            sources: engine.sources.first(),
            metric_flags: view.metric_flags().as_ptr(),
            metric_row: view.metric_row(number).as_ptr(),
            bank_number: Cell::new(no_bank::NUMBER),
            settings: &view.control().version,
            changes: &view.control().changes,
            edge_version: Cell::new(0),
            settings_from: Cell::new(0),
            resumes: Cell::new(0),
            engine: ManuallyDrop::new(Arc::clone(engine)),
            pending: Pending::default(),
            edge: Cell::new(0),
            idle_end: Cell::new(0),
            stage_weight: Cell::new(1),
            defers_times: Cell::new(false),
            stage: OpenStage::default(),
            statements: Cell::new(0),
            statement_ids: Default::default(),
            statement_starts: Default::default(),
            statement_cpu: Default::default(),
            outer_statements: Default::default(),
            counted: Default::default(),
            autocommit: Default::default(),
            transaction_id: Cell::new(0),
            cursors: Default::default(),
            has_texts: Cell::new(false),
            account: Cell::default(),
            awaits_account: Cell::new(false),
            schema: Cell::new(0),
            task: Cell::default(),
            digests: UnsafeCell::default(),
            program: Cell::new(0),
            metadata_locks: Cell::default(),
            metadata_locks_cached: Cell::default(),
            marked_locks: Cell::default(),
        };
        // The system's allocator directly: the host's may be one that counts through Tare.
        // SAFETY: the layout is not of size zero; the pointer is checked.
        let place = unsafe { System.alloc(Layout::new::<Local>()) }.cast::<Local>();
        if !place.is_null() {
            // SAFETY: allocated for a Local, not yet initialised.
            unsafe { place.write(value) };
        }
        place
    }

    /// Initialises it for a new thread. The cached digests remain valid; the ids and counters of open
    /// statements are written when one begins.
    fn renew(&mut self, engine: &Arc<Engine>) {
        self.leave_bank();
        self.engine = ManuallyDrop::new(Arc::clone(engine));
        self.defers_times.set(false);
        self.pending = Pending::default();
        self.edge.set(0);
        self.idle_end.set(0);
        self.stage.waits.set(0);
        self.stage.set(0, 0, 0, 0);
        self.statements.set(0);
        self.autocommit = AutocommitTransaction::default();
        self.transaction_id.set(0);
        self.task.take();
        self.cursors = Default::default();
        self.has_texts.set(false);
        self.account.take();
        self.awaits_account.set(false);
        self.schema.set(0);
        self.program.set(0);
        self.metadata_locks.take();
        self.metadata_locks_cached.take();
        self.marked_locks.take();
    }

    /// Frees a local that [`Local::take_slot`] allocated.
    ///
    /// # Safety
    /// `local` is null, or came from `take_slot` and was left, and no thread uses it any more.
    pub unsafe fn free(local: *mut ()) {
        let local = local.cast::<Self>();
        if !local.is_null() {
            // SAFETY: initialised by `new`, allocated by it with the same layout.
            unsafe {
                ptr::drop_in_place(local);
                System.dealloc(local.cast(), Layout::new::<Local>());
            }
        }
    }

    /// Gives slot and bank back. The local stays with the slot, for the next thread that has it.
    ///
    /// # Safety
    /// `local` came from [`Local::take_slot`], and no thread uses it any more.
    pub unsafe fn leave(local: *mut Local) {
        // SAFETY: by the rule above it is valid and not shared.
        let local = unsafe { &mut *local };
        if !is_running(&local.engine) && !local.engine.is_ours() {
            // In a child of fork: the parent's thread uses slot and bank. This leaks memory of a
            // process that runs without Tare.
            return;
        }
        if (local.key >> 32) as u32 != local.engine.generation() {
            // The same in a child that records: a session of its parent.
            return;
        }
        local.settle();
        let many = (local.engine.tree.is_some()).then(|| Arc::clone(&local.engine));
        let exclusive = many.as_ref().and_then(|engine| engine.exclusive());
        if many.is_some() && exclusive.is_none() {
            // A search frees them once this process has ended.
            return;
        }
        // The session never got an account, so its counts are the background's.
        local.name_bank(0);
        if has_had_events(local.slot) {
            for number in 0..ring::RINGS {
                local.engine.give_chunk(local.slot_number(), number);
            }
        }
        while let Some(index) = local.own_metadata_lock() {
            local.engine.end_metadata_lock(index);
        }
        // The slot last: the thread that takes it may need a bank, too, and their number is limited.
        if local.has_bank() {
            local.engine.give_bank(local.bank_number.get());
        }
        if local.has_texts.get() {
            local.set_attributes(&[]);
        }
        if many.is_some() {
            // If this process is killed after the next line, the search must not do the same again.
            local.slot.account.store(0, Ordering::Relaxed);
        }
        // An account without threads has only free banks.
        local.engine.disconnected(local.account.get());
        let number = local.slot_number();
        // SAFETY: no thread uses it any more: the next one that takes the slot initialises it again.
        let engine = unsafe { ManuallyDrop::take(&mut local.engine) };
        end_slot(&engine, number);
    }

    /// Moves the thread to a bank of another account.
    pub fn change_account(&self, account: Account) {
        let exclusive = self.engine.exclusive();
        if !self.engine.may_change(exclusive.as_ref()) {
            return self.engine.disconnected(account);
        }
        let before = self.account.get();
        if self.awaits_account.get() {
            // The default account means that the account is still unknown.
            if account != Account::default() {
                let unbanked = hot::unbanked();
                self.name_bank(account.counted);
                drop(unbanked);
                self.settle();
            }
        } else if before.counted != account.counted && self.has_bank() {
            let _unbanked = hot::unbanked();
            let old = self.bank_number.get();
            match self
                .engine
                .change_bank(account.counted, old, self.slot_number())
            {
                Some(number) => self.use_bank(number),
                // No two banks of any account are small enough to be merged: the thread's counts from
                // now on are for the previous account.
                // from now on counts for the account before.
                None => self.engine.lose(Lost::Accounts, 1),
            }
        }
        self.engine.connected(account);
        // First, because a search disconnects the account of a slot whose process was killed.
        self.slot.account.store(account.number, Ordering::Relaxed);
        self.engine.disconnected(before);
        self.account.set(account);
    }

    /// Announces that the thread's account will be set, before it has counted anything.
    pub fn await_account(&self) {
        if !self.has_bank() {
            self.awaits_account.set(true);
            self.defers_times.set(true);
        }
    }

    /// Moves a thread that awaited its account to a bank of that account, with its counts by class.
    fn name_bank(&self, account: u32) {
        if !self.awaits_account.replace(false) {
            return;
        }
        let with_histograms = !self.defers_times.get();
        if !self.has_bank() {
            return;
        }
        let nobodys = self.bank_number.get();
        match self
            .engine
            .take_bank_with_retries(account, self.slot_number())
        {
            Some(number) => {
                self.enter_bank(number);
                self.engine.move_classes(number, nobodys, with_histograms);
                self.follow_rows(nobodys);
                self.engine.give_bank(nobodys);
            }
            // Other threads have all banks: this one is given to the account.
            None => self.engine.rename_bank(nobodys, account),
        }
    }

    /// Replaces its client's attributes. Pages that the new ones leave are given back.
    pub fn set_attributes(&self, pairs: &[u8]) {
        let attributes = self.engine.view.attributes(self.slot_number());
        let before = attributes.len();
        if before == 0 && pairs.is_empty() {
            return;
        }
        // A signal handler that interrupted this would end the change too early.
        let Some(_creation) = self.begin_creation() else {
            return;
        };
        self.has_texts.set(true);
        under_sequence_lock(self.slot, |_| attributes.set(pairs));
        // A reader reads the new length and nothing behind it, or repeats.
        give_pages_back(&attributes, before);
    }

    /// Whether it has counted anything since it came, or since its account changed.
    #[inline(always)]
    pub fn has_bank(&self) -> bool {
        self.bank_number.get() != no_bank::NUMBER
    }

    /// Its bank, for counts there. `None` if none is left, which is counted, or in a signal handler
    /// that interrupted the taking of one.
    #[inline(always)]
    pub fn own_bank(&self) -> Option<&'static Bank> {
        match self.has_bank() {
            true => Some(self.bank.get()),
            false => {
                let _creation = self.begin_creation()?;
                self.ensure_bank()
            }
        }
    }

    /// The same for a caller that has the permission to create rows.
    #[cold]
    #[inline(never)]
    pub(super) fn ensure_bank(&self) -> Option<&'static Bank> {
        if !self.has_bank() {
            let exclusive = self.engine.exclusive();
            if !self.engine.may_change(exclusive.as_ref()) {
                return None;
            }
            let account = match self.awaits_account.get() {
                true => self.engine.view.geometry().nobody() as u32,
                false => self.account.get().counted,
            };
            match self
                .engine
                .take_bank_with_retries(account, self.slot_number())
            {
                Some(number) => self.use_bank(number),
                None => self.engine.lose(Lost::Rows, 1),
            }
        }
        self.has_bank().then(|| self.bank.get())
    }

    fn leave_bank(&self) {
        self.index.set(no_bank::INDEX.as_ptr());
        self.bank.set(no_bank::bank());
        self.bank_number.set(no_bank::NUMBER);
    }

    fn use_bank(&self, number: usize) {
        let old = self.bank_number.get();
        self.enter_bank(number);
        if old != number && old != no_bank::NUMBER {
            self.engine.give_bank(old);
        }
    }

    fn enter_bank(&self, number: usize) {
        let view = &self.engine.view;
        // A signal handler that finds the bank finds it complete.
        self.arena.set(view.arena(number).as_ptr());
        compiler_fence(Ordering::SeqCst);
        self.bank.set(view.bank(number));
        compiler_fence(Ordering::SeqCst);
        self.bank_number.set(number);
        self.index.set(view.class_index(number).as_ptr());
        under_sequence_lock(self.slot, |slot| {
            slot.bank.store(number as u32, Ordering::Relaxed)
        });
    }
}

/// The targets of the pointers of a thread without a bank. They are all zero, and never written.
mod no_bank {
    use std::mem::MaybeUninit;
    use std::sync::atomic::AtomicU16;

    use tare_layout::bank::Bank;

    /// In place of a bank's number.
    pub const NUMBER: usize = usize::MAX;

    /// No class has a row.
    pub static INDEX: [AtomicU16; 1 << 16] = [const { AtomicU16::new(0) }; 1 << 16];

    struct Zeroes<T>(MaybeUninit<T>);
    // SAFETY: only shared references to its contents exist, which are `Sync`.
    unsafe impl<T: Sync> Sync for Zeroes<T> {}

    static BANK: Zeroes<Bank> = Zeroes(MaybeUninit::zeroed());

    /// A bank with empty indexes.
    pub fn bank() -> &'static Bank {
        // SAFETY: integers, for which zero is a valid value.
        unsafe { BANK.0.assume_init_ref() }
    }
}

/// Returns the pages of attributes of which no byte is used any more; `before` bytes were used.
fn give_pages_back(attributes: &Attributes<'_>, before: usize) {
    let rest = attributes.rest.as_ptr().addr();
    let end = |bytes: usize| rest + bytes.saturating_sub(FIRST_BYTES);
    let first = end(attributes.len()).next_multiple_of(PAGE);
    // The page in which they ended may belong to the next slot, too.
    let last = end(before) / PAGE * PAGE;
    if first < last {
        let at = attributes.rest.as_ptr().cast_mut().with_addr(first);
        // SAFETY: pages within the attributes of this slot, to whose bytes there are only references to
        // atomics.
        unsafe { system::free_mapped_pages(at.cast(), last - first) };
    }
}

/// Changes a slot's owner or its attributes. Readers that read the slot during the change read it again.
fn under_sequence_lock(slot: &Slot, change: impl FnOnce(&Slot)) {
    let sequence = slot.sequence.load(Ordering::Relaxed);
    slot.sequence
        .store(sequence.wrapping_add(1), Ordering::Relaxed);
    std::sync::atomic::fence(Ordering::Release);
    change(slot);
    // Pairs with the reader's first load of `sequence`.
    slot.sequence
        .store(sequence.wrapping_add(2), Ordering::Release);
}

/// Whether the slot's present or last thread had an event that was stored.
fn has_had_events(slot: &Slot) -> bool {
    slot.event_id.load(Ordering::Relaxed) != 0
}

/// Initialises a slot for a new thread. It clears everything but texts, which the caller clears.
fn begin_slot(
    slot: &Slot,
    open_statements: &[event::Statement],
    first_text: u64,
    identity: impl FnOnce(&Slot),
) {
    under_sequence_lock(slot, |slot| {
        let zero32 =
            |cells: &[&AtomicU32]| cells.iter().for_each(|c| c.store(0, Ordering::Relaxed));
        let zero64 =
            |cells: &[&AtomicU64]| cells.iter().for_each(|c| c.store(0, Ordering::Relaxed));
        zero32(&[
            &slot.statement_depth,
            &slot.wait_depth,
            &slot.task_records,
            &slot.account,
            &slot.command,
        ]);
        zero32(&[&slot.connection_type, &slot.schema]);
        slot.activity.clear();
        // Everything that is cleared here begins with an event's id. Lines that were never written are
        // not touched.
        if has_had_events(slot) {
            zero64(&slot.pushed.each_ref());
            zero32(&slot.chunk.each_ref());
            slot.waits.iter().for_each(|w| w.clear());
            slot.current_stage.clear();
            slot.transaction.clear();
            // The nested ones are visible only up to the slot's depth, and are on another page.
            open_statements[0].clear();
        }
        zero64(&[&slot.event_id, &slot.processlist_id]);
        slot.text_at.store(first_text, Ordering::Relaxed);
        slot.command
            .store(tare_layout::slot::Command::Daemon as u32, Ordering::Relaxed);
        identity(slot);
    });
    slot.state.store(LIVE, Ordering::Release);
}

/// Frees a slot.
pub(super) fn end_slot(engine: &Engine, number: usize) {
    let slot = engine.view.slot(number);
    slot.state.store(FREE, Ordering::Release);
    freelist::push(&engine.view.shared().free_slots.0, number, &slot.next_free);
}
