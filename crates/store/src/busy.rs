//! Waiting for another process that has locked a database's file.

use std::ffi::c_int;
use std::thread;
use std::time::Duration;

use tare_mysql::interrupt;

use super::databases::BUSY_TIMEOUT;

/// Waits for another process that writes. Returns early if the statement must end.
pub(crate) fn wait_for_other_process(tries: c_int) -> bool {
    const RETRY_PAUSE: Duration = Duration::from_millis(5);
    let goes_on = RETRY_PAUSE * (tries as u32) < BUSY_TIMEOUT && !interrupt::must_stop();
    if goes_on {
        thread::sleep(RETRY_PAUSE);
    }
    goes_on
}
