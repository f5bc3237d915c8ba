//! What the layer does with the spans of one place in the source.

use std::sync::OnceLock;

use tare::{Class, Kind};
use tracing_core::Metadata;

use crate::classes::Classes;
use crate::fields::Attribute;

/// What spans become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing: their level is too low.
    Ignored,
    /// Sessions.
    Session,
    /// Statements.
    Statement,
    /// Statements, or stages if they are inside of one.
    Step,
}

/// A place in the source at which spans begin.
#[derive(Debug)]
pub struct Site {
    pub role: Role,
    pub name: &'static str,
    /// What the fields say, by index. Empty: nothing.
    pub meanings: Box<[Option<Attribute>]>,
    session: OnceLock<&'static Class>,
    statement: OnceLock<&'static Class>,
    stage: OnceLock<&'static Class>,
}

impl Site {
    pub fn new(role: Role, name: &'static str, meanings: Vec<Option<Attribute>>) -> Self {
        let is_text = |meaning: &_| matches!(meaning, Some(Attribute::Text | Attribute::Shape));
        let has_text = meanings.iter().any(is_text);
        let has_meaning = meanings.iter().any(Option::is_some);
        Self {
            role: match role {
                Role::Step if has_text => Role::Statement,
                role => role,
            },
            name,
            meanings: if has_meaning { meanings } else { Vec::new() }.into(),
            session: OnceLock::new(),
            statement: OnceLock::new(),
            stage: OnceLock::new(),
        }
    }

    /// The class of its sessions.
    pub fn session(&self, classes: &Classes) -> &'static Class {
        registered(&self.session, Kind::Thread, self.name, classes)
    }

    /// The class of its statements.
    pub fn statement(&self, classes: &Classes) -> &'static Class {
        registered(&self.statement, Kind::Statement, self.name, classes)
    }

    /// The class of its stages.
    pub fn stage(&self, classes: &Classes) -> &'static Class {
        registered(&self.stage, Kind::Stage, self.name, classes)
    }
}

/// The class, or that of all other names if the segment has no space for it.
fn registered(
    class: &OnceLock<&'static Class>,
    kind: Kind,
    name: &str,
    classes: &Classes,
) -> &'static Class {
    let class = class.get_or_init(|| {
        // While there is space.
        classes.other(kind).register();
        classes.find(kind, name)
    });
    if class.register() {
        return class;
    }
    classes.warn();
    classes.other(kind)
}

/// Entries of the table of sites. Programs have some hundreds of spans in their source.
const SITES: usize = 4096;

/// Entries that are searched for a site.
const PROBES: usize = 64;

/// The sites of a layer, by the address of their metadata. Sites are only added.
#[derive(Debug)]
pub struct Sites {
    entries: Box<[OnceLock<Box<Entry>>]>,
    /// Those that found no entry.
    other: Site,
}

#[derive(Debug)]
struct Entry {
    address: usize,
    site: Site,
}

impl Sites {
    pub fn new() -> Self {
        Self {
            entries: (0..SITES).map(|_| OnceLock::new()).collect(),
            other: Site::new(Role::Step, "other", Vec::new()),
        }
    }

    /// The site of spans with this metadata.
    #[inline]
    pub fn find(&self, metadata: &'static Metadata<'static>, create: impl Fn() -> Site) -> &Site {
        let address = std::ptr::from_ref(metadata).addr();
        // Statics of this size are next to one another: a multiplication spreads them.
        let first = (address >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        for i in 0..PROBES {
            let entry = self.entries[(first + i) % SITES].get_or_init(|| {
                Box::new(Entry {
                    address,
                    site: create(),
                })
            });
            if entry.address == address {
                return &entry.site;
            }
        }
        &self.other
    }
}
