//! The instances of locks by the locks' addresses, in a table that is read without a lock.
//!
//! Each connection creates and destroys some twenty locks in one structure of the server. So locks in the
//! same region of addresses share a bucket, which is a cache line.

use std::sync::atomic::{AtomicU64, Ordering};

/// Entries of a bucket.
const ENTRIES: usize = 8;
/// A power of two. A server's own locks fill an eighth. A lock that does not fit has an object instead.
const BUCKETS: usize = 1 << 12;
/// The bits of the bytes whose locks share a bucket.
const REGION_BITS: u32 = 10;
/// The buckets that an entry may be in: its own, and those after it.
const PROBES: usize = 4;

/// The bits of an entry with the index of its instance. Above them is the address without its lowest two
/// bits, which are 0.
const INDEX_BITS: u32 = 19;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const ALIGN_BITS: u32 = 2;
/// The bits of a program's addresses.
const ADDRESS_BITS: u32 = 47;
const _: () = assert!(ADDRESS_BITS - ALIGN_BITS + INDEX_BITS <= u64::BITS);

#[repr(C, align(64))]
struct Bucket([AtomicU64; ENTRIES]);

/// The result of [`ByAddress::insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Insertion {
    New,
    /// It replaced the entry of the instance with this index.
    InPlaceOf(usize),
    Full,
}

/// Indexes of instances by address.
pub(super) struct ByAddress([Bucket; BUCKETS]);

impl ByAddress {
    pub const fn new() -> Self {
        Self([const { Bucket([const { AtomicU64::new(0) }; ENTRIES]) }; BUCKETS])
    }

    /// The buckets that an address's entry may be in, in order.
    fn buckets(&self, address: usize) -> impl Iterator<Item = &[AtomicU64; ENTRIES]> {
        // Multiplied by 2^64 divided by the golden ratio, as Knuth advises, neighbours get far apart.
        let region = (address >> REGION_BITS) as u64;
        let first = (region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (0..PROBES).map(move |probe| &self.0[(first + probe) % BUCKETS].0)
    }

    /// Adds the instance of a lock. It replaces an entry of the same address: the server reused the memory of
    /// a lock that it did not destroy.
    pub fn insert(&self, address: usize, index: usize) -> Insertion {
        let (Some(key), true) = (key(address), index as u64 <= INDEX_MASK) else {
            return Insertion::Full;
        };
        let order = Ordering::Relaxed;
        for bucket in self.buckets(address) {
            let same = |cell: &&AtomicU64| cell.load(order) & !INDEX_MASK == key;
            if let Some(cell) = bucket.iter().find(same) {
                let before = cell.swap(key | index as u64, order);
                return Insertion::InPlaceOf((before & INDEX_MASK) as usize);
            }
            let take = |cell: &AtomicU64| {
                let entry = key | index as u64;
                cell.load(order) == 0 && cell.compare_exchange(0, entry, order, order).is_ok()
            };
            if bucket.iter().any(take) {
                return Insertion::New;
            }
        }
        Insertion::Full
    }

    /// The index of the instance of the lock there.
    pub fn get(&self, address: usize) -> Option<usize> {
        let (_, entry) = self.find(address)?;
        Some((entry & INDEX_MASK) as usize)
    }

    /// Removes the lock's entry, and returns its index.
    pub fn remove(&self, address: usize) -> Option<usize> {
        let (cell, entry) = self.find(address)?;
        cell.store(0, Ordering::Relaxed);
        Some((entry & INDEX_MASK) as usize)
    }

    fn find(&self, address: usize) -> Option<(&AtomicU64, u64)> {
        let key = key(address)?;
        self.buckets(address).flatten().find_map(|cell| {
            let entry = cell.load(Ordering::Relaxed);
            (entry & !INDEX_MASK == key).then_some((cell, entry))
        })
    }
}

/// An address as the bits of an entry; never 0.
fn key(address: usize) -> Option<u64> {
    let fits =
        address != 0 && address >> ADDRESS_BITS == 0 && address.trailing_zeros() >= ALIGN_BITS;
    fits.then_some((address as u64) >> ALIGN_BITS << INDEX_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: ByAddress = ByAddress::new();

    #[test]
    fn an_entry_can_be_read_until_it_is_removed() {
        let address = |i: usize| 0x7fff_1234_0000 + i * 40;
        for i in 0..1000 {
            assert_eq!(TABLE.insert(address(i), i), Insertion::New, "{i}");
        }
        assert_eq!(TABLE.insert(address(0), 7), Insertion::InPlaceOf(0));
        assert_eq!(TABLE.insert(address(0), 0), Insertion::InPlaceOf(7));
        for i in 0..1000 {
            assert_eq!(TABLE.get(address(i)), Some(i));
            assert_eq!(TABLE.get(address(i) + 4), None);
            assert_eq!(TABLE.remove(address(i)), Some(i));
            assert_eq!(TABLE.get(address(i)), None);
        }
    }

    #[test]
    fn an_address_or_index_that_does_not_fit_is_refused() {
        static SMALL: ByAddress = ByAddress::new();
        for (address, index) in [
            (0, 1),
            (0x1002, 1),
            (1 << ADDRESS_BITS, 1),
            (0x1000, 1 << INDEX_BITS),
        ] {
            assert_eq!(SMALL.insert(address, index), Insertion::Full);
        }
        let capacity = PROBES * ENTRIES;
        for i in 0..capacity {
            assert_eq!(SMALL.insert(0x10_0000 + i * 4, i), Insertion::New);
        }
        let one_more = SMALL.insert(0x10_0000 + capacity * 4, capacity);
        assert_eq!(one_more, Insertion::Full);
    }
}
