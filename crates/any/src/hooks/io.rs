//! Reading, writing and changing what is open.

use std::ffi::{c_int, c_void};

use engine::Operation;
use libc::{iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t, timespec};

use super::open::record_received;
use super::{Running, hooks, moved_bytes};
use crate::descriptors::Access;

/// Runs a call that moves bytes between a descriptor and one buffer.
#[inline(always)]
fn with_buffer(
    descriptor: c_int,
    access: Access,
    buffer: *const c_void,
    call: impl FnOnce() -> ssize_t,
) -> ssize_t {
    let running = Running::begin(descriptor, access);
    let result = call();
    let bytes = moved_bytes(result);
    running.end(bytes, |stream| {
        let length = bytes.unwrap_or(0) as usize;
        if length != 0 && !buffer.is_null() {
            // SAFETY: rule 3 (the call moved as many bytes of the buffer).
            stream.moved(access, unsafe {
                std::slice::from_raw_parts(buffer.cast(), length)
            });
        }
    });
    result
}

/// The same with several buffers.
#[inline(always)]
fn with_vector(
    descriptor: c_int,
    access: Access,
    (vector, count): (*const iovec, usize),
    call: impl FnOnce() -> ssize_t,
) -> ssize_t {
    let running = Running::begin(descriptor, access);
    let result = call();
    let bytes = moved_bytes(result);
    running.end(bytes, |stream| {
        let mut rest = bytes.unwrap_or(0) as usize;
        for at in 0..count {
            if rest == 0 {
                break;
            }
            // SAFETY: rule 3 (the call read `count` elements).
            let part = unsafe { vector.add(at).read() };
            let length = part.iov_len.min(rest);
            rest -= length;
            // An empty buffer may be NULL.
            if length != 0 {
                // SAFETY: rule 3 (the call moved bytes of these buffers in order).
                stream.moved(access, unsafe {
                    std::slice::from_raw_parts(part.iov_base.cast(), length)
                });
            }
        }
    });
    result
}

/// The same with a message.
#[inline(always)]
fn with_message(
    descriptor: c_int,
    access: Access,
    message: *const msghdr,
    call: impl FnOnce() -> ssize_t,
) -> ssize_t {
    if message.is_null() {
        return call();
    }
    // SAFETY: rule 2 (not NULL: the C library reads it).
    let vector = unsafe { ((*message).msg_iov.cast_const(), (*message).msg_iovlen) };
    with_vector(descriptor, access, vector, call)
}

/// Runs a call that moves several messages.
#[inline(always)]
fn with_messages(
    descriptor: c_int,
    access: Access,
    messages: *const mmsghdr,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let running = Running::begin(descriptor, access);
    let result = call();
    let count = usize::try_from(result).unwrap_or(0);
    // SAFETY: rule 3 (the call has filled as many).
    let lengths = (0..count).map(|at| u64::from(unsafe { (*messages.add(at)).msg_len }));
    let bytes = moved_bytes(result as isize).map(|_| lengths.sum());
    running.end(bytes, |stream| stream.lose_track());
    result
}

/// Runs a call that moves no bytes of the program's memory.
#[inline(always)]
pub(super) fn without_buffer<T>(
    descriptor: c_int,
    operation: Operation,
    call: impl FnOnce() -> T,
) -> T {
    let running = Running::begin(descriptor, Access::Other(operation));
    let result = call();
    running.end(None, |_| {});
    result
}

use Access::{In, Out};

hooks! {
    fn read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t {
        |call| with_buffer(fd, In, buffer, call)
    }
    fn __read_chk(fd: c_int, buffer: *mut c_void, count: size_t, size: size_t) -> ssize_t {
        |call| with_buffer(fd, In, buffer, call)
    }
    fn pread, pread64(fd: c_int, buffer: *mut c_void, count: size_t, at: off_t) -> ssize_t {
        |call| with_buffer(fd, In, buffer, call)
    }
    fn __pread_chk, __pread64_chk(
        fd: c_int, buffer: *mut c_void, count: size_t, at: off_t, size: size_t
    ) -> ssize_t {
        |call| with_buffer(fd, In, buffer, call)
    }
    fn recv(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int) -> ssize_t {
        |call| with_buffer(fd, In, next_bytes(buffer, flags), call)
    }
    fn __recv_chk(fd: c_int, buffer: *mut c_void, count: size_t, size: size_t, flags: c_int) -> ssize_t {
        |call| with_buffer(fd, In, next_bytes(buffer, flags), call)
    }
    fn recvfrom(
        fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int, from: *mut sockaddr,
        length: *mut socklen_t
    ) -> ssize_t {
        |call| with_buffer(fd, In, next_bytes(buffer, flags), call)
    }
    fn __recvfrom_chk(
        fd: c_int, buffer: *mut c_void, count: size_t, size: size_t, flags: c_int, from: *mut sockaddr,
        length: *mut socklen_t
    ) -> ssize_t {
        |call| with_buffer(fd, In, next_bytes(buffer, flags), call)
    }
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        |call| {
            let result = with_message(fd, In, next_bytes(message.cast(), flags).cast(), call);
            if result >= 0 {
                // SAFETY: rule 3 (the call has filled it).
                unsafe { record_received(message) };
            }
            result
        }
    }
    fn recvmmsg(
        fd: c_int, messages: *mut mmsghdr, count: u32, flags: c_int, timeout: *mut timespec
    ) -> c_int {
        |call| {
            let result = with_messages(fd, In, messages, call);
            for at in 0..usize::try_from(result).unwrap_or(0) {
                // SAFETY: rule 3 (the call has filled as many).
                unsafe { record_received(&raw const (*messages.add(at)).msg_hdr) };
            }
            result
        }
    }
    fn readv(fd: c_int, vector: *const iovec, count: c_int) -> ssize_t {
        |call| with_vector(fd, In, (vector, count.max(0) as usize), call)
    }
    fn preadv, preadv64(fd: c_int, vector: *const iovec, count: c_int, at: off_t) -> ssize_t {
        |call| with_vector(fd, In, (vector, count.max(0) as usize), call)
    }
    fn preadv2, preadv64v2(
        fd: c_int, vector: *const iovec, count: c_int, at: off_t, flags: c_int
    ) -> ssize_t {
        |call| with_vector(fd, In, (vector, count.max(0) as usize), call)
    }
    fn write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t {
        |call| with_buffer(fd, Out, buffer, call)
    }
    fn pwrite, pwrite64(fd: c_int, buffer: *const c_void, count: size_t, at: off_t) -> ssize_t {
        |call| with_buffer(fd, Out, buffer, call)
    }
    fn send(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int) -> ssize_t {
        |call| with_buffer(fd, Out, buffer, call)
    }
    fn sendto(
        fd: c_int, buffer: *const c_void, count: size_t, flags: c_int, to: *const sockaddr,
        length: socklen_t
    ) -> ssize_t {
        |call| with_buffer(fd, Out, buffer, call)
    }
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        |call| with_message(fd, Out, message, call)
    }
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: u32, flags: c_int) -> c_int {
        |call| with_messages(fd, Out, messages, call)
    }
    fn writev(fd: c_int, vector: *const iovec, count: c_int) -> ssize_t {
        |call| with_vector(fd, Out, (vector, count.max(0) as usize), call)
    }
    fn pwritev, pwritev64(fd: c_int, vector: *const iovec, count: c_int, at: off_t) -> ssize_t {
        |call| with_vector(fd, Out, (vector, count.max(0) as usize), call)
    }
    fn pwritev2, pwritev64v2(
        fd: c_int, vector: *const iovec, count: c_int, at: off_t, flags: c_int
    ) -> ssize_t {
        |call| with_vector(fd, Out, (vector, count.max(0) as usize), call)
    }
    fn sendfile, sendfile64(to: c_int, from: c_int, at: *mut off_t, count: size_t) -> ssize_t {
        |call| send_file(to, call)
    }
    fn copy_file_range(
        from: c_int, from_at: *mut off_t, to: c_int, to_at: *mut off_t, count: size_t, flags: u32
    ) -> ssize_t {
        |call| send_file(to, call)
    }
    fn splice(
        from: c_int, from_at: *mut off_t, to: c_int, to_at: *mut off_t, count: size_t, flags: u32
    ) -> ssize_t {
        // One of them is a pipe, which is not recorded.
        |call| send_file(to, || receive_file(from, call))
    }
    fn fsync, fdatasync(fd: c_int) -> c_int {
        |call| without_buffer(fd, Operation::Sync, call)
    }
    fn sync_file_range(fd: c_int, at: off_t, count: off_t, flags: u32) -> c_int {
        |call| without_buffer(fd, Operation::Sync, call)
    }
    fn ftruncate, ftruncate64(fd: c_int, size: off_t) -> c_int {
        |call| without_buffer(fd, Operation::ChangeSize, call)
    }
    fn fallocate, fallocate64(fd: c_int, mode: c_int, at: off_t, size: off_t) -> c_int {
        |call| without_buffer(fd, Operation::ChangeSize, call)
    }
    fn posix_fallocate, posix_fallocate64(fd: c_int, at: off_t, size: off_t) -> c_int {
        |call| without_buffer(fd, Operation::ChangeSize, call)
    }
    fn lseek, lseek64(fd: c_int, at: off_t, whence: c_int) -> off_t {
        |call| without_buffer(fd, Operation::Seek, call)
    }
    fn fstat, fstat64(fd: c_int, into: *mut c_void) -> c_int {
        |call| without_buffer(fd, Operation::FStat, call)
    }
    fn __fxstat, __fxstat64(version: c_int, fd: c_int, into: *mut c_void) -> c_int {
        |call| without_buffer(fd, Operation::FStat, call)
    }
    fn flock(fd: c_int, operation: c_int) -> c_int {
        |call| without_buffer(fd, Operation::FileLock, call)
    }
    fn lockf, lockf64(fd: c_int, command: c_int, size: off_t) -> c_int {
        |call| without_buffer(fd, Operation::FileLock, call)
    }
    fn shutdown(fd: c_int, how: c_int) -> c_int {
        |call| without_buffer(fd, Operation::Shutdown, call)
    }
}

/// The buffer of a receiving call. NULL if the call leaves the bytes in the socket, so that they come
/// again, if they are not the connection's next bytes, or if the buffer may have fewer than the call
/// returns.
fn next_bytes(buffer: *mut c_void, flags: c_int) -> *const c_void {
    match flags & (libc::MSG_PEEK | libc::MSG_OOB | libc::MSG_ERRQUEUE | libc::MSG_TRUNC) {
        0 => buffer,
        _ => std::ptr::null(),
    }
}

/// Runs a call that sends a file, whose bytes nobody sees.
#[inline(always)]
fn send_file(to: c_int, call: impl FnOnce() -> ssize_t) -> ssize_t {
    let running = Running::begin(to, Out);
    let result = call();
    let bytes = moved_bytes(result);
    running.end(bytes, |stream| stream.send_unseen(bytes.unwrap_or(0)));
    result
}

/// Runs a call that receives into a file or a pipe, whose bytes nobody sees.
#[inline(always)]
fn receive_file(from: c_int, call: impl FnOnce() -> ssize_t) -> ssize_t {
    let running = Running::begin(from, In);
    let result = call();
    let bytes = moved_bytes(result);
    running.end(bytes, |stream| {
        if bytes != Some(0) {
            stream.lose_track();
        }
    });
    result
}
