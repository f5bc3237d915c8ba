//! Opening, closing, deleting and renaming files.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;

use engine::active::{self, Waiting};
use engine::settings::Active;
use engine::wait::{self, Wait};
use engine::{Class, Kind, Operation, file, host_lock, periods};
use libc::{DIR, mode_t, msghdr};

use super::hooks;
use super::io::without_buffer;
use super::paths::{is_plain, path_of, plain_path, resolve};
use crate::calls::observe;
use crate::descriptors::{self, Access, FILES, Object, State};
use crate::names::classes;
use crate::real::real;

/// A stream of the C library, or NULL.
type Stream = *mut libc::FILE;

/// Runs a call that opens the file of this path, and returns its descriptor.
#[inline(always)]
fn open_file(path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    open_file_at(libc::AT_FDCWD, path, 0, call)
}

/// The same, of a path in a directory, with flags.
#[inline(always)]
fn open_file_at(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let active = periods::active_kinds();
    if !active.meets(FILES) {
        return open_unrecorded(call);
    }
    // The path of a file without a name is its directory's.
    let has_name = flags & libc::O_TMPFILE != libc::O_TMPFILE;
    if active == Active::MOMENTS {
        return open_moment(path, has_name, call);
    }
    let begun = begin(path);
    let descriptor = call();
    record_as(descriptor, begun, || {
        let path = (has_name && !path.is_null()).then_some(path)?;
        // SAFETY: rule 2 (a C string), into which the call may have written the name.
        plain_path(directory, unsafe { CStr::from_ptr(path) })
    });
    descriptor
}

/// The same, while nothing of files is recorded.
#[inline(always)]
fn open_unrecorded(call: impl FnOnce() -> c_int) -> c_int {
    let descriptor = call();
    open_unseen(descriptor, State::UNSEEN_FILE);
    descriptor
}

/// The program has opened this while nothing of its kind was recorded.
#[inline(always)]
pub(super) fn open_unseen(descriptor: c_int, state: State) {
    // The program has closed what was there before by a call that is not observed.
    if descriptors::state(descriptor).has_entry() {
        forget(descriptor);
    }
    descriptors::open_unseen(descriptor, state);
}

/// The same at the level `active`, where a file has only a class. `has_name`: the path is the file's.
#[inline(always)]
fn open_moment(path: *const c_char, has_name: bool, call: impl FnOnce() -> c_int) -> c_int {
    let file = match path.is_null() {
        true => None,
        // SAFETY: rule 2 (a C string).
        false => observe(|| moment_class(unsafe { CStr::from_ptr(path) })),
    };
    let (class, is_full) = file.unwrap_or((0, false));
    let word = Waiting::numbered(class, Operation::Open as u8, 0);
    let outer = file.and_then(|_| active::begin_wait(word));
    let descriptor = call();
    if let Some(outer) = outer {
        active::end_wait(outer);
    }
    open_unseen(descriptor, State::UNSEEN_FILE);
    // Of another path the directory is not known.
    if is_full && has_name {
        descriptors::set_file_class(descriptor, class);
    }
    descriptor
}

/// The number of the class of the file of a path, and whether the path is a full one that leads to no other file.
fn moment_class(path: &CStr) -> (u16, bool) {
    let class = classes().map_or(0, |classes| host_lock::class_number(classes.file_at(path)));
    let bytes = path.to_bytes();
    (class, bytes.first() == Some(&b'/') && is_plain(bytes))
}

/// An operation on a file that is not open yet.
type Opening = Option<(&'static Class, ManuallyDrop<Wait>)>;

/// Begins to open a file. Its class depends only on its name.
fn begin(path: *const c_char) -> Opening {
    if path.is_null() {
        return None;
    }
    observe(|| {
        // SAFETY: rule 2 (a C string).
        let class = classes()?.file_at(unsafe { CStr::from_ptr(path) });
        Some((
            class,
            ManuallyDrop::new(wait::start(class, Operation::Open)),
        ))
    })?
}

/// Records the file that a descriptor has open, and ends the wait in which it was opened.
fn record(descriptor: c_int, begun: Opening) {
    record_as(descriptor, begun, || None);
}

/// The same, of a file whose path may be known.
fn record_as<'p>(descriptor: c_int, begun: Opening, path: impl FnOnce() -> Option<Cow<'p, str>>) {
    observe(|| {
        let mut wait = begun.map(|(class, wait)| (class, ManuallyDrop::into_inner(wait)));
        if descriptor < 0 {
            return;
        }
        let path = path().or_else(|| {
            let path = path_of(descriptor)?;
            Some(Cow::Owned(path.to_string_lossy().into_owned()))
        });
        let before = match (path, classes()) {
            (Some(path), Some(classes)) => {
                let class = match (&path, &wait) {
                    // The class is that of the same path.
                    (Cow::Borrowed(_), Some((class, _))) => class,
                    _ => classes.file(&path),
                };
                let instance = file::Instance::open(class, &path);
                if let Some((begun_as, wait)) = &mut wait
                    && std::ptr::eq(*begun_as, class)
                {
                    wait.about_file(&instance);
                }
                descriptors::put(descriptor, Object::File(instance))
            }
            _ => descriptors::take(descriptor),
        };
        drop((wait, before));
    });
}

/// Runs a call that opens a file a second time, and returns its new descriptor.
#[inline(always)]
fn duplicate(call: impl FnOnce() -> c_int) -> c_int {
    if !periods::active_kinds().meets(Active::of(Kind::File)) {
        return open_unrecorded(call);
    }
    let descriptor = call();
    record(descriptor, None);
    descriptor
}

/// The same, if the descriptor may have had another meaning.
#[inline(always)]
fn replace(call: impl FnOnce() -> c_int) -> c_int {
    let descriptor = duplicate(call);
    descriptors::replace(descriptor);
    descriptor
}

/// Records the files whose descriptors have come with a message.
///
/// # Safety
/// A call has filled the message.
#[inline(always)]
pub(super) unsafe fn record_received(message: *const msghdr) {
    // SAFETY: the caller's promise.
    if unsafe { (*message).msg_controllen } != 0 {
        // SAFETY: as above.
        unsafe { record_descriptors(message) };
    }
}

/// The same, of a message with control data.
///
/// # Safety
/// As [`record_received`].
#[cold]
#[inline(never)]
unsafe fn record_descriptors(message: *const msghdr) {
    // SAFETY: control data that the kernel has written: each header has the length of its data.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = header.as_ref() {
            if (control.cmsg_level, control.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let bytes = control.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
                let descriptors = libc::CMSG_DATA(header).cast::<c_int>();
                for at in 0..bytes / size_of::<c_int>() {
                    duplicate(|| descriptors.add(at).read_unaligned());
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}

/// Runs a call that returns a descriptor of something that is not recorded.
#[inline(always)]
pub(super) fn open_other(call: impl FnOnce() -> c_int) -> c_int {
    let descriptor = call();
    forget(descriptor);
    descriptor
}

/// Forgets what is recorded under a descriptor.
pub(super) fn forget(descriptor: c_int) {
    match descriptors::state(descriptor) {
        State::NONE => {}
        state if state.has_entry() => _ = observe(|| drop(descriptors::take(descriptor))),
        _ => descriptors::open_unseen(descriptor, State::NONE),
    }
}

/// Runs a call that closes a descriptor.
#[inline(always)]
fn close_with<T>(descriptor: c_int, call: impl FnOnce() -> T) -> T {
    // Before the call: another thread may get the number as soon as it is free.
    let state = descriptors::state(descriptor);
    let active = periods::active_kinds();
    if active.is_none() || !state.has_entry() {
        forget(descriptor);
        return call();
    }
    let closed = observe(|| {
        let mut object = descriptors::take(descriptor)?;
        let wait = object.wait(Access::Other(Operation::Close), active);
        Some(ManuallyDrop::new((object, wait)))
    });
    let result = call();
    if let Some(Some(closed)) = closed {
        observe(|| {
            let (mut object, wait) = ManuallyDrop::into_inner(closed);
            match object.client() {
                Some(client) => client.in_session(|_| drop(wait)),
                None => drop(wait),
            }
        });
    }
    result
}

/// Runs a call that deletes a file.
fn delete(directory: c_int, path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    if periods::active_kinds().is_none() {
        return call();
    }
    let begun = observe(|| {
        // SAFETY: rule 2 (a C string).
        let path = unsafe { resolve(directory, path)? };
        let class = classes()?.file(&path);
        let wait = wait::start(class, Operation::Delete);
        Some(ManuallyDrop::new((class, path, wait)))
    });
    let result = call();
    if let Some(Some(begun)) = begun {
        observe(|| {
            let (class, path, wait) = ManuallyDrop::into_inner(begun);
            drop(wait);
            if result == 0 {
                file::Instance::deleted(class, &path);
            }
        });
    }
    result
}

/// Runs a call that renames a file.
fn rename_with(
    from: (c_int, *const c_char),
    to: (c_int, *const c_char),
    call: impl FnOnce() -> c_int,
) -> c_int {
    type Begun = (&'static Class, &'static Class, String, String, Wait);
    if periods::active_kinds().is_none() {
        return call();
    }
    let begun = observe(|| -> Option<ManuallyDrop<Begun>> {
        // SAFETY: rule 2 (C strings).
        let (from, to) = unsafe { (resolve(from.0, from.1)?, resolve(to.0, to.1)?) };
        let classes = classes()?;
        let (class, other) = (classes.file(&from), classes.file(&to));
        let wait = wait::start(class, Operation::Rename);
        Some(ManuallyDrop::new((class, other, from, to, wait)))
    });
    let result = call();
    if let Some(Some(begun)) = begun {
        observe(|| {
            let (class, other, from, to, wait) = ManuallyDrop::into_inner(begun);
            drop(wait);
            match result {
                0 if std::ptr::eq(class, other) => file::Instance::renamed(class, &from, &to),
                0 => file::Instance::deleted(class, &from),
                _ => {}
            }
        });
    }
    result
}

/// Runs a call that opens a stream.
#[inline(always)]
fn open_stream(path: *const c_char, call: impl FnOnce() -> Stream) -> Stream {
    let active = periods::active_kinds();
    if !active.meets(FILES) {
        let stream = call();
        open_unseen(descriptor_of(stream), State::UNSEEN_FILE);
        return stream;
    }
    if active == Active::MOMENTS {
        let mut stream = std::ptr::null_mut();
        open_moment(path, true, || {
            stream = call();
            descriptor_of(stream)
        });
        return stream;
    }
    let begun = begin(path);
    let stream = call();
    record(descriptor_of(stream), begun);
    stream
}

/// The descriptor of a stream that is open or NULL; -1 = it has none.
fn descriptor_of(stream: Stream) -> c_int {
    // SAFETY: rule 2 (an open stream).
    let descriptor = || unsafe { libc::fileno(stream) };
    match stream.is_null() {
        true => -1,
        // For a stream without one it sets errno, which is the caller's.
        false => observe(descriptor).unwrap_or(-1),
    }
}

hooks! {
    fn open, open64(path: *const c_char, flags: c_int; mode: mode_t) -> c_int {
        |call| open_file_at(libc::AT_FDCWD, path, flags, call)
    }
    fn openat, openat64(directory: c_int, path: *const c_char, flags: c_int; mode: mode_t) -> c_int {
        |call| open_file_at(directory, path, flags, call)
    }
    fn __open_2, __open64_2(path: *const c_char, flags: c_int) -> c_int {
        |call| open_file_at(libc::AT_FDCWD, path, flags, call)
    }
    fn __openat_2, __openat64_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        |call| open_file_at(directory, path, flags, call)
    }
    fn creat, creat64(path: *const c_char, mode: mode_t) -> c_int { |call| open_file(path, call) }
    fn mkstemp, mkstemp64(template: *mut c_char) -> c_int { |call| open_file(template, call) }
    fn mkostemp, mkostemp64(template: *mut c_char, flags: c_int) -> c_int { |call| open_file(template, call) }
    fn mkstemps, mkstemps64(template: *mut c_char, suffix: c_int) -> c_int { |call| open_file(template, call) }
    fn mkostemps, mkostemps64(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int {
        |call| open_file(template, call)
    }
    fn fopen, fopen64(
        path: *const c_char, mode: *const c_char
    ) -> Stream { |call| open_stream(path, call) }
    fn freopen, freopen64(path: *const c_char, mode: *const c_char, stream: Stream) -> Stream {
        |call| close_with(descriptor_of(stream), || open_stream(path, call))
    }
    fn dup(fd: c_int) -> c_int { |call| duplicate(call) }
    fn dup2(fd: c_int, to: c_int) -> c_int {
        // To itself it changes nothing.
        |call| if fd == to { call() } else { replace(call) }
    }
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int { |call| replace(call) }
    fn fcntl, fcntl64(fd: c_int, command: c_int; argument: *mut c_void) -> c_int {
        |call| match command {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicate(call),
            libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
                without_buffer(fd, Operation::FileLock, call)
            }
            _ => call(),
        }
    }
    fn close(fd: c_int) -> c_int {
        |call| match descriptors::is_own(fd) {
            false => close_with(fd, call),
            true => 0,
        }
    }
    fn fclose(stream: Stream) -> c_int { |call| close_with(descriptor_of(stream), call) }
    fn closedir(stream: *mut DIR) -> c_int {
        // SAFETY: rule 2 (an open stream).
        |call| close_with(unsafe { libc::dirfd(stream) }, call)
    }
    fn close_range(first: u32, last: u32, flags: c_int) -> c_int {
        |call| {
            // CLOSE_RANGE_CLOEXEC closes none.
            if flags & 4 != 0 {
                return call();
            }
            forget_range(first, last);
            match descriptors::own_among(first..=last) {
                None => call(),
                Some(own) => close_around(own, first, last, flags),
            }
        }
    }
    fn closefrom(first: c_int) -> () {
        |call| {
            let first = first.max(0) as u32;
            forget_range(first, u32::MAX);
            match descriptors::own_among(first..=u32::MAX) {
                None => call(),
                Some(own) => {
                    // Before Linux 5.9 there is no such call.
                    if close_around(own, first, u32::MAX, 0) != 0 {
                        close_each(own, first);
                    }
                }
            }
        }
    }
    fn unlink, remove(path: *const c_char) -> c_int {
        |call| delete(libc::AT_FDCWD, path, call)
    }
    fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        |call| match flags & libc::AT_REMOVEDIR {
            0 => delete(directory, path, call),
            _ => call(),
        }
    }
    fn rename(from: *const c_char, to: *const c_char) -> c_int {
        |call| rename_with((libc::AT_FDCWD, from), (libc::AT_FDCWD, to), call)
    }
    fn renameat(from_directory: c_int, from: *const c_char, to_directory: c_int, to: *const c_char) -> c_int {
        |call| rename_with((from_directory, from), (to_directory, to), call)
    }
    fn renameat2(
        from_directory: c_int, from: *const c_char, to_directory: c_int, to: *const c_char, flags: u32
    ) -> c_int {
        |call| match flags & libc::RENAME_EXCHANGE {
            0 => rename_with((from_directory, from), (to_directory, to), call),
            // Both files stay.
            _ => call(),
        }
    }
    fn epoll_create(size: c_int) -> c_int { |call| open_other(call) }
    fn epoll_create1, inotify_init1(flags: c_int) -> c_int { |call| open_other(call) }
    fn eventfd(value: u32, flags: c_int) -> c_int { |call| open_other(call) }
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int { |call| open_other(call) }
    fn signalfd(fd: c_int, mask: *const libc::sigset_t, flags: c_int) -> c_int { |call| open_other(call) }
    fn inotify_init() -> c_int { |call| open_other(call) }
    fn memfd_create(name: *const c_char, flags: u32) -> c_int { |call| open_other(call) }
    fn pipe(both: *mut c_int) -> c_int { |call| open_pair(both, call) }
    fn pipe2(both: *mut c_int, flags: c_int) -> c_int { |call| open_pair(both, call) }
    fn socketpair(
        domain: c_int, kind: c_int, protocol: c_int, both: *mut c_int
    ) -> c_int { |call| open_pair(both, call) }
}

/// Closes these descriptors but one, and returns what close_range returns.
fn close_around(own: u32, first: u32, last: u32, flags: c_int) -> c_int {
    let close_range = real!(close_range: unsafe extern "C-unwind" fn(u32, u32, c_int) -> c_int);
    let parts = [
        own.checked_sub(1)
            .filter(|&end| first <= end)
            .map(|end| (first, end)),
        (own < last).then(|| (own + 1, last)),
    ];
    for (first, last) in parts.into_iter().flatten() {
        // SAFETY: rule 2 (the program closes them).
        let result = unsafe { close_range(first, last, flags) };
        if result != 0 {
            return result;
        }
    }
    0
}

/// Closes all descriptors from this one on but one.
fn close_each(own: u32, first: u32) {
    let close = real!(close: unsafe extern "C-unwind" fn(c_int) -> c_int);
    // SAFETY: the call only returns a limit.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    for number in first..u32::try_from(limit).unwrap_or(first) {
        if number != own {
            // SAFETY: rule 2 (the program closes it).
            unsafe { close(number as c_int) };
        }
    }
}

/// Runs a call that opens two descriptors of something that is not recorded.
#[inline(always)]
fn open_pair(both: *const c_int, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result == 0 {
        for at in 0..2 {
            // SAFETY: rule 3 (the call has written two numbers).
            forget(unsafe { both.add(at).read() });
        }
    }
    result
}

/// Forgets what is recorded under descriptors that are closed next: before that, as in [`close_with`].
fn forget_range(first: u32, last: u32) {
    for descriptor in first..=last.min(descriptors::MAX_DESCRIPTORS as u32) {
        forget(descriptor as c_int);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_plain_if_it_can_be_no_other_files() {
        let plain = |directory, path: &CStr| plain_path(directory, path).map(Cow::into_owned);
        let here = std::env::current_dir().expect("a directory");
        let in_here = |name: &str| Some(here.join(name).display().to_string());
        assert_eq!(plain(7, c"/srv/a.b/c"), Some("/srv/a.b/c".to_owned()));
        assert_eq!(plain(libc::AT_FDCWD, c"base/5/1"), in_here("base/5/1"));
        assert_eq!(plain(7, c"base/5/1"), None);
        for other in [
            c"",
            c".",
            c"./a",
            c"../a",
            c"/a/../b",
            c"/a//b",
            c"/a/.b",
            c"a/./b",
            c"/dev/stdin",
            c"/proc/self/fd/3",
        ] {
            assert_eq!(plain(libc::AT_FDCWD, other), None, "{other:?}");
        }
    }
}
