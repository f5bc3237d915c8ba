//! Files: one instance for each name, however often it is opened.

use std::sync::atomic::{AtomicU64, Ordering};

use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::hot::{self, local};
use crate::engine::local::Local;
use crate::payload::Payload;
use crate::source::Source;
use tare_layout::event::Operation;

/// An open file.
///
/// ```
/// tare::classes! { static JOURNAL: File = "wait/io/file/app/journal"; }
/// let file = tare::file::Instance::open(&JOURNAL, "/var/lib/app/journal");
/// let mut wait = file.wait(tare::Operation::Write);
/// // let n = journal.write(&buffer)?;
/// wait.bytes(4096);
/// ```
#[derive(Debug)]
pub struct Instance(Payload<File>);

#[derive(Debug)]
struct File {
    class: &'static Class,
    path: Box<str>,
    /// Generation (bits 32-63) and id (bits 0-31).
    id: AtomicU64,
}

impl Instance {
    /// A file is open under this name; dropped = closed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn open(class: &'static Class, path: &str) -> Self {
        Self(Payload::new(|| {
            let file = File {
                class,
                path: path.into(),
                id: AtomicU64::new(0),
            };
            if let Some(local) = local() {
                file.id(local);
            }
            file
        }))
    }

    /// The file of this name was deleted: its figures are removed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn deleted(class: &'static Class, path: &str) {
        hot::with(|engine| engine.delete_file(engine.number(class), path));
    }

    /// A file was renamed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn renamed(class: &'static Class, from: &str, to: &str) {
        hot::with(|engine| engine.rename_file(engine.number(class), from, to));
    }

    /// Begins an operation on the file.
    #[inline]
    #[track_caller]
    pub fn wait(&self, operation: Operation) -> Wait {
        self.begin::<false>(None, operation, Source::here())
    }

    /// Begins an operation as [`wait`](Self::wait) does, for a host that passes the place in its source.
    #[inline]
    pub fn wait_at(&self, operation: Operation, source: Source) -> Wait {
        self.begin::<true>(None, operation, source)
    }

    /// Begins an operation on the file that its class does not count, but another one of kind File.
    #[inline]
    #[track_caller]
    pub fn wait_as(&self, class: &Class, operation: Operation) -> Wait {
        self.begin::<false>(Some(class), operation, Source::here())
    }

    #[inline(always)]
    fn begin<const HOST_CALLS: bool>(
        &self,
        class: Option<&Class>,
        operation: Operation,
        source: Source,
    ) -> Wait {
        let Some(file) = self.0.get() else {
            return Wait::NONE;
        };
        let class = class.unwrap_or(file.class);
        wait::start_on::<HOST_CALLS>(class, operation, Start::Now, source, |local| {
            (u64::from(file.id(local)), 0xff)
        })
    }

    /// Its id in the segment that records now, 0 = none.
    #[inline]
    pub(super) fn id(&self, local: &Local) -> u32 {
        self.0.get().map_or(0, |file| file.id(local))
    }
}

impl File {
    /// The id in the segment that records now. A file that was opened before Tare started gets one at
    /// its first operation.
    #[inline]
    fn id(&self, local: &Local) -> u32 {
        let id = self.id.load(Ordering::Relaxed);
        if id >> 32 == local.key >> 32 {
            return id as u32;
        }
        self.id_slow(local, id)
    }

    #[cold]
    #[inline(never)]
    fn id_slow(&self, local: &Local, id: u64) -> u32 {
        let new = local.engine.open_file(local.number(self.class), &self.path);
        let tagged = local.key >> 32 << 32 | u64::from(new);
        let order = Ordering::Relaxed;
        if let Err(other) = self.id.compare_exchange(id, tagged, order, order) {
            // Another thread was first, and opened it for both.
            local.engine.close_file(new);
            return other as u32;
        }
        new
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let id = *self.id.get_mut();
        if id as u32 != 0 {
            hot::with_engine((id >> 32) as u32, |engine| engine.close_file(id as u32));
        }
    }
}
