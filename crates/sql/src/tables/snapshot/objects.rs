//! Instances: locks, conditions, sockets and files, one by one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::bank::plane;
use tare_layout::instance::{FILE, index_of};
use tare_layout::line::{COUNT, EXTRA, HISTOGRAM, Item, MAX, SUM};

use tare_reader::Class;
use tare_reader::classes::text;
use tare_reader::line::{Cells, NOTHING, add, cells, shared_cells};

use super::host::Host;
use super::summaries::{file_io, stat};
use super::{Made, Snapshot, none};
use crate::catalog::{Admit, Filter};
use crate::tables::performance_schema::files::FileIo;
use crate::tables::performance_schema::instances::Lock;
use crate::tables::performance_schema::waits::InstanceWaits;

/// What an event waited for.
#[derive(Default)]
pub(super) struct Object {
    pub name: Option<Arc<str>>,
    pub begin: u64,
}

/// In the HISTOGRAM cell of a lock's row: this thread holds it alone. Else it counts its read locks.
const HELD_EXCLUSIVE: u64 = 1 << 63;

/// What the banks hold about instances.
#[derive(Default)]
pub(super) struct Instances {
    rows: HashMap<u32, [Cells; 3]>,
    /// The thread that holds it alone.
    owners: HashMap<u32, u64>,
    readers: HashMap<u32, u32>,
}

/// Less what was there when the table was truncated. Extremes cannot be told apart: those of before
/// stay, unless nothing was counted since.
fn less(now: Cells, then: Option<Cells>) -> Cells {
    let Some(then) = then else { return now };
    let mut cells = now;
    for i in [COUNT, SUM, EXTRA, tare_layout::line::CONTENDED] {
        cells[i] = now[i].saturating_sub(then[i]);
    }
    if cells[COUNT] == 0 {
        return NOTHING;
    }
    if now[MAX] <= then[MAX] {
        cells[MAX] = now[MAX].min(cells[SUM]);
    }
    cells
}

impl Host {
    /// Rows and holders of all instances.
    fn read_instances(&self, threads: &HashMap<usize, u64>) -> Instances {
        self.banks().unmerged(|| {
            let view = self.view();
            let truncated = view.control().planes_used.load(Ordering::Acquire)
                & 1 << plane::TRUNCATED_GLOBAL
                != 0;
            let mut found = Instances::default();
            for number in 0..self.banks_used() {
                let arena = view.arena(number);
                let bank = view.bank(number);
                let thread = (bank.slot.load(Ordering::Relaxed) as usize)
                    .checked_sub(1)
                    .and_then(|slot| threads.get(&slot).copied());
                for (at, tag) in self
                    .banks()
                    .items(number)
                    .filter(|(_, tag)| tag.item == Item::Instance)
                {
                    let row = found.rows.entry(tag.id).or_insert([NOTHING; 3]);
                    for (i, sum) in row.iter_mut().enumerate().take(tag.lines) {
                        let then = truncated
                            .then(|| cells(&view.plane(plane::TRUNCATED_GLOBAL, number)[at + i]));
                        add(Kind::File, i, sum, &less(cells(&arena[at + i]), then));
                    }
                    let held = arena[at].get(HISTOGRAM);
                    if let (Some(thread), true) = (thread, tag.id & FILE == 0) {
                        if held == HELD_EXCLUSIVE {
                            found.owners.insert(tag.id, thread);
                        } else if held != 0 {
                            *found.readers.entry(tag.id).or_default() +=
                                held.min(u32::MAX.into()) as u32;
                        }
                    }
                }
            }
            found
        })
    }

    /// Live instances: id, class, address.
    fn instances(&self) -> impl Iterator<Item = (u32, usize, u64)> + '_ {
        let view = self.view();
        let used = view.shared().instances_used.0.load(Ordering::Acquire);
        let used = self.used(used, view.geometry().limits.instances);
        (0..used).filter_map(move |i| {
            let instance = view.instance(i);
            let id = instance.id.load(Ordering::Acquire);
            let class = instance.class.load(Ordering::Relaxed) as usize;
            (id != 0 && index_of(id) == i)
                .then(|| (id, class, instance.address.load(Ordering::Relaxed)))
        })
    }

    /// Files: id, class, index.
    fn files(&self) -> impl Iterator<Item = (u32, usize, usize)> + '_ {
        let view = self.view();
        let used = view.shared().files_used.0.load(Ordering::Acquire);
        let used = self.used(used, view.geometry().limits.files);
        (0..used).filter_map(move |i| {
            let file = view.file(i);
            let id = file.id.load(Ordering::Acquire);
            (id != 0).then(|| (id, file.class.load(Ordering::Relaxed) as usize, i))
        })
    }
}

impl Snapshot {
    fn instances(&self, host: &Host) -> &Instances {
        self.instances.get_or_init(|| {
            let slots = self.slots(host);
            let threads = slots
                .iter()
                .map(|slot| (slot.number, slot.thread_id))
                .collect();
            host.read_instances(&threads)
        })
    }

    /// Name and number of what a wait's OBJECT refers to.
    pub(super) fn object(&self, host: &Host, id: u32) -> Object {
        let (view, limits) = (host.view(), host.view().geometry().limits);
        let i = index_of(id);
        if id & FILE != 0 && i < limits.files {
            let file = view.file(i);
            let known = file.id.load(Ordering::Acquire) == id;
            let name = known.then(|| text(&file.name).into());
            return Object {
                name,
                begin: u64::from(id),
            };
        }
        if id == 0 || i >= limits.instances {
            return Object::default();
        }
        let instance = view.instance(i);
        // An instance that has ended has no address any more.
        let known = instance.id.load(Ordering::Acquire) == id;
        let begin = if known {
            instance.address.load(Ordering::Relaxed)
        } else {
            0
        };
        Object { name: None, begin }
    }

    fn locks(&self, filter: &Filter, wanted: impl Fn(Kind) -> bool) -> Made<Lock> {
        let Some(host) = &self.host else {
            return none();
        };
        let name = filter.text("NAME");
        let (classes, rows) = (self.classes(host), self.instances(host));
        let mut locks = Vec::new();
        for (id, class, address) in host.instances() {
            let Some(class) = classes.get(class) else {
                continue;
            };
            if wanted(class.kind) && name.admits_name(&class.name) {
                locks.push(Lock {
                    name: class.name.clone(),
                    object_instance_begin: address,
                    owner: rows.owners.get(&id).copied(),
                    readers: rows.readers.get(&id).copied().unwrap_or(0),
                });
            }
        }
        Ok(Box::new(locks.into_iter()))
    }

    /// mutex_instances.
    pub fn mutexes(&self, filter: &Filter) -> Made<Lock> {
        self.locks(filter, |kind| kind == Kind::Mutex)
    }

    /// rwlock_instances.
    pub fn rwlocks(&self, filter: &Filter) -> Made<Lock> {
        self.locks(filter, |kind| matches!(kind, Kind::RwLock | Kind::SxLock))
    }

    fn file_rows(&self, host: &Host, name: Admit<&str>) -> Vec<(Class, u32, usize, [Cells; 3])> {
        let (classes, rows) = (self.classes(host), self.instances(host));
        let truncated = host
            .view()
            .control()
            .instances_truncated
            .load(Ordering::Acquire)
            != 0;
        let mut files = Vec::new();
        for (id, class, i) in host.files() {
            let Some(class) = classes.get(class) else {
                continue;
            };
            if !name.admits_name(&class.name) {
                continue;
            }
            let file = host.view().file(i);
            let mut row = rows.rows.get(&id).copied().unwrap_or([NOTHING; 3]);
            for (part, sum) in row.iter_mut().enumerate() {
                let then = truncated.then(|| shared_cells(&file.truncated[part]));
                add(
                    Kind::File,
                    part,
                    sum,
                    &less(shared_cells(&file.shared[part]), then),
                );
            }
            files.push((class.clone(), id, i, row));
        }
        files
    }

    /// events_waits_summary_by_instance.
    pub fn instance_waits(&self, filter: &Filter) -> Made<InstanceWaits> {
        let Some(host) = &self.host else {
            return none();
        };
        let name = filter.text("EVENT_NAME");
        let (classes, rows) = (self.classes(host), self.instances(host));
        let truncated = host
            .view()
            .control()
            .instances_truncated
            .load(Ordering::Acquire)
            != 0;
        let mut waits = Vec::new();
        for (id, class, address) in host.instances() {
            let Some(class) = classes.get(class) else {
                continue;
            };
            if !name.admits_name(&class.name) {
                continue;
            }
            let instance = host.view().instance(index_of(id));
            let then = truncated.then(|| shared_cells(&instance.truncated));
            let mut sum = less(shared_cells(&instance.shared), then);
            for line in rows.rows.get(&id).into_iter().flatten() {
                add(Kind::Mutex, 0, &mut sum, line);
            }
            waits.push(InstanceWaits {
                name: class.name.clone(),
                object_instance_begin: address,
                stat: stat(&host.clock, class.kind, &sum),
            });
        }
        for (class, id, _, row) in self.file_rows(host, name) {
            let stat = file_io(&host.clock, &row).all;
            waits.push(InstanceWaits {
                name: class.name,
                object_instance_begin: u64::from(id),
                stat,
            });
        }
        Ok(Box::new(waits.into_iter()))
    }

    /// file_summary_by_instance.
    pub fn file_instances(&self, filter: &Filter) -> Made<FileIo> {
        let Some(host) = &self.host else {
            return none();
        };
        let files = self.file_rows(host, filter.text("EVENT_NAME"));
        let row = |(class, id, i, row): (Class, u32, usize, [Cells; 3])| FileIo {
            path: text(&host.view().file(i).name).into(),
            name: class.name,
            object_instance_begin: u64::from(id),
            io: file_io(&host.clock, &row),
        };
        let rows: Vec<FileIo> = files.into_iter().map(row).collect();
        Ok(Box::new(rows.into_iter()))
    }
}
