//! Threads, which decide whom events are counted for.
//!
//! A `PSI_thread` is a session of the engine. The server creates one for each connection and each of its own
//! threads, attaches it to a thread of the system, and deletes it. A thread of the system without one records
//! only memory.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use engine::thread::{self, ConnectionType, ThreadSession};
use engine::wait::Wait;
use engine::{Command, Kind};

use super::exchange::{NONE, catch_panic};
use super::keys::{self, Instrument};
use super::lock;
use super::lock_cache::LockCache;
use super::row_locks;
use crate::interface::text::text;

/// A name as the system stores it: 15 characters and a zero.
pub type SystemName = [u8; 16];

/// What the server stores for a thread.
#[derive(Debug)]
pub struct Thread {
    pub(super) session: ThreadSession,
    instrument: &'static Instrument,
    /// Its name for the system, in servers that give one.
    pub(super) name: Cell<SystemName>,
    /// The THD that its memory is charged to, in servers that limit memory.
    pub(super) charged_thd: Cell<*mut c_void>,
    /// The idle time that runs, because the server's state is too small for it.
    pub(super) idle: UnsafeCell<Option<Wait>>,
    /// Metadata locks that the server has destroyed.
    pub(super) metadata: UnsafeCell<LockCache>,
    /// Whether it has a number in the list of processes.
    serves_client: Cell<bool>,
    /// Whether the server has set PROCESSLIST_INFO itself.
    has_info: Cell<bool>,
    /// The default schema that the server set last.
    schema: UnsafeCell<Schema>,
}

/// MySQL's limit of a schema's name: 64 characters of three bytes.
const MAX_SCHEMA_BYTES: usize = 64 * 3;

#[derive(Debug)]
struct Schema {
    length: usize,
    name: [u8; MAX_SCHEMA_BYTES],
}

impl Schema {
    fn set(&mut self, name: &[u8]) {
        // No name of the server's is longer.
        let fits = name.len() <= MAX_SCHEMA_BYTES;
        self.length = if fits { name.len() } else { 0 };
        self.name[..self.length].copy_from_slice(&name[..self.length]);
    }

    fn is(&self, name: &[u8]) -> bool {
        self.name[..self.length] == *name
    }
}

/// Threads of clients. Their events before the login ends count for the account that logs in, as in the
/// server's own engine.
const CONNECTION: &str = "thread/sql/one_connection";

thread_local! {
    /// Its destructor ends the session of a thread of the system that ends.
    static ENDING: Ending = const { Ending };
}

struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        // SAFETY: no argument; it ends this thread's session, if it has one.
        catch_panic((), || unsafe { delete_current_thread() });
    }
}

/// The calling thread's session.
#[inline(always)]
pub(super) fn current<'a>() -> Option<&'a Thread> {
    // SAFETY: null, or created by `new_record`, and not deleted while a thread has it.
    unsafe { current_place().as_ref() }
}

/// The calling thread's session, null = none.
#[inline(always)]
fn current_place() -> *mut Thread {
    thread::of_host().cast()
}

fn new_record(instrument: &'static Instrument, parent: u64) -> *mut Thread {
    let thread = Box::into_raw(Box::new(Thread {
        session: ThreadSession::with_parent(instrument.class, parent),
        instrument,
        name: Cell::new(SystemName::default()),
        charged_thd: Cell::new(ptr::null_mut()),
        idle: UnsafeCell::new(None),
        metadata: UnsafeCell::new(LockCache::new()),
        serves_client: Cell::new(false),
        has_info: Cell::new(false),
        schema: UnsafeCell::new(Schema {
            length: 0,
            name: [0; MAX_SCHEMA_BYTES],
        }),
    }));
    if instrument.class.name() == CONNECTION {
        // SAFETY: just created.
        unsafe { &*thread }.session.await_account();
    }
    row_locks::note_start(instrument.class.name(), thread.addr());
    thread
}

impl Drop for Thread {
    fn drop(&mut self) {
        row_locks::note_end(ptr::from_mut(self).addr());
    }
}

/// Attaches the record at `place` to the calling thread, or detaches its record if `place` is null.
///
/// # Safety
/// `place` is null or created by `new_record`, and no other thread's.
unsafe fn attach(place: *mut Thread) {
    // A thread that is ending could not end the session any more.
    if ENDING.try_with(|_| {}).is_err() && !place.is_null() {
        return;
    }
    thread::set_of_host(place.cast());
    // SAFETY: rule 8 (null, or from `new_record`).
    match unsafe { place.as_ref() } {
        Some(record) => {
            // In a pool another thread may have had it before.
            record.session.set_os_id(thread::os_id());
            // SAFETY: `attach` of another or `delete_*` leaves it before it is freed.
            unsafe { record.session.stay() }
        }
        None => thread::leave_session(),
    }
}

/// Sets the calling thread's name.
pub(super) fn set_system_name(name: &SystemName) {
    // The first thread keeps the program's name, by which users find it.
    // SAFETY: both calls only return numbers.
    let is_first = unsafe { libc::gettid() == libc::getpid() };
    if name[0] != 0 && !is_first {
        // SAFETY: a name of at most 15 characters and a zero. If the call fails, only the name is lost.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr().cast()) };
    }
}

struct Start {
    instrument: Option<&'static Instrument>,
    name: SystemName,
    parent: u64,
    routine: Routine,
    argument: *mut c_void,
}

/// The function that a thread runs.
pub type Routine = extern "C" fn(*mut c_void) -> *mut c_void;

extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: leaked by `spawn_thread` for this thread alone.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    let (routine, argument) = (start.routine, start.argument);
    catch_panic((), || {
        // A server that has threads does not fork into the background any more.
        engine::follow_forks(false);
        engine::settings::watch();
        row_locks::serve_readers();
        if let Some(instrument) = start.instrument {
            let session = new_record(instrument, start.parent);
            // SAFETY: just created.
            unsafe {
                (*session).session.set_os_id(thread::os_id());
                (*session).name.set(start.name);
                attach(session);
            }
            set_system_name(&start.name);
        }
    });
    drop(start);
    routine(argument)
}

pub unsafe extern "C" fn spawn_thread(
    key: u32,
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let name = SystemName::default();
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { spawn_named(key, name, handle, attributes, routine, argument) }
}

/// As [`spawn_thread`], with a name for the system, which may be empty.
pub(super) unsafe fn spawn_named(
    key: u32,
    name: SystemName,
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let start = Box::into_raw(Box::new(Start {
        instrument: catch_panic(None, || keys::of_kind(key, Kind::Thread)),
        name,
        parent: current().map_or(0, |thread| thread.session.id()),
        routine,
        argument,
    }));
    // SAFETY: rule 8 (handle and attributes are as pthread_create takes them).
    let failed = unsafe { libc::pthread_create(handle, attributes, begin, start.cast()) };
    if failed != 0 {
        // SAFETY: no thread was created that could use it.
        drop(unsafe { Box::from_raw(start) });
    }
    failed
}

pub unsafe extern "C" fn new_thread(
    key: u32,
    _identity: *const c_void,
    processlist_id: u64,
) -> *mut c_void {
    catch_panic(NONE, || {
        let Some(instrument) = keys::of_kind(key, Kind::Thread) else {
            return NONE;
        };
        let parent = current().map_or(0, |thread| thread.session.id());
        let thread = new_record(instrument, parent);
        // SAFETY: just created.
        let Thread {
            session,
            serves_client,
            ..
        } = unsafe { &*thread };
        serves_client.set(processlist_id != 0);
        if processlist_id != 0 {
            lock::note_client();
        }
        session.set_processlist_id(processlist_id);
        session.set_os_id(thread::os_id());
        thread.cast()
    })
}

pub unsafe extern "C" fn set_thread_id(thread: *mut c_void, id: u64) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(thread) = unsafe { thread.cast::<Thread>().as_ref() } {
        thread.serves_client.set(id != 0);
        if id != 0 {
            lock::note_client();
        }
        thread.session.set_processlist_id(id);
    }
}

pub unsafe extern "C" fn set_thread_os_id(thread: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(thread) = unsafe { thread.cast::<Thread>().as_ref() } {
        thread.session.set_os_id(thread::os_id());
    }
}

pub unsafe extern "C" fn get_thread() -> *mut c_void {
    current_place().cast()
}

/// The name of the calling thread's instrument; NULL if it has none.
pub unsafe extern "C" fn get_thread_class_name() -> *const c_char {
    current().map_or(ptr::null(), |thread| {
        thread.instrument.class.name().as_ptr().cast()
    })
}

pub unsafe extern "C" fn get_thread_event_id(thread: *mut u64, event: *mut u64) {
    let (thread_id, event_id) = engine::thread::event();
    // SAFETY: rule 6 (NULL, or writable).
    unsafe {
        if let Some(thread) = thread.as_mut() {
            *thread = thread_id;
        }
        if let Some(event) = event.as_mut() {
            *event = event_id;
        }
    }
}

pub unsafe extern "C" fn set_thread(thread: *mut c_void) {
    // InnoDB's purge threads report that they are not instrumented after they reported that they are.
    let stays = thread.is_null() && current().is_some_and(|thread| !thread.serves_client.get());
    if !stays {
        // SAFETY: rule 1 (the thread is not destroyed, and no other thread of the system has it).
        catch_panic((), || unsafe { attach(thread.cast()) });
    }
}

/// `set_thread` of servers that detach a session while they delete another: NULL always detaches.
pub unsafe extern "C" fn switch_thread(thread: *mut c_void) {
    // SAFETY: rule 1 (the thread is not destroyed, and no other thread of the system has it).
    catch_panic((), || unsafe { attach(thread.cast()) });
}

pub unsafe extern "C" fn delete_current_thread() {
    catch_panic((), || {
        let thread = current_place();
        if !thread.is_null() {
            // SAFETY: this thread's record, which it leaves first.
            unsafe {
                attach(ptr::null_mut());
                drop(Box::from_raw(thread));
            }
        }
    });
}

pub unsafe extern "C" fn delete_thread(thread: *mut c_void) {
    catch_panic((), || {
        let thread = thread.cast::<Thread>();
        if thread.is_null() {
            return;
        }
        // SAFETY: rule 1 (no thread has it but perhaps this one, which leaves it).
        unsafe {
            if thread == current_place() {
                attach(ptr::null_mut());
            }
            drop(Box::from_raw(thread));
        }
    });
}

pub unsafe extern "C" fn set_thread_user(user: *const c_char, length: c_int) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { set_thread_account(user, length, ptr::null(), 0) };
}

pub unsafe extern "C" fn set_thread_account(
    user: *const c_char,
    user_length: c_int,
    host: *const c_char,
    host_length: c_int,
) {
    catch_panic((), || {
        // SAFETY: rule 4 (readable for its length).
        let (user, host) = unsafe {
            (
                text(user, user_length.max(0) as usize),
                text(host, host_length.max(0) as usize),
            )
        };
        thread::set_account(&user, &host);
    });
}

pub unsafe extern "C" fn set_thread_db(name: *const c_char, length: c_int) {
    catch_panic((), || {
        let Some(thread) = current() else { return };
        // SAFETY: rule 4 (readable for its length).
        let name = unsafe { text(name, length.max(0) as usize) };
        // SAFETY: only this thread uses it, and nothing below re-enters this module.
        let schema = unsafe { &mut *thread.schema.get() };
        schema.set(name.as_bytes());
        thread::set_db(&name);
    });
}

/// Whether a schema is the thread's default schema.
pub(super) fn is_default_schema(name: &[u8]) -> bool {
    // SAFETY: as in `set_thread_db`.
    current().is_some_and(|thread| unsafe { &*thread.schema.get() }.is(name))
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_thread_command(command: c_int) {
    // MySQL's numbers are Tare's; others are displayed as the closest one.
    thread::set_command(Command::from_number(command).unwrap_or(Command::Daemon));
}

pub unsafe extern "C" fn set_connection_type(kind: c_int) {
    // The server's: 1 TCP, 2 socket, 3 named pipe, 4 TLS, 5 shared memory.
    thread::set_connection_type(match kind {
        1 => ConnectionType::TcpIp,
        2 => ConnectionType::Socket,
        4 => ConnectionType::Tls,
        _ => ConnectionType::Background,
    });
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_thread_info(info: *const c_char, length: u32) {
    let Some(thread) = current() else { return };
    // The text of a running statement is displayed from its record.
    let is_given = !info.is_null() && length != 0 && !engine::statement::is_open();
    if is_given || thread.has_info.get() {
        catch_panic((), || {
            let info = match is_given {
                // SAFETY: rule 4 (readable for its length).
                true => unsafe { text(info, length as usize) },
                false => "".into(),
            };
            thread.has_info.set(is_given);
            thread::set_info(&info);
        });
    }
}
