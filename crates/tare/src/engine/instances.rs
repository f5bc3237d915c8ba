//! Instances of locks and conditions, open sockets, and files by name.

use std::sync::atomic::Ordering;

use tare_layout::control::effective::COUNT as COUNTS;
use tare_layout::instance::{FILE, GENERATION_MASK, INDEX_BITS, SOCKET, index_of};
use tare_layout::line::{COUNT, EXTRA, Line, MAX, MIN, SUM};
use tare_layout::primitive::{AtomicU32, AtomicU64};
use tare_layout::shared::Lost;
use tare_layout::sizes;

use super::file_index::{FileIndex, hash_of};
use super::freelist;
use super::state::Engine;

impl Engine {
    /// The id of a new mutex, rwlock or condition; 0 = the table is full, or this process is a child: an
    /// instance does not say whose it is, so nothing would end it after its process.
    pub fn new_instance(&self, class: u16, address: usize) -> u32 {
        if self.is_child() {
            return 0;
        }
        let shared = self.view.shared();
        let limit = self.view.geometry().limits.instances;
        let kind = self.kind_of(usize::from(class));
        let limit = match kind.and_then(sizes::of_instances) {
            Some(size) => self.limit_for(size, limit),
            None => limit,
        };
        let link = |i: usize| (i < limit).then(|| &self.view.instance(i).next_free);
        let index = freelist::pop(&shared.free_instances.0, link)
            .or_else(|| freelist::take_new(&shared.instances_used.0, limit));
        let Some(index) = index else {
            self.lose_instance(class);
            return 0;
        };
        let instance = self.view.instance(index);
        let generation = next_generation(&instance.generation);
        instance.class.store(u32::from(class), Ordering::Relaxed);
        instance.address.store(address as u64, Ordering::Relaxed);
        // Most instances never use them, and they are two lines of memory.
        if instance.shared_used.load(Ordering::Relaxed) != 0 {
            instance.shared_used.store(0, Ordering::Relaxed);
            clear(&instance.shared);
            clear(&instance.truncated);
        }
        let id = generation << INDEX_BITS | index as u32;
        instance.id.store(id, Ordering::Release);
        id
    }

    /// `limit`, or 0 if the host requested 0 for this size.
    pub(super) fn limit_for(&self, size: usize, limit: usize) -> usize {
        match self.view.control().has_none_of(size) {
            true => 0,
            false => limit,
        }
    }

    /// Counts a thread that has no slot. If there are no classes of threads, no thread was to have one.
    pub fn lose_thread(&self) {
        if !self.view.control().has_none_of(sizes::THREAD_CLASSES) {
            self.lose(Lost::Threads, 1);
        }
    }

    /// Counts a lock or condition that has no instance.
    pub fn lose_instance(&self, class: u16) {
        self.lose(Lost::Instances, 1);
        if let Some(kind) = self.kind_of(usize::from(class)) {
            let lost = &self.view.shared().instances_lost[kind as usize];
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends an instance. An id of another generation of Tare, or one that has ended, is ignored; and in a
    /// child any, because only its parent has instances.
    pub fn end_instance(&self, id: u32) {
        let Some(instance) = self.live_instance(id).filter(|_| !self.is_child()) else {
            return;
        };
        if instance
            .id
            .compare_exchange(id, 0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            let head = &self.view.shared().free_instances.0;
            freelist::push(head, index_of(id), &instance.next_free);
        }
    }

    /// Whether any event of a class is counted in some thread now.
    pub fn is_active(&self, class: u16) -> bool {
        let effective = self.view.controls().effective.get(usize::from(class));
        effective.is_some_and(|bits| bits.load(Ordering::Relaxed) & COUNTS != 0)
    }

    /// The id of the instance that has this index now, 0 = none.
    pub fn instance_at(&self, index: usize) -> u32 {
        match index < self.view.geometry().limits.instances {
            true => self.view.instance(index).id.load(Ordering::Relaxed),
            false => 0,
        }
    }

    fn live_instance(&self, id: u32) -> Option<&'static tare_layout::instance::Instance> {
        let index = index_of(id);
        if id & (FILE | SOCKET) != 0 || index >= self.view.geometry().limits.instances {
            return None;
        }
        Some(self.view.instance(index)).filter(|i| i.id.load(Ordering::Acquire) == id)
    }

    /// Whether an instance or file with this id exists.
    pub fn is_live(&self, id: u32) -> bool {
        self.live_file(id).is_some()
            || self.live_instance(id).is_some()
            || self.live_socket(id).is_some()
    }

    /// The id of a new socket; 0 = the table is full.
    pub fn new_socket(&self, class: u16, descriptor: i32) -> u32 {
        let shared = self.view.shared();
        let limit = self.limit_for(sizes::SOCKETS, self.view.geometry().limits.sockets);
        let link = |i: usize| (i < limit).then(|| &self.view.socket(i).next_free);
        let index = freelist::pop(&shared.free_sockets.0, link)
            .or_else(|| freelist::take_new(&shared.sockets_used.0, limit));
        let Some(index) = index else {
            self.lose(Lost::Sockets, 1);
            return 0;
        };
        let socket = self.view.socket(index);
        let generation = next_generation(&socket.generation);
        socket.class.store(u32::from(class), Ordering::Relaxed);
        socket.address.store(address_of(socket), Ordering::Relaxed);
        socket
            .descriptor
            .store(descriptor as u32, Ordering::Relaxed);
        socket.port.store(0, Ordering::Relaxed);
        socket.owner_thread.store(0, Ordering::Relaxed);
        socket.process.store(self.process(), Ordering::Relaxed);
        socket.is_idle.store(0, Ordering::Relaxed);
        socket.ip.set("");
        if socket.shared_used.load(Ordering::Relaxed) != 0 {
            socket.shared_used.store(0, Ordering::Relaxed);
            for line in socket.shared.iter().chain(&socket.truncated) {
                clear(line);
            }
        }
        let id = SOCKET | generation << INDEX_BITS | index as u32;
        socket.id.store(id, Ordering::Release);
        id
    }

    /// Ends a socket, as [`Self::end_instance`] does an instance.
    pub fn end_socket(&self, id: u32) {
        let Some(socket) = self.live_socket(id) else {
            return;
        };
        if socket
            .id
            .compare_exchange(id, 0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            let head = &self.view.shared().free_sockets.0;
            freelist::push(head, index_of(id), &socket.next_free);
        }
    }

    /// The socket with this id, if it is open.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn live_socket(&self, id: u32) -> Option<&'static tare_layout::instance::Socket> {
        let index = index_of(id);
        if id & (FILE | SOCKET) != SOCKET || index >= self.view.geometry().limits.sockets {
            return None;
        }
        Some(self.view.socket(index)).filter(|s| s.id.load(Ordering::Acquire) == id)
    }

    /// Opens a file once more. Returns its id; 0 = the table is full.
    pub fn open_file(&self, class: u16, path: &str) -> u32 {
        let hash = hash_of(class, path);
        let files = self.lock(&self.files);
        let index = self.find_file(&files, class, path, hash);
        let Some(index) = index.or_else(|| self.new_file(&files, class, path, hash)) else {
            return 0;
        };
        let file = self.view.file(index);
        file.open.fetch_add(1, Ordering::Relaxed);
        file.id.load(Ordering::Relaxed)
    }

    fn find_file(&self, files: &FileIndex, class: u16, path: &str, hash: u64) -> Option<usize> {
        files.find(hash, |index| {
            let file = self.view.file(index);
            file.hash.load(Ordering::Relaxed) == hash
                && file.class.load(Ordering::Relaxed) == u32::from(class)
                && file.name.is(path)
        })
    }

    fn new_file(&self, files: &FileIndex, class: u16, path: &str, hash: u64) -> Option<usize> {
        let limit = self.limit_for(sizes::FILES, self.view.geometry().limits.files);
        let free = files.take_free();
        let index = free.or_else(|| freelist::take_new(&self.view.shared().files_used.0, limit));
        let Some(index) = index else {
            self.lose(Lost::Files, 1);
            return None;
        };
        let file = self.view.file(index);
        file.class.store(u32::from(class), Ordering::Relaxed);
        file.open.store(0, Ordering::Relaxed);
        for line in file.shared.iter().chain(&file.truncated) {
            clear(line);
        }
        self.name_file(files, index, path, hash);
        let id = FILE | next_generation(&file.generation) << INDEX_BITS | index as u32;
        file.id.store(id, Ordering::Release);
        Some(index)
    }

    fn name_file(&self, files: &FileIndex, index: usize, path: &str, hash: u64) {
        let file = self.view.file(index);
        file.hash.store(hash, Ordering::Relaxed);
        file.name.set(path);
        files.insert(hash, index);
    }

    /// A file was deleted: its figures are removed.
    pub fn delete_file(&self, class: u16, path: &str) {
        let hash = hash_of(class, path);
        let files = self.lock(&self.files);
        if let Some(index) = self.find_file(&files, class, path, hash) {
            self.view.file(index).id.store(0, Ordering::Release);
            files.remove(hash, index);
            files.free(index);
        }
    }

    /// A file was renamed. As in MySQL, if a file had that name already, its figures continue.
    pub fn rename_file(&self, class: u16, from: &str, to: &str) {
        let (before, now) = (hash_of(class, from), hash_of(class, to));
        let files = self.lock(&self.files);
        if self.find_file(&files, class, to, now).is_some() {
            drop(files);
            return self.delete_file(class, from);
        }
        if let Some(index) = self.find_file(&files, class, from, before) {
            let file = self.view.file(index);
            // Readers list it again once it has its new name.
            let id = file.id.swap(0, Ordering::AcqRel);
            files.remove(before, index);
            self.name_file(&files, index, to, now);
            file.id.store(id, Ordering::Release);
        }
    }

    /// Computes the index of files again from the files.
    pub(super) fn restore_files(&self) {
        let files = self.lock(&self.files);
        files.clear();
        let used = self.view.shared().files_used.0.load(Ordering::Acquire) as usize;
        for index in 0..used.min(self.view.geometry().limits.files) {
            let file = self.view.file(index);
            match file.id.load(Ordering::Relaxed) {
                0 => files.free(index),
                _ => files.insert(file.hash.load(Ordering::Relaxed), index),
            }
        }
    }

    /// The file with this id, if it has not been deleted.
    fn live_file(&self, id: u32) -> Option<&'static tare_layout::instance::File> {
        let index = index_of(id);
        if id & FILE == 0 || index >= self.view.geometry().limits.files {
            return None;
        }
        Some(self.view.file(index)).filter(|file| file.id.load(Ordering::Acquire) == id)
    }

    /// Counts one close of a file.
    pub fn close_file(&self, id: u32) {
        if let Some(file) = self.live_file(id) {
            file.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Lines of an instance's row.
    pub fn instance_lines(id: u32) -> usize {
        if id & (FILE | SOCKET) != 0 { 3 } else { 1 }
    }

    /// The line that threads without a row of their own share; many write it.
    pub fn shared_line(&self, id: u32, operation: usize) -> Option<&'static Line> {
        if id & FILE != 0 {
            self.live_file(id).map(|f| &f.shared[operation.min(2)])
        } else if id & SOCKET != 0 {
            self.live_socket(id).map(|s| {
                s.shared_used.store(1, Ordering::Relaxed);
                &s.shared[operation.min(2)]
            })
        } else {
            self.live_instance(id).map(|i| {
                i.shared_used.store(1, Ordering::Relaxed);
                &i.shared
            })
        }
    }

    /// Adds a thread's row to the instance's shared lines, when its bank is merged; and the row's
    /// values at the last truncation to theirs.
    pub fn add_instance_shared(&self, id: u32, lines: &[Line], before: Option<&[Line]>) {
        for (i, line) in lines.iter().enumerate() {
            let Some(shared) = self.shared_line(id, i) else {
                continue;
            };
            add_sums(shared, line);
            raise_extremes(shared, line);
            if let Some((before, truncated)) = before.zip(self.truncated_line(id, i)) {
                add_sums(truncated, &before[i]);
                raise_extremes(truncated, &before[i]);
            }
        }
    }

    /// The values of [`Self::shared_line`] when its table was last truncated.
    fn truncated_line(&self, id: u32, operation: usize) -> Option<&'static Line> {
        if id & FILE != 0 {
            self.live_file(id).map(|f| &f.truncated[operation.min(2)])
        } else if id & SOCKET != 0 {
            self.live_socket(id).map(|s| &s.truncated[operation.min(2)])
        } else {
            self.live_instance(id).map(|i| &i.truncated)
        }
    }
}

/// A number in place of an object's address, where the host's own may move: the address of its entry,
/// which is unique.
pub(super) fn address_of<T>(entry: &T) -> u64 {
    std::ptr::from_ref(entry).addr() as u64
}

/// How often an index has been used, including this time. 0 is no generation, so that no id is 0.
pub(super) fn next_generation(cell: &AtomicU32) -> u32 {
    let generation = match (cell.load(Ordering::Relaxed) + 1) & GENERATION_MASK {
        0 => 1,
        next => next,
    };
    cell.store(generation, Ordering::Relaxed);
    generation
}

pub(super) fn add_sums(to: &Line, from: &Line) {
    for cell in [COUNT, SUM, EXTRA] {
        to.cells[cell].fetch_add(from.get(cell), Ordering::Relaxed);
    }
}

/// Shared minimums are stored inverted, see [`Line::time_shared`].
pub fn raise_extremes(shared: &Line, line: &Line) {
    if line.get(MAX) != 0 {
        shared.cells[MIN].fetch_max(!line.get(MIN), Ordering::Relaxed);
        shared.cells[MAX].fetch_max(line.get(MAX), Ordering::Relaxed);
    }
}

/// Sets a line that many threads or readers write to zero.
pub(super) fn clear(line: &Line) {
    // Does not touch pages that are zero.
    if line
        .cells
        .iter()
        .any(|c: &AtomicU64| c.load(Ordering::Relaxed) != 0)
    {
        for cell in &line.cells {
            cell.store(0, Ordering::Relaxed);
        }
    }
}
