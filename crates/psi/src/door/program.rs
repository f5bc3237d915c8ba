//! Stored programs. The server uses a program's record even after it has dropped the program, so records are
//! never freed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

use engine::ObjectType;
use engine::program::{Call, Program};

use super::exchange::{NONE, catch_panic, end, lend};
use crate::interface::Interface;
use crate::interface::text::text;

type StaticProgram = Program<Box<str>>;
type Key = (u8, String, String);

static PROGRAMS: Mutex<Option<HashMap<Key, &'static StaticProgram>>> = Mutex::new(None);

const _: () = assert!(size_of::<Call>() <= 40);

/// A program's type and names; `None` for a type that is not counted.
///
/// # Safety
/// The names are NULL or readable as long as `'a` lasts.
unsafe fn program_names<'a, S: Interface>(
    number: u32,
    (schema, schema_length): (*const c_char, u32),
    (name, name_length): (*const c_char, u32),
) -> Option<(ObjectType, Cow<'a, str>, Cow<'a, str>)> {
    let kind = S::program(number)?;
    // SAFETY: rule 8 (the names are readable).
    let (schema, name) = unsafe {
        (
            text(schema, schema_length as usize),
            text(name, name_length as usize),
        )
    };
    Some((kind, displayed::<S>(schema), displayed::<S>(name)))
}

/// A name as the server's own engine displays it.
fn displayed<S: Interface>(name: Cow<'_, str>) -> Cow<'_, str> {
    match S::PROGRAMS_ARE_CASE_SENSITIVE || !name.contains(char::is_uppercase) {
        true => name,
        false => name.to_lowercase().into(),
    }
}

pub unsafe extern "C" fn get_sp_share<S: Interface>(
    number: u32,
    schema: *const c_char,
    schema_length: u32,
    name: *const c_char,
    name_length: u32,
) -> *mut c_void {
    catch_panic(NONE, || {
        // SAFETY: rule 4 (the names are readable).
        let program_names =
            unsafe { program_names::<S>(number, (schema, schema_length), (name, name_length)) };
        let Some((kind, schema, name)) = program_names else {
            return NONE;
        };
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind as u8, schema.to_string(), name.to_string());
        let program = programs
            .get_or_insert_with(HashMap::new)
            .entry(key)
            .or_insert_with(|| {
                Box::leak(Box::new(Program::new(
                    kind,
                    (*schema).into(),
                    (*name).into(),
                )))
            });
        program.list();
        std::ptr::from_ref(*program).cast_mut().cast()
    })
}

pub unsafe extern "C" fn start_sp(state: *mut c_void, program: *mut c_void) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(program) = (unsafe { program.cast::<StaticProgram>().as_ref() }) else {
        return NONE;
    };
    catch_panic(NONE, || {
        // SAFETY: rule 3 (40 bytes).
        unsafe { lend(state, program.start()) }
    })
}

pub unsafe extern "C" fn end_sp(locker: *mut c_void) {
    if !locker.is_null() {
        // SAFETY: rule 2 (the event ends here).
        let call = unsafe { end::<Call>(locker) };
        catch_panic((), || drop(call));
    }
}

pub unsafe extern "C" fn drop_sp<S: Interface>(
    number: u32,
    schema: *const c_char,
    schema_length: u32,
    name: *const c_char,
    name_length: u32,
) {
    catch_panic((), || {
        // SAFETY: rule 4 (the names are readable).
        let program_names =
            unsafe { program_names::<S>(number, (schema, schema_length), (name, name_length)) };
        let Some((kind, schema, name)) = program_names else {
            return;
        };
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(programs) = programs.as_mut() {
            programs.remove(&(kind as u8, schema.to_string(), name.to_string()));
        }
        Program::new(kind, &*schema, &*name).dropped();
    });
}
