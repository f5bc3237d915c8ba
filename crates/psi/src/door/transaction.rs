//! Transactions.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use engine::transaction::{self, Isolation, Mode, Transaction};
use engine::{Class, Source};

use super::exchange::{NONE, end, lend, source};

static CLASS: OnceLock<&'static Class> = OnceLock::new();

/// Says which class they are of.
pub fn set_class(class: &'static Class) {
    let _ = CLASS.set(class);
}

const _: () = assert!(size_of::<Transaction>() <= 72);

/// # Safety
/// The interface.
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
    // SAFETY: the interface.
    if let Some(&id) = unsafe { trx_id.as_ref() } {
        transaction.trx_id(id);
    }
    // SAFETY: the interface: 72 bytes.
    unsafe { lend(state, transaction) }
}

/// It began when its locker was asked for; now it is known where.
///
/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_transaction(locker: *mut c_void, file: *const c_char, line: u32) {
    // SAFETY: the interface.
    unsafe {
        if let Some(transaction) = of(locker) {
            transaction.source(source(file, line));
        }
    }
}

/// The tables do not show XA identifiers or GTIDs.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn set_transaction_xid(
    _locker: *mut c_void,
    _xid: *const c_void,
    _state: c_int,
) {
}

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_transaction_gtid(
    _locker: *mut c_void,
    _sid: *const c_void,
    _spec: *const c_void,
) {
}

/// # Safety
/// The interface.
unsafe fn of<'a>(locker: *mut c_void) -> Option<&'a Transaction> {
    // SAFETY: the interface.
    unsafe { locker.cast::<Transaction>().as_ref() }
}

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_transaction_trxid(locker: *mut c_void, id: *const u64) {
    // SAFETY: the interface.
    if let (Some(transaction), Some(&id)) = unsafe { (of(locker), id.as_ref()) } {
        transaction.trx_id(id);
    }
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn inc_transaction_savepoints(locker: *mut c_void, count: u64) {
    // SAFETY: the interface.
    if let Some(transaction) = unsafe { of(locker) } {
        (0..count.min(MANY)).for_each(|_| transaction.savepoint());
    }
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn inc_transaction_rollback_to_savepoint(locker: *mut c_void, count: u64) {
    // SAFETY: the interface.
    if let Some(transaction) = unsafe { of(locker) } {
        (0..count.min(MANY)).for_each(|_| transaction.rollback_to_savepoint());
    }
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn inc_transaction_release_savepoint(locker: *mut c_void, count: u64) {
    // SAFETY: the interface.
    if let Some(transaction) = unsafe { of(locker) } {
        (0..count.min(MANY)).for_each(|_| transaction.release_savepoint());
    }
}

/// The server tells of one at a time.
const MANY: u64 = 64;

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_transaction(locker: *mut c_void, commit: u8) {
    if locker.is_null() {
        return;
    }
    // SAFETY: the interface.
    let transaction = unsafe { end::<Transaction>(locker) };
    match commit {
        0 => transaction.rollback(),
        _ => transaction.commit(),
    }
}
