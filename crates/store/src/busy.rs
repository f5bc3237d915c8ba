//! Waiting for another process that has locked a database's file.

use std::ffi::c_int;
use std::thread;
use std::time::Duration;

use tare_mysql::interrupt;

use super::databases::BUSY_TIMEOUT;

/// Waits for another process that writes, unless the statement must end meanwhile.
pub(crate) fn wait_for_other_process(tries: c_int) -> bool {
    const PAUSE: Duration = Duration::from_millis(5);
    let goes_on = PAUSE * (tries as u32) < BUSY_TIMEOUT && !interrupt::must_stop();
    if goes_on {
        thread::sleep(PAUSE);
    }
    goes_on
}
