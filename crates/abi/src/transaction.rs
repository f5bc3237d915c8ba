//! Transactions.

use std::ffi::{c_int, c_uint};

use engine::Kind;
use engine::transaction::{Isolation, Mode, Transaction};

use crate::class::{of_kind, tare_class};
use crate::place::{HostObject, Place, assert_fits};
use crate::status::catch_panic;

/// `struct tare_transaction`.
pub type tare_transaction = Place<Transaction>;

impl HostObject for Transaction {
    const MARK: u64 = u64::from_le_bytes(*b"taretrxn");
    const NAME: &'static str = "transaction";
}

const _: () = assert_fits::<Transaction>(8);

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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_begin(
    transaction: *mut tare_transaction,
    class: *mut tare_class,
    level: c_int,
    flags: c_uint,
) {
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
    catch_panic((), || unsafe {
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_commit(transaction: *mut tare_transaction) {
    catch_panic((), || {
        // SAFETY: rules 3 and 4 (a struct of the calling thread).
        if let Some(transaction) = unsafe { Place::take(transaction) } {
            transaction.commit();
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_rollback(transaction: *mut tare_transaction) {
    catch_panic((), || {
        // SAFETY: rules 3 and 4 (a struct of the calling thread).
        if let Some(transaction) = unsafe { Place::take(transaction) } {
            transaction.rollback();
        }
    });
}

/// Runs `body` on a transaction that runs.
///
/// # Safety
/// `transaction` as [`Place::get`].
unsafe fn with(transaction: *const tare_transaction, body: impl FnOnce(&Transaction)) {
    catch_panic((), || {
        // SAFETY: rule 8 (a struct that stays at its address).
        if let Some(transaction) = unsafe { Place::get(transaction) } {
            body(transaction);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_id(transaction: *mut tare_transaction, id: u64) {
    // SAFETY: rule 3 (a struct that stays at its address).
    unsafe { with(transaction, |transaction| transaction.trx_id(id)) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_savepoint(transaction: *mut tare_transaction) {
    // SAFETY: rule 3 (a struct that stays at its address).
    unsafe { with(transaction, Transaction::savepoint) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_rollback_to(transaction: *mut tare_transaction) {
    // SAFETY: rule 3 (a struct that stays at its address).
    unsafe { with(transaction, Transaction::rollback_to_savepoint) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_transaction_release(transaction: *mut tare_transaction) {
    // SAFETY: rule 3 (a struct that stays at its address).
    unsafe { with(transaction, Transaction::release_savepoint) };
}
