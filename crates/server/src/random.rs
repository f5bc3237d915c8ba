//! Random bytes from the system.

/// Fills a buffer with them.
///
/// # Panics
/// Where the system has none to give, which Linux never says to a process that runs.
pub fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system has random bytes");
}
