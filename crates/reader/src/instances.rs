//! Single locks, conditions, sockets and files: their counts, and the holders of locks. Objects of waits.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::bank::baseline;
use tare_layout::instance::{FILE, SOCKET, index_of};
use tare_layout::line::{CONTENDED, COUNT, EXTRA, HISTOGRAM, Item, Line, MAX, SUM};
use tare_layout::object::target;
use tare_layout::{Kind, View};

use crate::classes::text;
use crate::line::{Cells, EMPTY_TIME_LINE, add, cells, shared_cells};
use crate::objects;
use crate::threads::Thread;
use crate::totals::Banks;

/// A mutex, rwlock or condition that exists.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// Its id in events.
    pub id: u32,
    /// Its class.
    pub class: usize,
    /// Its address in the host.
    pub address: u64,
    /// Its counts.
    pub line: Cells,
    /// Id of the thread that holds it exclusively.
    pub owner: Option<u64>,
    /// The number of shared holds.
    pub readers: u32,
}

/// A socket that is open.
#[derive(Clone, Debug)]
pub struct Socket {
    /// Its id in events.
    pub id: u32,
    /// Its class.
    pub class: usize,
    /// Its address in the host.
    pub address: u64,
    /// Its file descriptor.
    pub descriptor: i32,
    /// The address of its other end, or that it listens on.
    pub ip: Arc<str>,
    /// The port there.
    pub port: u16,
    /// Id of the thread that serves it.
    pub owner: Option<u64>,
    /// Whether that thread waits for the other end to send data.
    pub is_idle: bool,
    /// Its counts: reads, writes, others.
    pub row: [Cells; 3],
}

/// A file, by name.
#[derive(Clone, Debug)]
pub struct File {
    /// Its id in events.
    pub id: u32,
    /// Its class.
    pub class: usize,
    /// Its path.
    pub path: Arc<str>,
    /// How many times it is open.
    pub open: u32,
    /// Its counts: reads, writes, others.
    pub row: [Cells; 3],
}

/// The object of a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// A file's path, a socket's address and port, a table's name.
    pub name: Option<Arc<str>>,
    /// A table's schema.
    pub schema: Option<Arc<str>>,
    /// The index of the table.
    pub index: Option<Arc<str>>,
    /// Its type, if its instrument does not determine the type.
    pub kind: Option<&'static str>,
    /// A lock's or socket's address, 0 once it has ended; a file's or table's id.
    pub begin: u64,
}

/// The object that a word of an event names.
pub fn object(view: View<'_>, word: u64) -> Object {
    match target::of(word) {
        target::INSTANCE => instance(view, word as u32),
        target::OBJECT => objects::table_object(view, word as u32, target::part(word)),
        target::METADATA_LOCK => objects::metadata_lock_object(view, word as u32),
        _ => Object::default(),
    }
}

fn instance(view: View<'_>, id: u32) -> Object {
    let (limits, i) = (view.geometry().limits, index_of(id));
    if id & (FILE | SOCKET) == SOCKET {
        if i >= limits.sockets {
            return Object::default();
        }
        let socket = view.socket(i);
        let is_current = socket.id.load(Ordering::Acquire) == id;
        let address = socket.address.load(Ordering::Relaxed);
        let (ip, port) = (text(&socket.ip), socket.port.load(Ordering::Relaxed));
        return Object {
            name: (is_current && !ip.is_empty()).then(|| format!("{ip}:{port}").into()),
            begin: if is_current { address } else { 0 },
            ..Object::default()
        };
    }
    if id & FILE != 0 && i < limits.files {
        let file = view.file(i);
        let is_current = file.id.load(Ordering::Acquire) == id;
        let name = is_current.then(|| text(&file.name).into());
        return Object {
            name,
            begin: u64::from(id),
            ..Object::default()
        };
    }
    if id == 0 || i >= limits.instances {
        return Object::default();
    }
    let instance = view.instance(i);
    let is_current = instance.id.load(Ordering::Acquire) == id;
    let address = instance.address.load(Ordering::Relaxed);
    Object {
        begin: if is_current { address } else { 0 },
        ..Object::default()
    }
}

/// Value of the HISTOGRAM cell of a lock's row if the thread holds it exclusively. Otherwise that cell counts
/// the thread's read locks.
const HELD_EXCLUSIVELY: u64 = 1 << 63;

/// The banks' counts of instances, by id.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    counts: HashMap<u32, [Cells; 3]>,
    owners: HashMap<u32, u64>,
    readers: HashMap<u32, u32>,
}

/// A line less its value at the truncation. Without a histogram the extremes of before remain as bounds,
/// unless nothing was counted since.
pub(crate) fn since_truncation(now: Cells, then: Option<Cells>) -> Cells {
    let Some(then) = then else { return now };
    let mut cells = now;
    for i in [COUNT, CONTENDED, SUM, EXTRA] {
        cells[i] = now[i].saturating_sub(then[i]);
    }
    if cells[COUNT] == 0 {
        return EMPTY_TIME_LINE;
    }
    if now[MAX] <= then[MAX] {
        cells[MAX] = now[MAX].min(cells[SUM]);
    }
    cells
}

impl Rows {
    /// Id of the thread that holds a lock exclusively.
    pub fn owner(&self, id: u32) -> Option<u64> {
        self.owners.get(&id).copied()
    }
}

impl Banks<'_> {
    /// What the banks hold about instances; `threads` are those that live.
    pub fn instance_rows(&self, threads: &[Thread]) -> Rows {
        let view = self.view();
        let by_slot: HashMap<usize, u64> = threads.iter().map(|t| (t.slot, t.id)).collect();
        self.unmerged(|| {
            let baselines = view.control().baselines_used.load(Ordering::Acquire);
            let truncated = baselines & 1 << baseline::TRUNCATED_GLOBAL != 0;
            let mut rows = Rows::default();
            for bank in 0..self.count() {
                let (arena, base_lines) = (
                    view.arena(bank),
                    view.baseline(baseline::TRUNCATED_GLOBAL, bank),
                );
                let slot = view.bank(bank).slot.load(Ordering::Relaxed) as usize;
                let thread = slot.checked_sub(1).and_then(|slot| by_slot.get(&slot));
                for (at, tag) in self
                    .items(bank)
                    .filter(|(_, tag)| tag.item == Item::Instance)
                {
                    let sums = rows.counts.entry(tag.id).or_insert([EMPTY_TIME_LINE; 3]);
                    for (i, sum) in sums.iter_mut().enumerate().take(tag.lines) {
                        let then = truncated.then(|| cells(&base_lines[at + i]));
                        add(
                            Kind::File,
                            i,
                            sum,
                            &since_truncation(cells(&arena[at + i]), then),
                        );
                    }
                    if let Some(thread) = thread.filter(|_| tag.id & (FILE | SOCKET) == 0) {
                        rows.hold(tag.id, *thread, arena[at].get(HISTOGRAM));
                    }
                }
            }
            rows
        })
    }

    /// The mutexes, rwlocks and conditions that exist.
    pub fn instances(&self, rows: &Rows) -> Vec<Instance> {
        let view = self.view();
        let used = view.shared().instances_used.0.load(Ordering::Acquire) as usize;
        let truncated = view.control().instances_truncated.load(Ordering::Acquire) != 0;
        let instance = |i: usize| {
            let instance = view.instance(i);
            let id = instance.id.load(Ordering::Acquire);
            if id == 0 || index_of(id) != i {
                return None;
            }
            let then = truncated.then(|| shared_cells(&instance.truncated));
            let mut line = since_truncation(shared_cells(&instance.shared), then);
            if let Some(counted) = rows.counts.get(&id) {
                add(Kind::Mutex, 0, &mut line, &counted[0]);
            }
            Some(Instance {
                id,
                class: instance.class.load(Ordering::Relaxed) as usize,
                address: instance.address.load(Ordering::Relaxed),
                line,
                owner: rows.owners.get(&id).copied(),
                readers: rows.readers.get(&id).copied().unwrap_or(0),
            })
        };
        let limit = view.geometry().limits.instances;
        (0..used.min(limit)).filter_map(instance).collect()
    }

    /// The sockets that are open.
    pub fn sockets(&self, rows: &Rows) -> Vec<Socket> {
        let view = self.view();
        let used = view.shared().sockets_used.0.load(Ordering::Acquire) as usize;
        let truncated = view.control().instances_truncated.load(Ordering::Acquire) != 0;
        let socket = |i: usize| {
            let socket = view.socket(i);
            let id = socket.id.load(Ordering::Acquire);
            if id == 0 || index_of(id) != i {
                return None;
            }
            let then = truncated.then_some(&socket.truncated);
            let row = rows.total(Kind::Socket, id, &socket.shared, then);
            let owner = socket.owner_thread.load(Ordering::Relaxed);
            Some(Socket {
                id,
                class: socket.class.load(Ordering::Relaxed) as usize,
                address: socket.address.load(Ordering::Relaxed),
                descriptor: socket.descriptor.load(Ordering::Relaxed) as i32,
                ip: text(&socket.ip).into(),
                port: socket.port.load(Ordering::Relaxed) as u16,
                owner: (owner != 0).then_some(owner),
                is_idle: socket.is_idle.load(Ordering::Relaxed) != 0,
                row,
            })
        };
        let limit = view.geometry().limits.sockets;
        (0..used.min(limit)).filter_map(socket).collect()
    }

    /// The files that were ever opened.
    pub fn files(&self, rows: &Rows) -> Vec<File> {
        let view = self.view();
        let used = view.shared().files_used.0.load(Ordering::Acquire) as usize;
        let truncated = view.control().instances_truncated.load(Ordering::Acquire) != 0;
        let file = |i: usize| {
            let file = view.file(i);
            let id = file.id.load(Ordering::Acquire);
            if id == 0 {
                return None;
            }
            let then = truncated.then_some(&file.truncated);
            let row = rows.total(Kind::File, id, &file.shared, then);
            Some(File {
                id,
                class: file.class.load(Ordering::Relaxed) as usize,
                path: text(&file.name).into(),
                open: file.open.load(Ordering::Relaxed),
                row,
            })
        };
        let limit = view.geometry().limits.files;
        (0..used.min(limit)).filter_map(file).collect()
    }
}

impl Rows {
    /// What was counted of a file or socket: by threads, and in its own lines by those that ended. `then`: those
    /// lines when they were truncated.
    fn total(
        &self,
        kind: Kind,
        id: u32,
        shared: &[Line; 3],
        then: Option<&[Line; 3]>,
    ) -> [Cells; 3] {
        let counted = self.counts.get(&id).copied();
        let mut total = counted.unwrap_or([EMPTY_TIME_LINE; 3]);
        for (part, sum) in total.iter_mut().enumerate() {
            let then = then.map(|then| shared_cells(&then[part]));
            let shared = since_truncation(shared_cells(&shared[part]), then);
            add(kind, part, sum, &shared);
        }
        total
    }

    fn hold(&mut self, id: u32, thread: u64, held: u64) {
        if held == HELD_EXCLUSIVELY {
            self.owners.insert(id, thread);
        } else if held != 0 {
            let more = u32::try_from(held).unwrap_or(u32::MAX);
            let readers = self.readers.entry(id).or_default();
            *readers = readers.saturating_add(more);
        }
    }
}
