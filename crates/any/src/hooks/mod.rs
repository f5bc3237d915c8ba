//! The functions that the program calls in place of the C library's.
//!
//! | file | functions |
//! |---|---|
//! | io | those that read, write and change what is open |
//! | open | those that open, close, delete and rename files |
//! | sockets | those that make connections |
//! | polls | those that wait for something to do |
//! | threads | those that start and name threads |
//! | vfork | those that start a process in the memory of its parent |
//! | locks | those for locks, which the program itself calls |
//! | tls | those of the TLS library, which the program itself calls |

mod io;
pub mod locks;
mod open;
mod polls;
mod sockets;
mod threads;
pub mod tls;
#[cfg(target_arch = "x86_64")]
mod vfork;

use std::ffi::c_int;
use std::mem::ManuallyDrop;

use engine::wait::Wait;

use crate::calls::observe;
use crate::client::{self, Client};
use crate::descriptors::{self, Access, Descriptor};

/// Declares functions of the C library, those of one type together. `|call|` calls the C library's own, with
/// the same arguments.
macro_rules! hooks {
    ($(fn $($name:ident),+ ($($arguments:tt)*) -> $result:tt $body:tt)*) => {
        $($crate::hooks::hook! { [$($name)+] (($($arguments)*) -> $result $body) })*
    };
}
pub(crate) use hooks;

/// See [`hooks!`].
macro_rules! hook {
    ([$($name:ident)+] $function:tt) => {
        $($crate::hooks::hook! { $name $function })+
    };
    ($name:ident (($($argument:ident: $type:ty),*) -> $result:tt $body:tt)) => {
        $crate::hooks::hook! { $name ($($argument: $type),*) as ($($type),*) -> $result $body }
    };
    // The C library's function is variadic, and reads the last parameter only if the others say so.
    ($name:ident (($($argument:ident: $type:ty),*; $last:ident: $last_type:ty) -> $result:tt $body:tt)) => {
        $crate::hooks::hook! {
            $name ($($argument: $type,)* $last: $last_type) as ($($type,)* ...) -> $result $body
        }
    };
    (
        $name:ident ($($argument:ident: $type:ty),*) as ($($real:tt)*) -> $result:tt
        { |$call:ident| $body:expr }
    ) => {
        #[unsafe(no_mangle)]
        #[allow(missing_docs, reason = "the C library's")]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            let real = $crate::real::real!($name: unsafe extern "C-unwind" fn($($real)*) -> $result);
            let $call = || {
                // SAFETY: rule 2 (the arguments are passed on).
                $crate::calls::call(|| unsafe { real($($argument),*) })
            };
            $body
        }
    };
}
pub(crate) use hook;

/// An operation that runs on a descriptor. It has no destructor: rule 5.
struct Running(c_int, Option<(&'static Descriptor, ManuallyDrop<Wait>)>);

impl Running {
    /// Begins an operation on a descriptor, if what is open there is recorded.
    #[inline]
    fn begin(descriptor: c_int, access: Access) -> Self {
        let begun = descriptors::get(descriptor).and_then(|entry| {
            observe(|| {
                client::settle();
                let wait = entry.lock().as_mut()?.wait(access);
                Some((entry, ManuallyDrop::new(wait)))
            })?
        });
        Self(descriptor, begun)
    }

    /// Ends it. `bytes`: how many were moved, if it moves bytes. `moved` is called with the client whose
    /// connection it is.
    #[inline]
    fn end(self, bytes: Option<u64>, moved: impl FnOnce(&mut Client)) {
        let Self(descriptor, Some((entry, wait))) = self else {
            return;
        };
        observe(|| {
            let mut wait = ManuallyDrop::into_inner(wait);
            if let Some(bytes) = bytes {
                wait.bytes(bytes);
            }
            let mut object = entry.lock();
            let client = object.as_mut().and_then(|object| object.client());
            match client {
                None => drop(wait),
                Some(client) => {
                    client.in_session(|_| drop(wait));
                    client.detect_encryption(descriptor);
                    if bytes.is_some() && !client.is_encrypted() {
                        moved(client);
                        if client.is_quiet() {
                            polls::end_quiet_later(entry);
                        }
                    }
                }
            }
        });
    }
}

/// The number of bytes that a call moved; `None` = it failed.
fn moved_bytes(result: isize) -> Option<u64> {
    u64::try_from(result).ok()
}
