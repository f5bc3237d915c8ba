//! setup_objects: the rules of which tables and programs are counted. A change has immediate effect, also on
//! existing tables.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::View;
use tare_layout::object::{FILLING, ObjectType, READY, rule};
use tare_layout::object_mask;
use tare_layout::sizes;

use crate::attach::Segment;
use crate::classes::text;
use crate::error::WriteError;

/// A row of setup_objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number in the table of rules.
    pub place: usize,
    /// OBJECT_TYPE.
    pub kind: ObjectType,
    /// OBJECT_SCHEMA, or `%`.
    pub schema: Arc<str>,
    /// OBJECT_NAME, or `%`.
    pub name: Arc<str>,
    /// ENABLED.
    pub enabled: bool,
    /// TIMED.
    pub timed: bool,
}

/// New values of ENABLED and TIMED; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// ENABLED.
    pub enabled: Option<bool>,
    /// TIMED.
    pub timed: Option<bool>,
}

impl Rule {
    fn read(view: View<'_>, place: usize) -> Option<Self> {
        let entry = view.object_rule(place);
        if entry.state.load(Ordering::Acquire) != READY {
            return None;
        }
        let flags = entry.flags.load(Ordering::Relaxed);
        Some(Self {
            place,
            kind: ObjectType::from_u8(entry.kind.load(Ordering::Relaxed) as u8)?,
            schema: text(&entry.schema).into(),
            name: text(&entry.name).into(),
            enabled: flags & rule::ENABLED != 0,
            timed: flags & rule::TIMED != 0,
        })
    }

    /// All rows.
    pub fn all(view: View<'_>) -> Vec<Self> {
        (0..view.geometry().limits.setup_objects)
            .filter_map(|place| Self::read(view, place))
            .collect()
    }
}

fn bits(enabled: bool, timed: bool) -> u32 {
    let bit = |on, bit| if on { bit } else { 0 };
    bit(enabled, rule::ENABLED) | bit(timed, rule::TIMED)
}

impl Segment {
    /// Adds a row.
    ///
    /// # Errors
    /// [`WriteError::Duplicate`] if there is one of this name, [`WriteError::Full`]; and as
    /// [`Segment::set_instrument`].
    pub fn add_rule(
        &self,
        kind: ObjectType,
        schema: &str,
        name: &str,
        enabled: bool,
        timed: bool,
    ) -> Result<(), WriteError> {
        let view = self.writable()?;
        let mut rules = Rule::all(view).into_iter();
        if rules.any(|r| r.kind == kind && *r.schema == *schema && *r.name == *name) {
            return Err(WriteError::Duplicate);
        }
        let capacity = match view.control().has_none_of(sizes::OBJECTS) {
            true => 0,
            false => view.geometry().limits.setup_objects,
        };
        for place in 0..capacity {
            let entry = view.object_rule(place);
            let order = Ordering::Relaxed;
            let taken = (entry.state).compare_exchange(0, FILLING, Ordering::AcqRel, order);
            if taken.is_err() {
                continue;
            }
            entry.kind.store(kind as u32, Ordering::Relaxed);
            entry.flags.store(bits(enabled, timed), Ordering::Relaxed);
            entry.schema.set(schema);
            entry.name.set(name);
            entry.state.store(READY, Ordering::Release);
            object_mask::recompute(&view);
            return Ok(());
        }
        Err(WriteError::Full { rows: capacity })
    }

    /// Changes a row, if it is still there.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_rule(&self, of: &Rule, to: Switch) -> Result<(), WriteError> {
        let view = self.writable()?;
        if Rule::read(view, of.place).is_some_and(|now| now.kind == of.kind) {
            let enabled = to.enabled.unwrap_or(of.enabled);
            let timed = to.timed.unwrap_or(of.timed);
            let entry = view.object_rule(of.place);
            entry.flags.store(bits(enabled, timed), Ordering::Release);
            object_mask::recompute(&view);
        }
        Ok(())
    }

    /// Removes rows.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn remove_rules(&self, numbers: &[usize]) -> Result<(), WriteError> {
        let view = self.writable()?;
        let limit = view.geometry().limits.setup_objects;
        for place in numbers.iter().filter(|place| **place < limit) {
            let state = &view.object_rule(*place).state;
            let order = Ordering::Relaxed;
            let _ = state.compare_exchange(READY, 0, Ordering::AcqRel, order);
        }
        object_mask::recompute(&view);
        Ok(())
    }
}
