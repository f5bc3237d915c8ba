//! Masks of effective flags for objects, by the rules of `setup_objects`.

use crate::control::effective;
use crate::object::{Object, ObjectType, READY, rule};
use crate::primitive::{AtomicU8, Ordering};
use crate::view::View;

/// The mask of an object of this type and name for its class's effective byte. As in MySQL, the rule
/// for its name comes before that for its schema, and that before `%`; an object without a rule is not
/// counted.
fn mask_of(view: &View<'_>, object: &Object) -> u8 {
    let kind = ObjectType::from_u8(object.kind.load(Ordering::Relaxed) as u8);
    let kind = kind.map_or(0, |kind| kind.ruled_as() as u32);
    let mut best = None;
    for i in 0..view.geometry().limits.setup_objects {
        let rule = view.object_rule(i);
        if rule.state.load(Ordering::Acquire) != READY || rule.kind.load(Ordering::Relaxed) != kind
        {
            continue;
        }
        let (any_schema, any_name) = (rule.schema.is("%"), rule.name.is("%"));
        let weight = match (any_schema, any_name) {
            (true, true) => 0,
            (false, true) if rule.schema.equals(&object.schema) => 1,
            (false, false)
                if rule.schema.equals(&object.schema) && rule.name.equals(&object.name) =>
            {
                2
            }
            _ => continue,
        };
        if best.is_none_or(|(best_weight, _)| weight >= best_weight) {
            best = Some((weight, rule.flags.load(Ordering::Relaxed)));
        }
    }
    match best {
        Some((_, flags)) if flags & rule::ENABLED != 0 => match flags & rule::TIMED {
            0 => !effective::TIME,
            _ => 0xff,
        },
        _ => 0,
    }
}

/// Computes the mask of one object, after it has been published.
pub fn compute_mask(view: &View<'_>, i: usize) {
    let version = &view.control().objects_version;
    let mut before = version.load(Ordering::SeqCst);
    loop {
        store(&view.object_masks()[i], mask_of(view, view.object(i)));
        let now = version.load(Ordering::SeqCst);
        if now == before {
            return;
        }
        before = now;
    }
}

/// Computes the masks of all objects, after a rule was changed. Lock-free and convergent, as
/// [`crate::control::Controls::recompute`] is.
pub fn recompute(view: &View<'_>) {
    let version = &view.control().objects_version;
    let mut before = version.fetch_add(1, Ordering::SeqCst) + 1;
    loop {
        let used = view.shared().objects_used.0.load(Ordering::Acquire) as usize;
        for i in 0..used.min(view.geometry().limits.objects) {
            let object = view.object(i);
            if object.id.load(Ordering::Acquire) != 0 {
                store(&view.object_masks()[i], mask_of(view, object));
            }
        }
        let now = version.load(Ordering::SeqCst);
        if now == before {
            return;
        }
        before = now;
    }
}

fn store(cell: &AtomicU8, mask: u8) {
    if cell.load(Ordering::SeqCst) != mask {
        cell.store(mask, Ordering::SeqCst);
    }
}
