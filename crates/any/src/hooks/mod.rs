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
//! | paths | none: finds the paths of files |
//! | unseen | none: finds what was opened while nothing was recorded |

mod io;
pub mod locks;
mod open;
mod paths;
mod polls;
mod sockets;
mod threads;
pub mod tls;
mod unseen;
#[cfg(target_arch = "x86_64")]
mod vfork;

use std::ffi::c_int;
use std::mem::ManuallyDrop;

use engine::active::{self, Waiting, target};
use engine::settings::Active;
use engine::wait::Wait;
use engine::{host_lock, periods};

use crate::backend;
use crate::calls::{is_observing, observe};
use crate::client::{self, Client, Stream};
use crate::descriptors::{self, Access, Descriptor, Object, State};
use crate::{turn, upstream};

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
struct Running(c_int, Begun);

/// What is known of it.
enum Begun {
    /// It is not recorded.
    Nothing,
    /// Of a file, at the level `active`: the word of the outer wait.
    Moment(u64),
    /// The entry of its descriptor, what it does, and its wait, if that is recorded.
    Recorded(&'static Descriptor, Access, Option<ManuallyDrop<Wait>>),
}

impl Running {
    /// Begins an operation on a descriptor, if what is open there is recorded or read.
    #[inline(always)]
    fn begin(descriptor: c_int, access: Access) -> Self {
        let state = descriptors::state(descriptor);
        let active = periods::active_kinds();
        let begun = match state.is_idle(active) {
            true => {
                if state.has(State::CLIENT) && access.moves_bytes() {
                    descriptors::mark_missed(descriptor, state);
                } else if !active.is_none()
                    && turn::has_stages()
                    && state.has(State::FILE)
                    && access == Access::Out
                {
                    observe(turn::end_execution);
                }
                Begun::Nothing
            }
            false if active == Active::MOMENTS && state.has(State::FILE) => {
                if turn::has_stages() && access == Access::Out {
                    observe(turn::end_execution);
                }
                begin_moment(descriptor, access)
            }
            false => Self::begin_slow(descriptor, state, access).unwrap_or(Begun::Nothing),
        };
        Self(descriptor, begun)
    }

    #[inline(never)]
    fn begin_slow(descriptor: c_int, state: State, access: Access) -> Option<Begun> {
        observe(|| {
            let active = periods::follow();
            if state.is_idle(active) {
                if access.moves_bytes() {
                    descriptors::mark_missed(descriptor, state);
                }
                return None;
            }
            client::settle();
            if state.has(State::UNSEEN) {
                unseen::resolve(descriptor, state);
            }
            let entry = descriptors::get(descriptor)?;
            let mut object = entry.lock();
            let object = object.as_mut()?;
            if active.is_none() && object.client()?.may_miss() {
                if access.moves_bytes() {
                    descriptors::mark_missed(descriptor, state);
                }
                return None;
            }
            if state.has(State::MISSED) {
                descriptors::unmark_missed(descriptor, descriptors::state(descriptor));
                object.client()?.miss();
            }
            let wait = object.wait(access, active);
            let is_read = match object {
                Object::Socket(_, client) => client.is_some(),
                Object::Upstream(..) => turn::has_stages(),
                Object::File(_) => false,
            };
            let wait = wait.map(ManuallyDrop::new);
            (is_read || wait.is_some()).then_some(Begun::Recorded(entry, access, wait))
        })?
    }

    /// Ends it. `bytes`: how many were moved, if it moves bytes. `moved` is called with the stream of the
    /// client whose connection it is.
    #[inline(always)]
    fn end(self, bytes: Option<u64>, moved: impl FnOnce(&mut Stream)) {
        let Self(descriptor, begun) = self;
        let (entry, access, wait) = match begun {
            Begun::Nothing => return,
            Begun::Moment(outer) => return active::end_wait(outer),
            Begun::Recorded(entry, access, wait) => (entry, access, wait),
        };
        observe(|| {
            let mut wait = wait.map(ManuallyDrop::into_inner);
            if let (Some(wait), Some(bytes)) = (&mut wait, bytes) {
                wait.bytes(bytes);
            }
            let mut object = entry.lock();
            let Some(client) = object.as_mut().and_then(|object| object.client()) else {
                if let Some(object) = object.as_mut().filter(|_| access == Access::In)
                    && bytes.is_some_and(|bytes| bytes != 0)
                {
                    object.receive_upstream();
                }
                return drop(wait);
            };
            client.detect_encryption(descriptor);
            if bytes.is_none() || client.is_encrypted() {
                return client.in_session(|_| drop(wait));
            }
            client.read(wait, moved);
            after_read(entry, client);
        });
    }
}

/// Begins an operation on a file at the level `active`, where nothing but the thread's line is written. Readers find
/// the file's name by its descriptor.
#[inline(always)]
fn begin_moment(descriptor: c_int, access: Access) -> Begun {
    if !is_observing() {
        return Begun::Nothing;
    }
    let class = match (descriptors::file_class(descriptor), backend::has_events()) {
        (class @ 1.., false) => class,
        (class, _) => find_class(descriptor, class),
    };
    if class == 0 {
        return Begun::Nothing;
    }
    let operation = access.of_file() as u8;
    let word = Waiting::numbered(class, operation, target::descriptor(descriptor));
    active::begin_wait(word).map_or(Begun::Nothing, Begun::Moment)
}

/// The number of the class of an operation on a file, which is the server's own if it names its waits. `class`: that of
/// the file, 0 = it is not known yet.
#[inline(never)]
fn find_class(descriptor: c_int, class: u16) -> u16 {
    let find = || {
        let class = match class {
            0 => unseen::find_class(descriptor),
            1.. => class,
        };
        backend::file_event().map_or(class, host_lock::class_number)
    };
    observe(find).unwrap_or(class)
}

/// What a client's connection has moved was read.
fn after_read(entry: &'static Descriptor, client: &Client) {
    // The program may pass the client's request on to another server.
    if turn::has_stages() {
        match client.key() {
            0 => {}
            key => upstream::handle(entry, key),
        }
    }
    if client.is_quiet() {
        polls::end_quiet_later(entry);
    }
}

/// The number of bytes that a call moved; `None` = it failed.
fn moved_bytes(result: isize) -> Option<u64> {
    u64::try_from(result).ok()
}
