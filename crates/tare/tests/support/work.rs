//! How much a test does, and in which order.

/// `make test-long` multiplies the work of each test.
pub fn scale(short: usize, long: usize) -> usize {
    if std::env::var_os("TARE_TEST_LONG").is_some() {
        long
    } else {
        short
    }
}

/// A random number generator with one seed, so that a test can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        // xorshift64 (Marsaglia 2003).
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
