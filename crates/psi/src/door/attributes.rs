//! Connection attributes: what a client reports of itself.

use std::ffi::{c_char, c_int, c_void};

use engine::thread;

use super::exchange::catch_panic;
use crate::interface::Interface;
use crate::interface::charset::decode;

pub unsafe extern "C" fn set_thread_connect_attrs<S: Interface>(
    buffer: *const c_char,
    length: u32,
    charset: *const c_void,
) -> c_int {
    catch_panic(0, || {
        let sent = match buffer.is_null() {
            true => &[],
            // SAFETY: rule 4 (readable for its length).
            false => unsafe { std::slice::from_raw_parts(buffer.cast(), length as usize) },
        };
        let missing = thread::set_sent_attributes(sent, S::TRUNCATION, &|bytes| {
            // SAFETY: rule 8 (a collation of the server).
            unsafe { decode(charset, bytes) }
        });
        // Unless this is 0, the server writes a warning to its log, from 8.0 on with this number.
        missing.try_into().unwrap_or(c_int::MAX)
    })
}
