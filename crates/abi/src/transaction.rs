//! Transactions.

use std::ffi::{c_int, c_uint};

use engine::Kind;
use engine::transaction::{Isolation, Mode, Transaction};

use crate::class::{of_kind, tare_class};
use crate::place::{Place, Placed, fits};
use crate::status::quiet;

/// `struct tare_transaction`.
pub type tare_transaction = Place<Transaction>;

impl Placed for Transaction {
    const MARK: u64 = u64::from_le_bytes(*b"taretrxn");
    const NAME: &'static str = "transaction";
}

const _: () = fits::<Transaction>(8);

const READ_ONLY: c_uint = 1;
const AUTOCOMMIT: c_uint = 2;

fn isolation(number: c_int) -> Isolation {
    match number {
        0 => Isolation::ReadUncommitted,
        1 => Isolation::ReadCommitted,
        3 => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

/// See `tare.h`.
///
/// # Safety
/// `transaction` as [`Place::put`], `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_begin(
    transaction: *mut tare_transaction,
    class: *mut tare_class,
    level: c_int,
    flags: c_uint,
) {
    // SAFETY: the caller's promise, throughout.
    quiet((), || unsafe {
        if transaction.is_null() {
            return;
        }
        let mode = Mode {
            isolation: isolation(level),
            read_only: flags & READ_ONLY != 0,
            autocommit: flags & AUTOCOMMIT != 0,
        };
        match of_kind(class, |kind| kind == Kind::Transaction) {
            Some(class) => Place::put(transaction, engine::transaction::start(class, mode)),
            None => Place::clear(transaction),
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `transaction` as [`Place::take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_commit(transaction: *mut tare_transaction) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(transaction) = unsafe { Place::take(transaction) } {
            transaction.commit();
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `transaction` as [`Place::take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_rollback(transaction: *mut tare_transaction) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(transaction) = unsafe { Place::take(transaction) } {
            transaction.rollback();
        }
    });
}

/// Runs something on a transaction that runs.
///
/// # Safety
/// `transaction` as [`Place::get`].
unsafe fn with(transaction: *const tare_transaction, body: impl FnOnce(&Transaction)) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(transaction) = unsafe { Place::get(transaction) } {
            body(transaction);
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// As [`with`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_id(transaction: *mut tare_transaction, id: u64) {
    // SAFETY: the caller's promise.
    unsafe { with(transaction, |transaction| transaction.trx_id(id)) };
}

/// See `tare.h`.
///
/// # Safety
/// As [`with`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_savepoint(transaction: *mut tare_transaction) {
    // SAFETY: the caller's promise.
    unsafe { with(transaction, Transaction::savepoint) };
}

/// See `tare.h`.
///
/// # Safety
/// As [`with`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_rollback_to(transaction: *mut tare_transaction) {
    // SAFETY: the caller's promise.
    unsafe { with(transaction, Transaction::rollback_to_savepoint) };
}

/// See `tare.h`.
///
/// # Safety
/// As [`with`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_release(transaction: *mut tare_transaction) {
    // SAFETY: the caller's promise.
    unsafe { with(transaction, Transaction::release_savepoint) };
}
