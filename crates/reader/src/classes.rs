//! Instrument classes: the names behind the numbers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::name::Name;
use tare_layout::{Kind, View};

/// An instrument class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its number.
    pub id: usize,
    /// What it observes.
    pub kind: Kind,
    /// Its name in `setup_instruments` (of errors: `error/CODE`).
    pub name: Arc<str>,
    /// One sentence about it.
    pub documentation: Option<Arc<str>>,
    /// Bits of [`tare_layout::class::property`].
    pub properties: u32,
    /// `setup_instruments.VOLATILITY`.
    pub volatility: u32,
}

/// The classes of a segment at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    all: Arc<[Option<Class>]>,
}

impl Classes {
    /// Reads the classes that are registered now.
    pub fn read(view: View<'_>) -> Self {
        let limit = view.geometry().limits.classes;
        let used = view.shared().classes_used.0.load(Ordering::Acquire) as usize;
        let all = (0..used.min(limit)).map(|id| read(view, id)).collect();
        Self { all }
    }

    /// The class with this number.
    pub fn get(&self, id: usize) -> Option<&Class> {
        self.all.get(id)?.as_ref()
    }

    /// The class with this name.
    pub fn find(&self, name: &str) -> Option<&Class> {
        self.iter().find(|class| &*class.name == name)
    }

    /// One more than the highest number.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether no class is registered.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Class> {
        self.all.iter().flatten()
    }
}

/// The kind of class `id`, if there is one.
pub(crate) fn kind(view: View<'_>, id: usize) -> Option<Kind> {
    if id >= view.geometry().limits.classes {
        return None;
    }
    let number = view.class(id).kind.load(Ordering::Acquire);
    Kind::from_u8(u8::try_from(number).ok()?)
}

fn read(view: View<'_>, id: usize) -> Option<Class> {
    let kind = kind(view, id)?;
    let entry = view.class(id);
    let documentation = text(&entry.documentation);
    Some(Class {
        id,
        kind,
        name: text(&entry.name).into(),
        documentation: (!documentation.is_empty()).then(|| documentation.into()),
        properties: entry.properties.load(Ordering::Relaxed),
        volatility: entry.volatility.load(Ordering::Relaxed),
    })
}

/// A short text of the segment; bytes that are not UTF-8 are replaced.
pub fn text<const WORDS: usize>(name: &Name<WORDS>) -> String {
    let mut bytes = vec![0; name.len()];
    String::from_utf8_lossy(name.get(&mut bytes)).into_owned()
}
