//! Classes: registered once, for the life of the process.

use std::ffi::{c_char, c_int, c_uint};

use engine::{Class, Kind};

use crate::status::{Failure, catch_panic, pointer_or_null};
use crate::text::text;

/// `struct tare_class`: a class that lives for ever.
pub type tare_class = Class;

const SINGLETON: c_uint = 1;
const PROGRESS: c_uint = 2;
const USER: c_uint = 4;
const MUTABLE: c_uint = 16;
const ENABLED: c_uint = 256;
const DISABLED: c_uint = 512;
const FLAGS: c_uint = SINGLETON | PROGRESS | USER | MUTABLE | ENABLED | DISABLED;

fn kind(number: c_int) -> Result<Kind, Failure> {
    u8::try_from(number)
        .ok()
        .and_then(Kind::from_u8)
        .filter(|kind| *kind != Kind::Error)
        .ok_or_else(|| Failure::invalid(format!("{number} is no kind; give a TARE_KIND_*")))
}

fn find_or_register(
    number: c_int,
    name: &str,
    flags: c_uint,
    documentation: &str,
) -> Result<&'static Class, Failure> {
    let kind = kind(number)?;
    if flags & !FLAGS != 0 {
        return Err(Failure::invalid(format!(
            "{flags:#x} has bits that are no class flags"
        )));
    }
    Class::find_or_create(kind, name, documentation, |class| with_flags(class, flags))
        .map_err(|error| Failure::invalid(error.to_string()))
}

fn with_flags(mut class: Class, flags: c_uint) -> Class {
    if flags & SINGLETON != 0 {
        class = class.singleton();
    }
    if flags & PROGRESS != 0 {
        class = class.progress();
    }
    if flags & USER != 0 {
        class = class.user();
    }
    if flags & MUTABLE != 0 {
        class = class.mutable();
    }
    if flags & ENABLED != 0 {
        class = class.enabled();
    }
    if flags & DISABLED != 0 {
        class = class.disabled();
    }
    class
}

/// The class if `fits` accepts its kind.
///
/// # Safety
/// `class` is NULL or came from `tare_register`.
#[inline]
pub unsafe fn of_kind(
    class: *const tare_class,
    fits: impl Fn(Kind) -> bool,
) -> Option<&'static Class> {
    // SAFETY: rule 8 (a registered class lives for ever).
    unsafe { class.as_ref() }.filter(|class| fits(class.kind()))
}

/// The class if `fits` accepts its kind, or the error.
///
/// # Safety
/// As [`of_kind`].
pub unsafe fn require_kind(
    class: *const tare_class,
    fits: impl Fn(Kind) -> bool,
) -> Result<&'static Class, Failure> {
    if class.is_null() {
        return Err(Failure::null("the class"));
    }
    // SAFETY: rule 8 (NULL, or a registered class).
    unsafe { of_kind(class, fits) }.ok_or_else(|| {
        // SAFETY: as above, not NULL.
        let class = unsafe { &*class };
        Failure::invalid(format!(
            "{} is of kind {:?}, which does not fit here",
            class.name(),
            class.kind()
        ))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_register(
    kind: c_int,
    name: *const c_char,
    flags: c_uint,
    documentation: *const c_char,
) -> *mut tare_class {
    pointer_or_null(|| {
        // SAFETY: rule 5 (NULL, or a readable text).
        let (name, documentation) = unsafe { (text(name), text(documentation)) };
        let class = find_or_register(kind, &name, flags, &documentation)?;
        Ok(std::ptr::from_ref(class).cast_mut())
    })
}

/// `struct tare_class_info`.
#[repr(C)]
pub struct tare_class_info {
    place: *mut *mut tare_class,
    kind: c_int,
    name: *const c_char,
    flags: c_uint,
    documentation: *const c_char,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_register_all(infos: *const tare_class_info, count: usize) -> usize {
    catch_panic(count, || {
        if infos.is_null() {
            return count;
        }
        let mut failed = 0;
        for at in 0..count {
            // SAFETY: rule 5 (an element of `infos`).
            let info = unsafe { &*infos.add(at) };
            // SAFETY: as above.
            let class =
                unsafe { tare_register(info.kind, info.name, info.flags, info.documentation) };
            failed += usize::from(class.is_null());
            if !info.place.is_null() {
                // SAFETY: rule 6 (writable).
                unsafe { *info.place = class };
            }
        }
        failed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_class() {
        // SAFETY: C strings.
        unsafe {
            let name = c"wait/synch/mutex/test/LOCK_once".as_ptr();
            let class = tare_register(1, name, ENABLED, c"Once".as_ptr());
            assert!(!class.is_null());
            assert_eq!(tare_register(1, name, 0, std::ptr::null()), class);
            assert!(require_kind(class, |kind| kind == Kind::Mutex).is_ok());
            assert!(require_kind(class, |kind| kind == Kind::Stage).is_err());
            assert!(require_kind(std::ptr::null(), |_| true).is_err());
        }
    }

    #[test]
    fn names_must_fit_their_kind() {
        let long = format!("stage/{}", "x".repeat(128));
        assert!(find_or_register(11, &long, 0, "").is_err());
        assert!(find_or_register(11, &long[..128], 0, "").is_ok());
        for (kind, name, flags) in [
            (1, "stage/x", 0),
            (0, "stage/x", 0),
            (-1, "stage/x", 0),
            (15, "error/1", 0),
            (17, "stage/x", 0),
            (300, "stage/x", 0),
            (11, "", 0),
            (11, "stage/x", 1 << 20),
        ] {
            assert!(
                find_or_register(kind, name, flags, "").is_err(),
                "{kind} {name}"
            );
        }
    }
}
