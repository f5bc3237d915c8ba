//! Instrument classes that are created at run time, for the names of spans.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use tare::{Class, Kind};

/// MySQL's limit for the name of an instrument.
const MAX_NAME_BYTES: usize = 128;

/// All classes of the process by their full names. They are never freed, so they are shared by all layers.
static ALL: LazyLock<Mutex<HashMap<String, &'static Class>>> = LazyLock::new(Mutex::default);

/// The classes of a layer.
#[derive(Debug)]
pub struct Classes {
    prefix: String,
    limit: usize,
    /// Those that names have, by their full names.
    own: Mutex<HashMap<String, &'static Class>>,
    has_warned: AtomicBool,
    /// Of threads, statements and stages.
    others: [OnceLock<&'static Class>; 3],
}

impl Classes {
    pub fn new(prefix: &str, limit: usize) -> Self {
        Self {
            prefix: prefix.into(),
            limit,
            own: Mutex::default(),
            has_warned: AtomicBool::new(false),
            others: [const { OnceLock::new() }; 3],
        }
    }

    /// The class of spans with this name; above the limit, that of all other names.
    pub fn find(&self, kind: Kind, name: &str) -> &'static Class {
        let full = self.full_name(kind, name);
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(class) = own.get(&full) {
            return class;
        }
        if own.len() >= self.limit {
            self.warn();
            return self.other(kind);
        }
        let class = find_or_create(kind, &full);
        own.insert(full, class);
        class
    }

    /// The class of names that have none of their own.
    pub fn other(&self, kind: Kind) -> &'static Class {
        let index = match kind {
            Kind::Thread => 0,
            Kind::Statement => 1,
            _ => 2,
        };
        self.others[index].get_or_init(|| find_or_create(kind, &self.full_name(kind, "other")))
    }

    fn full_name(&self, kind: Kind, name: &str) -> String {
        let mut full = format!("{}{}/", kind.prefix(), self.prefix);
        let printable = |c: char| if c.is_control() { '_' } else { c };
        full.extend(name.chars().map(printable));
        let mut length = full.len().min(MAX_NAME_BYTES);
        while !full.is_char_boundary(length) {
            length -= 1;
        }
        full.truncate(length);
        full
    }

    /// Warns once that names have no class of their own.
    #[cold]
    pub fn warn(&self) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            let prefix = &self.prefix;
            let _ = writeln!(
                std::io::stderr(),
                "tare-tracing: no class is left for some names of spans, which count as \
                 statement/{prefix}/other and stage/{prefix}/other; raise max_classes of the layer or \
                 Limits::classes"
            );
        }
    }
}

fn find_or_create(kind: Kind, full_name: &str) -> &'static Class {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(class) = all.get(full_name) {
        return class;
    }
    let name: &'static str = String::leak(full_name.into());
    let class = Class::new(kind, name, "A span of tracing.").enabled();
    let class: &'static Class = Box::leak(Box::new(class));
    all.insert(full_name.into(), class);
    class
}
