//! Reports InnoDB's row locks to readers on request, through the interface that the server's own table
//! data_locks uses.
//!
//! | part | source |
//! |---|---|
//! | class of containers, with the order of its methods | the server's exported table of virtual methods |
//! | iterators over locks | InnoDB: exported functions create, advance and destroy them |
//! | container whose methods write into the segment | this module |
//!
//! An iterator needs no session: it takes InnoDB's own latches, a part of the lock system at a time, as for
//! any SELECT from data_locks. The locked row (column LOCK_DATA) is only read if its page is in the buffer
//! pool.
//!
//! **InnoDB's lifetime**: its master thread starts when InnoDB is complete, and InnoDB shuts down only after
//! that thread's session has ended. While locks are read that session cannot end ([`GATE`]). 8.0 waits only
//! for the thread's work, not for its session, so its locks are not read. It is recognised by its lack of the
//! method `cache_identifier`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use engine::row_locks::{self, LockOwner, RowLock, Sheet};

use super::exchange::catch_panic;
use crate::interface::text::{c_text, text};

/// InnoDB's thread that lives as long as its locks.
const MASTER: &str = "thread/innodb/srv_master_thread";

/// Address of the master thread's record, 0 = it does not run. The mutex is held while locks are read.
static GATE: Mutex<usize> = Mutex::new(0);
/// The same address, readable without waiting.
static LIVES: AtomicUsize = AtomicUsize::new(0);

/// Notes that a thread of the server begins.
pub(super) fn note_start(class: &str, thread: usize) {
    if class == MASTER {
        *GATE.lock().unwrap_or_else(PoisonError::into_inner) = thread;
        LIVES.store(thread, Ordering::Release);
    }
}

/// Notes that a thread ends; the master thread waits until no reader needs it.
pub(super) fn note_end(thread: usize) {
    if LIVES.load(Ordering::Acquire) == thread {
        *GATE.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        LIVES.store(0, Ordering::Release);
    }
}

/// Starts to serve readers, if the server supports it. Called by the server's threads.
pub(super) fn serve_readers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if innodb().is_some() {
            row_locks::serve(report_locks);
        }
    });
}

/// InnoDB's functions.
struct Innodb {
    /// The table of an inspector's methods, its only field.
    inspector: *const c_void,
    locks: Iterators,
    waits: Iterators,
}

/// The functions of an iterator, over row locks or over waits.
struct Iterators {
    create: unsafe extern "C" fn(*const *const c_void) -> *mut c_void,
    destroy: unsafe extern "C" fn(*const *const c_void, *mut c_void),
    scan: unsafe extern "C" fn(*mut c_void, *mut Container<'_>, bool) -> bool,
    /// Methods of a container of ours, in the server's order.
    methods: Vec<*const ()>,
}

// SAFETY: addresses of code and constants.
unsafe impl Send for Innodb {}
// SAFETY: as above.
unsafe impl Sync for Innodb {}

/// The address of an exported symbol; NULL = there is none.
fn find_symbol(name: &CStr) -> *const () {
    // SAFETY: a C string; dlsym searches the loaded files, the program first.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
        .cast_const()
        .cast()
}

/// The methods of a container by the exported names of the server's own, which have their types.
type Methods = &'static [(&'static CStr, *const ())];

macro_rules! methods {
    ($methods:ident $($symbol:literal $ours:ident)*) => {
        const $methods: Methods = &[$(($symbol, $ours as *const ())),*];
    };
}

methods! { LOCK_METHODS
    c"_ZN23PFS_data_lock_containerD1Ev" nothing
    c"_ZN23PFS_data_lock_containerD0Ev" nothing
    c"_ZN23PFS_data_lock_container12cache_stringEPKc" cache_string
    c"_ZN23PFS_data_lock_container10cache_dataEPKcm" cache_data
    c"_ZN23PFS_data_lock_container16cache_identifierE14PSI_identifierPKcmPS2_Pm" cache_identifier
    c"_ZN23PFS_data_lock_container13accept_engineEPKcm" accepts
    c"_ZN23PFS_data_lock_container14accept_lock_idEPKcm" accepts
    c"_ZN23PFS_data_lock_container21accept_transaction_idEy" accepts
    c"_ZN23PFS_data_lock_container25accept_thread_id_event_idEyy" accepts
    c"_ZN23PFS_data_lock_container13accept_objectEPKcmS1_mS1_mS1_m" accepts
    c"_ZN23PFS_data_lock_container12add_lock_rowEPKcmS1_myyyS1_mS1_mS1_mS1_mS1_mPKvS1_S1_S1_S1_" add_lock
}

methods! { WAIT_METHODS
    c"_ZN28PFS_data_lock_wait_containerD1Ev" nothing
    c"_ZN28PFS_data_lock_wait_containerD0Ev" nothing
    c"_ZN28PFS_data_lock_wait_container12cache_stringEPKc" cache_string
    c"_ZN28PFS_data_lock_wait_container10cache_dataEPKcm" cache_data
    c"_ZN28PFS_data_lock_wait_container13accept_engineEPKcm" accepts
    c"_ZN28PFS_data_lock_wait_container25accept_requesting_lock_idEPKcm" accepts
    c"_ZN28PFS_data_lock_wait_container23accept_blocking_lock_idEPKcm" accepts
    c"_ZN28PFS_data_lock_wait_container32accept_requesting_transaction_idEy" accepts
    c"_ZN28PFS_data_lock_wait_container30accept_blocking_transaction_idEy" accepts
    c"_ZN28PFS_data_lock_wait_container36accept_requesting_thread_id_event_idEyy" accepts
    c"_ZN28PFS_data_lock_wait_container34accept_blocking_thread_id_event_idEyy" accepts
    c"_ZN28PFS_data_lock_wait_container17add_lock_wait_rowEPKcmS1_myyyPKvS1_myyyS3_" add_wait
}

/// The methods in a class's exported table; `None` if there is no such table.
fn methods_of(table: &CStr) -> Option<&'static [*const ()]> {
    /// dladdr1(3): return the symbol, which has the table's size.
    const SYMBOL_ENTRY: c_int = 1;
    /// The words before the methods: an offset, and the type.
    const BEFORE: usize = 2;
    let at = find_symbol(table);
    let (mut info, mut entry) = (MaybeUninit::<libc::Dl_info>::uninit(), ptr::null_mut());
    // SAFETY: both results are writable; dladdr1 returns 0 for an address that is not loaded.
    let is_loaded =
        unsafe { libc::dladdr1(at.cast(), info.as_mut_ptr(), &raw mut entry, SYMBOL_ENTRY) };
    if at.is_null() || is_loaded == 0 || entry.is_null() {
        return None;
    }
    // SAFETY: dladdr1 has filled both.
    let (info, entry) = unsafe { (info.assume_init(), &*entry.cast::<libc::Elf64_Sym>()) };
    let words = usize::try_from(entry.st_size).ok()? / size_of::<*const ()>();
    if info.dli_saddr.cast_const().cast() != at || words < BEFORE {
        return None;
    }
    // SAFETY: the symbol has so many words, constants of the server, which stays loaded.
    let table = unsafe { std::slice::from_raw_parts(at.cast::<*const ()>(), words) };
    table.get(BEFORE..)
}

/// Our methods in the order of the server's class. `None` if the class lacks a method or has another one:
/// then the interface is another.
fn order_methods(table: &CStr, methods: Methods) -> Option<Vec<*const ()>> {
    let slots = methods_of(table)?;
    let there: Vec<_> = (methods.iter())
        .map(|&(name, ours)| (find_symbol(name), ours))
        .collect();
    if slots.len() != there.len() {
        return None;
    }
    let mut ordered = Vec::new();
    for slot in slots {
        let mut same = there.iter().filter(|(theirs, _)| theirs == slot);
        let ours = same.next().filter(|_| !slot.is_null())?.1;
        if same.next().is_some() {
            return None;
        }
        ordered.push(ours);
    }
    Some(ordered)
}

/// InnoDB's functions, if the server has all of them.
fn innodb() -> Option<&'static Innodb> {
    static INNODB: std::sync::OnceLock<Option<Innodb>> = std::sync::OnceLock::new();
    INNODB.get_or_init(find_innodb).as_ref()
}

fn find_innodb() -> Option<Innodb> {
    let inspector = find_symbol(c"_ZTV26Innodb_data_lock_inspector");
    let functions = [
        c"_ZN26Innodb_data_lock_inspector25create_data_lock_iteratorEv",
        c"_ZN26Innodb_data_lock_inspector26destroy_data_lock_iteratorEP29PSI_engine_data_lock_iterator",
        c"_ZN25Innodb_data_lock_iterator4scanEP30PSI_server_data_lock_containerb",
        c"_ZN26Innodb_data_lock_inspector30create_data_lock_wait_iteratorEv",
        c"_ZN26Innodb_data_lock_inspector31destroy_data_lock_wait_iteratorEP34PSI_engine_data_lock_wait_iterator",
        c"_ZN30Innodb_data_lock_wait_iterator4scanEP35PSI_server_data_lock_wait_container",
    ]
    .map(find_symbol);
    if inspector.is_null() || functions.iter().any(|function| function.is_null()) {
        return None;
    }
    let [create, destroy, scan, create_wait, destroy_wait, scan_wait] = functions;
    let locks = order_methods(c"_ZTV23PFS_data_lock_container", LOCK_METHODS)?;
    let waits = order_methods(c"_ZTV28PFS_data_lock_wait_container", WAIT_METHODS)?;
    let iterators = |create: *const (), destroy: *const (), scan: *const (), methods| {
        // SAFETY: functions of these types, which their names encode. A method's first argument is its object. The
        // scan of waits takes no second argument, and ignores it.
        unsafe {
            Iterators {
                create: std::mem::transmute::<
                    *const (),
                    unsafe extern "C" fn(*const *const c_void) -> *mut c_void,
                >(create),
                destroy: std::mem::transmute::<
                    *const (),
                    unsafe extern "C" fn(*const *const c_void, *mut c_void),
                >(destroy),
                scan: std::mem::transmute::<
                    *const (),
                    unsafe extern "C" fn(*mut c_void, *mut Container<'_>, bool) -> bool,
                >(scan),
                methods,
            }
        }
    };
    Some(Innodb {
        inspector: inspector.cast::<*const c_void>().wrapping_add(2).cast(),
        locks: iterators(create, destroy, scan, locks),
        waits: iterators(create_wait, destroy_wait, scan_wait, waits),
    })
}

/// Writes InnoDB's locks and waits into a reader's sheet.
fn report_locks(sheet: &mut Sheet<'_>) {
    let Some(innodb) = innodb() else { return };
    let gate = GATE.lock().unwrap_or_else(PoisonError::into_inner);
    if *gate != 0 {
        // Waits first, because the locks of waits matter most.
        innodb.scan(&innodb.waits, sheet, |sheet| sheet.accept_more_waits());
        innodb.scan(&innodb.locks, sheet, |sheet| sheet.accept_more_locks());
    }
}

impl Innodb {
    fn scan(
        &self,
        iterators: &Iterators,
        sheet: &mut Sheet<'_>,
        wants_more: impl Fn(&mut Sheet<'_>) -> bool,
    ) {
        let mut container = Container {
            methods: iterators.methods.as_ptr(),
            texts: Vec::new(),
            sheet,
        };
        // SAFETY: InnoDB lives, because the caller holds the gate; its inspector begins with the table of its
        // methods and reads nothing else of itself. The iterator is used by this thread alone and destroyed
        // once.
        unsafe {
            let iterator = (iterators.create)(&raw const self.inspector);
            if iterator.is_null() {
                return;
            }
            while !(iterators.scan)(iterator, &raw mut container, true) {
                container.texts.clear();
                if !wants_more(&mut *container.sheet) {
                    break;
                }
            }
            (iterators.destroy)(&raw const self.inspector, iterator);
        }
    }
}

/// The container that InnoDB adds its locks to: our subclass of the server's class.
#[repr(C)]
struct Container<'a> {
    methods: *const *const (),
    /// Texts that the iterator needs until it has added its rows.
    texts: Vec<CString>,
    sheet: *mut Sheet<'a>,
}

// The methods. **Safety**: InnoDB calls them on the thread that scans, with the container that it got, which
// lives as long as its sheet. Texts are readable for their length, or C strings; NULL = none.

extern "C" fn nothing(_: *mut Container<'_>) {}

extern "C" fn accepts(_: *mut Container<'_>) -> bool {
    true
}

unsafe extern "C" fn cache_string(
    container: *mut Container<'_>,
    string: *const c_char,
) -> *const c_char {
    // SAFETY: see above.
    unsafe { store_text(container, CStr::from_ptr(string).to_bytes()) }
}

unsafe extern "C" fn cache_data(
    container: *mut Container<'_>,
    data: *const c_char,
    length: usize,
) -> *const c_char {
    // SAFETY: see above.
    unsafe { store_text(container, bytes(data, length)) }
}

unsafe extern "C" fn cache_identifier(
    container: *mut Container<'_>,
    _kind: c_int,
    data: *const c_char,
    length: usize,
    stored: *mut *const c_char,
    stored_length: *mut usize,
) {
    // SAFETY: see above; both places are writable.
    unsafe {
        *stored = store_text(container, bytes(data, length));
        *stored_length = length;
    }
}

/// # Safety
/// `at` is NULL or readable for `length` bytes as long as `'a`.
unsafe fn bytes<'a>(at: *const c_char, length: usize) -> &'a [u8] {
    match at.is_null() {
        true => &[],
        // SAFETY: rule 8 (readable for `length` bytes).
        false => unsafe { std::slice::from_raw_parts(at.cast(), length) },
    }
}

/// Stores bytes until the iterator has added its rows.
///
/// # Safety
/// As the methods.
unsafe fn store_text(container: *mut Container<'_>, bytes: &[u8]) -> *const c_char {
    let mut zero = bytes.to_vec();
    zero.push(0);
    // SAFETY: it ends with a zero. Another zero within, which no name has, would only end the text early.
    let text = unsafe { CString::from_vec_with_nul_unchecked(zero) };
    let at = text.as_ptr();
    // SAFETY: see above.
    unsafe { (*container).texts.push(text) };
    at
}

/// A text of the server: its address and its length.
type Text = (*const c_char, usize);

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn add_lock(
    container: *mut Container<'_>,
    engine: *const c_char,
    engine_length: usize,
    id: *const c_char,
    id_length: usize,
    transaction: u64,
    thread: u64,
    event: u64,
    schema: *const c_char,
    schema_length: usize,
    table: *const c_char,
    table_length: usize,
    partition: *const c_char,
    partition_length: usize,
    subpartition: *const c_char,
    subpartition_length: usize,
    index: *const c_char,
    index_length: usize,
    identity: *const c_void,
    mode: *const c_char,
    kind: *const c_char,
    status: *const c_char,
    data: *const c_char,
) {
    let object: [Text; 5] = [
        (schema, schema_length),
        (table, table_length),
        (partition, partition_length),
        (subpartition, subpartition_length),
        (index, index_length),
    ];
    catch_panic((), || {
        // SAFETY: see above.
        unsafe {
            let object = object.map(|(at, length)| text(at, length));
            let lock = [mode, kind, status].map(|at| c_text(at));
            (*(*container).sheet).lock(&RowLock {
                engine: &text(engine, engine_length),
                owner: LockOwner {
                    id: &text(id, id_length),
                    transaction,
                    thread,
                    event,
                    address: identity.addr() as u64,
                },
                object: object.each_ref().map(|text| &**text),
                lock: lock.each_ref().map(|text| &**text),
                data: &c_text(data),
            });
        }
    });
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn add_wait(
    container: *mut Container<'_>,
    engine: *const c_char,
    engine_length: usize,
    id: *const c_char,
    id_length: usize,
    transaction: u64,
    thread: u64,
    event: u64,
    identity: *const c_void,
    blocking_id: *const c_char,
    blocking_id_length: usize,
    blocking_transaction: u64,
    blocking_thread: u64,
    blocking_event: u64,
    blocking_identity: *const c_void,
) {
    catch_panic((), || {
        // SAFETY: see above.
        unsafe {
            let (id, blocking) = (text(id, id_length), text(blocking_id, blocking_id_length));
            let requesting = LockOwner {
                id: &id,
                transaction,
                thread,
                event,
                address: identity.addr() as u64,
            };
            let blocking = LockOwner {
                id: &blocking,
                transaction: blocking_transaction,
                thread: blocking_thread,
                event: blocking_event,
                address: blocking_identity.addr() as u64,
            };
            (*(*container).sheet).wait(&text(engine, engine_length), &requesting, &blocking);
        }
    });
}
