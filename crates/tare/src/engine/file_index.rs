//! Files by name, so that a file that is opened again uses the same row; and the rows of deleted files.
//!
//! It is computed from the segment's files, and can be computed again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::cells::Cells;

/// Chains of indexes + 1, one for each remainder of the hash, and one of free indexes. Its user has a lock.
pub struct FileIndex {
    /// The first free one, then the first of each chain, then each one's next.
    cells: Cells,
    /// Number of chains, a power of two.
    chains: usize,
}

/// The same in all processes of one program.
pub fn hash_of(class: u16, path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (class, path).hash(&mut hasher);
    hasher.finish()
}

impl FileIndex {
    /// For this number of files. `shared`: see [`Cells::new`].
    pub fn new(files: usize, shared: bool) -> io::Result<Self> {
        let chains = files.next_power_of_two();
        Ok(Self {
            cells: Cells::new(1 + chains + files, shared)?,
            chains,
        })
    }

    fn chain(&self, hash: u64) -> &AtomicU32 {
        &self.cells[1 + (hash as usize & (self.chains - 1))]
    }

    fn next(&self, index: usize) -> &AtomicU32 {
        &self.cells[1 + self.chains + index]
    }

    /// The links from a first one on, and the indexes that they are to. A chain that was left half-made has
    /// no more of them than there are cells.
    fn links<'a>(&'a self, first: &'a AtomicU32) -> impl Iterator<Item = (&'a AtomicU32, usize)> {
        let mut link = first;
        let links = std::iter::from_fn(move || {
            let index = link.load(Ordering::Relaxed).checked_sub(1)? as usize;
            let before = std::mem::replace(&mut link, self.next(index));
            Some((before, index))
        });
        links.take(self.cells.len())
    }

    /// The index with this hash for which `is_it` returns true.
    pub fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut links = self.links(self.chain(hash));
        links.find_map(|(_, index)| is_it(index).then_some(index))
    }

    /// Adds an index that is in no chain.
    pub fn insert(&self, hash: u64, index: usize) {
        self.push(self.chain(hash), index);
    }

    /// Removes an index that was inserted with this hash.
    pub fn remove(&self, hash: u64, index: usize) {
        let mut links = self.links(self.chain(hash));
        if let Some((link, _)) = links.find(|(_, other)| *other == index) {
            link.store(self.next(index).load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Takes a free index.
    pub fn take_free(&self) -> Option<usize> {
        let (link, index) = self.links(&self.cells[0]).next()?;
        link.store(self.next(index).load(Ordering::Relaxed), Ordering::Relaxed);
        Some(index)
    }

    /// Adds a free index.
    pub fn free(&self, index: usize) {
        self.push(&self.cells[0], index);
    }

    fn push(&self, first: &AtomicU32, index: usize) {
        self.next(index)
            .store(first.load(Ordering::Relaxed), Ordering::Relaxed);
        first.store(index as u32 + 1, Ordering::Relaxed);
    }

    /// Removes everything.
    pub fn clear(&self) {
        for cell in &*self.cells {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_indexes_have_no_hash_and_free_ones_are_taken_once() {
        let index = FileIndex::new(5, false).expect("memory");
        // 3, 11 and 19 share a chain.
        for (hash, file) in [(3, 0), (11, 1), (19, 2), (4, 3)] {
            index.insert(hash, file);
        }
        let find = |hash, file| index.find(hash, |i| i == file);
        assert_eq!(
            [find(3, 0), find(11, 1), find(19, 2)],
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(find(4, 0), None);
        index.remove(11, 1);
        index.free(1);
        assert_eq!(
            [find(3, 0), find(11, 1), find(19, 2)],
            [Some(0), None, Some(2)]
        );
        index.remove(19, 2);
        index.free(2);
        assert_eq!([find(3, 0), find(4, 3)], [Some(0), Some(3)]);
        assert_eq!(
            [index.take_free(), index.take_free(), index.take_free()],
            [Some(2), Some(1), None]
        );
        index.clear();
        assert_eq!(find(3, 0), None);
    }
}
