//! Instances: locks, conditions, sockets and files, one by one.

use std::sync::Arc;

use tare_layout::Kind;
use tare_reader::instances::{File, Instance, Socket};

use super::host::Host;
use super::summaries::{file_io, stat};
use super::{RowsResult, Snapshot, none};
use crate::filter::Filter;
use crate::record::file::{FileIo, Opened};
use crate::record::instance::{InstanceWaits, LockInstance};
use crate::record::socket::{Open, SocketIo};

/// The instances of a segment at one moment.
pub(super) struct Objects {
    instances: Vec<Instance>,
    files: Vec<File>,
    sockets: Vec<Socket>,
}

impl Snapshot {
    fn objects(&self, host: &Host) -> &Objects {
        self.objects.get_or_init(|| {
            let banks = host.banks();
            let rows = banks.instance_rows(self.slots(host));
            Objects {
                instances: banks.instances(&rows),
                files: banks.files(&rows),
                sockets: banks.sockets(&rows),
            }
        })
    }

    fn locks(&self, filter: &Filter, wanted: impl Fn(Kind) -> bool) -> RowsResult<LockInstance> {
        let Some(host) = &self.host else {
            return none();
        };
        let name = filter.text("NAME");
        let mut locks = Vec::new();
        for instance in &self.objects(host).instances {
            let Some(class) = self.classes(host).get(instance.class) else {
                continue;
            };
            if wanted(class.kind) && name.admits_name(&class.name) {
                locks.push(LockInstance {
                    name: class.name.clone(),
                    object_instance_begin: instance.address,
                    owner: instance.owner,
                    readers: instance.readers,
                });
            }
        }
        Ok(Box::new(locks.into_iter()))
    }

    /// mutex_instances.
    pub fn mutexes(&self, filter: &Filter) -> RowsResult<LockInstance> {
        self.locks(filter, |kind| kind == Kind::Mutex)
    }

    /// rwlock_instances.
    pub fn rwlocks(&self, filter: &Filter) -> RowsResult<LockInstance> {
        self.locks(filter, |kind| matches!(kind, Kind::RwLock | Kind::SxLock))
    }

    /// cond_instances.
    pub fn conditions(&self, filter: &Filter) -> RowsResult<LockInstance> {
        self.locks(filter, |kind| kind == Kind::Cond)
    }

    /// events_waits_summary_by_instance.
    pub fn instance_waits(&self, filter: &Filter) -> RowsResult<InstanceWaits> {
        let Some(host) = &self.host else {
            return none();
        };
        let (objects, classes) = (self.objects(host), self.classes(host));
        let name_filter = filter.text("EVENT_NAME");
        let mut rows = Vec::new();
        for instance in &objects.instances {
            let class = classes.get(instance.class);
            if let Some(class) = class.filter(|class| name_filter.admits_name(&class.name)) {
                rows.push(InstanceWaits {
                    name: class.name.clone(),
                    object_instance_begin: instance.address,
                    stat: stat(&host.clock, class.kind, &instance.line),
                });
            }
        }
        for (name, file) in self.named_files(host, filter) {
            rows.push(InstanceWaits {
                name,
                object_instance_begin: u64::from(file.id),
                stat: file_io(&host.clock, &file.row).all,
            });
        }
        for socket in &objects.sockets {
            let class = classes.get(socket.class);
            if let Some(class) = class.filter(|class| name_filter.admits_name(&class.name)) {
                rows.push(InstanceWaits {
                    name: class.name.clone(),
                    object_instance_begin: socket.address,
                    stat: file_io(&host.clock, &socket.row).all,
                });
            }
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// The files that a filter on EVENT_NAME admits, with their instruments' names.
    fn named_files(&self, host: &Host, filter: &Filter) -> Vec<(Arc<str>, &File)> {
        let name = filter.text("EVENT_NAME");
        let mut named = Vec::new();
        for file in &self.objects(host).files {
            let class = self.classes(host).get(file.class);
            if let Some(class) = class.filter(|class| name.admits_name(&class.name)) {
                named.push((class.name.clone(), file));
            }
        }
        named
    }

    /// file_summary_by_instance.
    pub fn file_instances(&self, filter: &Filter) -> RowsResult<FileIo> {
        let Some(host) = &self.host else {
            return none();
        };
        let row = |(name, file): (Arc<str>, &File)| FileIo {
            path: file.path.clone(),
            name,
            object_instance_begin: u64::from(file.id),
            io: file_io(&host.clock, &file.row),
        };
        let rows: Vec<FileIo> = self
            .named_files(host, filter)
            .into_iter()
            .map(row)
            .collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// file_instances.
    pub fn opened_files(&self, filter: &Filter) -> RowsResult<Opened> {
        let Some(host) = &self.host else {
            return none();
        };
        let row = |(name, file): (Arc<str>, &File)| Opened {
            path: file.path.clone(),
            name,
            open: file.open,
        };
        let rows: Vec<Opened> = self
            .named_files(host, filter)
            .into_iter()
            .map(row)
            .collect();
        Ok(Box::new(rows.into_iter()))
    }

    fn named_sockets(&self, host: &Host, filter: &Filter) -> Vec<(Arc<str>, &Socket)> {
        let name = filter.text("EVENT_NAME");
        let mut named = Vec::new();
        for socket in &self.objects(host).sockets {
            let class = self.classes(host).get(socket.class);
            if let Some(class) = class.filter(|class| name.admits_name(&class.name)) {
                named.push((class.name.clone(), socket));
            }
        }
        named
    }

    /// socket_instances.
    pub fn sockets(&self, filter: &Filter) -> RowsResult<Open> {
        let Some(host) = &self.host else {
            return none();
        };
        let row = |(name, socket): (Arc<str>, &Socket)| Open {
            name,
            object_instance_begin: socket.address,
            thread_id: socket.owner,
            descriptor: socket.descriptor,
            ip: socket.ip.clone(),
            port: socket.port,
            state: if socket.is_idle { "IDLE" } else { "ACTIVE" },
        };
        let rows: Vec<Open> = self
            .named_sockets(host, filter)
            .into_iter()
            .map(row)
            .collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// socket_summary_by_instance.
    pub fn socket_instances(&self, filter: &Filter) -> RowsResult<SocketIo> {
        let Some(host) = &self.host else {
            return none();
        };
        let row = |(name, socket): (Arc<str>, &Socket)| SocketIo {
            name,
            object_instance_begin: socket.address,
            io: file_io(&host.clock, &socket.row),
        };
        let rows: Vec<SocketIo> = self
            .named_sockets(host, filter)
            .into_iter()
            .map(row)
            .collect();
        Ok(Box::new(rows.into_iter()))
    }
}
