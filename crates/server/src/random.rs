//! Random bytes from the system.

/// Fills a buffer with random bytes.
///
/// # Panics
/// If the system call fails, which it never does on Linux.
pub fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system has random bytes");
}
