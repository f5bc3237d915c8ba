//! Transactions.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use engine::transaction::{self, Isolation, Mode, Transaction};
use engine::{Class, Source};

use super::exchange::{NONE, end, lend, source};

static CLASS: OnceLock<&'static Class> = OnceLock::new();

/// Sets the class of transactions.
pub fn set_class(class: &'static Class) {
    let _ = CLASS.set(class);
}

const _: () = assert!(size_of::<Transaction>() <= 72);

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn get_thread_transaction_locker(
    state: *mut c_void,
    _xid: *const c_void,
    trx_id: *const u64,
    isolation: c_int,
    read_only: u8,
    autocommit: u8,
) -> *mut c_void {
    let Some(class) = CLASS.get() else {
        return NONE;
    };
    let isolation = match isolation {
        0 => Isolation::ReadUncommitted,
        1 => Isolation::ReadCommitted,
        3 => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    };
    let mode = Mode {
        isolation,
        read_only: read_only != 0,
        autocommit: autocommit != 0,
    };
    let transaction = transaction::start_at(class, mode, Source::UNKNOWN);
    if !transaction.is_recorded() {
        return NONE;
    }
    // SAFETY: rule 6 (NULL, or readable).
    if let Some(&id) = unsafe { trx_id.as_ref() } {
        transaction.trx_id(id);
    }
    // SAFETY: rule 3 (72 bytes).
    unsafe { lend(state, transaction) }
}

/// The transaction began with its locker; this call adds the line of the source.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_transaction(locker: *mut c_void, file: *const c_char, line: u32) {
    // SAFETY: rules 2 and 4 (the transaction has not ended, and `file` is a C string).
    unsafe {
        if let Some(transaction) = transaction_at(locker) {
            transaction.source(source(file, line));
        }
    }
}

/// The tables do not show XA identifiers or GTIDs.
pub unsafe extern "C" fn set_transaction_xid(
    _locker: *mut c_void,
    _xid: *const c_void,
    _state: c_int,
) {
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_transaction_gtid(
    _locker: *mut c_void,
    _sid: *const c_void,
    _spec: *const c_void,
) {
}

unsafe fn transaction_at<'a>(locker: *mut c_void) -> Option<&'a Transaction> {
    // SAFETY: rule 2 (the transaction has not ended).
    unsafe { locker.cast::<Transaction>().as_ref() }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_transaction_trxid(locker: *mut c_void, id: *const u64) {
    // SAFETY: rules 2 and 6 (the transaction has not ended).
    if let (Some(transaction), Some(&id)) = unsafe { (transaction_at(locker), id.as_ref()) } {
        transaction.trx_id(id);
    }
}

pub unsafe extern "C" fn inc_transaction_savepoints(locker: *mut c_void, count: u64) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(transaction) = unsafe { transaction_at(locker) } {
        (0..count.min(MAX_SAVEPOINTS_PER_REPORT)).for_each(|_| transaction.savepoint());
    }
}

pub unsafe extern "C" fn inc_transaction_rollback_to_savepoint(locker: *mut c_void, count: u64) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(transaction) = unsafe { transaction_at(locker) } {
        (0..count.min(MAX_SAVEPOINTS_PER_REPORT)).for_each(|_| transaction.rollback_to_savepoint());
    }
}

pub unsafe extern "C" fn inc_transaction_release_savepoint(locker: *mut c_void, count: u64) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(transaction) = unsafe { transaction_at(locker) } {
        (0..count.min(MAX_SAVEPOINTS_PER_REPORT)).for_each(|_| transaction.release_savepoint());
    }
}

/// The largest counted number of savepoints in one report. The server reports one at a time.
const MAX_SAVEPOINTS_PER_REPORT: u64 = 64;

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_transaction(locker: *mut c_void, commit: u8) {
    if locker.is_null() {
        return;
    }
    // SAFETY: rule 2 (the event ends here).
    let transaction = unsafe { end::<Transaction>(locker) };
    match commit {
        0 => transaction.rollback(),
        _ => transaction.commit(),
    }
}
