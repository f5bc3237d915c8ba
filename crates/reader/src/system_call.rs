//! Names of the system calls in which threads sleep.

use std::sync::Arc;

macro_rules! names {
    ($($name:ident $number:ident)*) => {
        const NAMES: &[(i64, &str)] = &[$((libc::$number, stringify!($name))),*];
    };
}

names! {
    futex SYS_futex
    nanosleep SYS_nanosleep clock_nanosleep SYS_clock_nanosleep
    read SYS_read pread64 SYS_pread64 readv SYS_readv preadv SYS_preadv preadv2 SYS_preadv2
    write SYS_write pwrite64 SYS_pwrite64 writev SYS_writev pwritev SYS_pwritev pwritev2 SYS_pwritev2
    fsync SYS_fsync fdatasync SYS_fdatasync sync_file_range SYS_sync_file_range msync SYS_msync
    fallocate SYS_fallocate ftruncate SYS_ftruncate
    openat SYS_openat close SYS_close unlinkat SYS_unlinkat renameat2 SYS_renameat2 fcntl SYS_fcntl flock SYS_flock
    io_getevents SYS_io_getevents io_submit SYS_io_submit io_uring_enter SYS_io_uring_enter
    ppoll SYS_ppoll pselect6 SYS_pselect6 epoll_pwait SYS_epoll_pwait
    recvfrom SYS_recvfrom recvmsg SYS_recvmsg sendto SYS_sendto sendmsg SYS_sendmsg
    accept SYS_accept accept4 SYS_accept4 connect SYS_connect
    rt_sigtimedwait SYS_rt_sigtimedwait wait4 SYS_wait4 semtimedop SYS_semtimedop
    mmap SYS_mmap munmap SYS_munmap madvise SYS_madvise mprotect SYS_mprotect brk SYS_brk mremap SYS_mremap
    waitid SYS_waitid rt_sigsuspend SYS_rt_sigsuspend restart_syscall SYS_restart_syscall
    semop SYS_semop msgrcv SYS_msgrcv msgsnd SYS_msgsnd futex_waitv SYS_futex_waitv
    epoll_pwait2 SYS_epoll_pwait2 recvmmsg SYS_recvmmsg sendmmsg SYS_sendmmsg
    sendfile SYS_sendfile splice SYS_splice copy_file_range SYS_copy_file_range
    getdents64 SYS_getdents64 statx SYS_statx newfstatat SYS_newfstatat fstat SYS_fstat truncate SYS_truncate
    mkdirat SYS_mkdirat ioctl SYS_ioctl getrandom SYS_getrandom sched_yield SYS_sched_yield
    clone SYS_clone clone3 SYS_clone3 execve SYS_execve exit SYS_exit exit_group SYS_exit_group
}

#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[(i64, &str)] = &[
    (libc::SYS_poll, "poll"),
    (libc::SYS_select, "select"),
    (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_open, "open"),
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_rename, "rename"),
    (libc::SYS_pause, "pause"),
    (libc::SYS_vfork, "vfork"),
    (libc::SYS_fork, "fork"),
    (libc::SYS_stat, "stat"),
    (libc::SYS_lstat, "lstat"),
    (libc::SYS_mkdir, "mkdir"),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[(i64, &str)] = &[];

/// The name of a system call, or its number; of -1: the thread sleeps in none.
pub fn name(number: i64) -> Arc<str> {
    if number == -1 {
        return "page fault".into();
    }
    let mut all = NAMES.iter().chain(OLD_NAMES);
    match all.find(|(of, _)| *of == number) {
        Some((_, name)) => (*name).into(),
        None => format!("system call {number}").into(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn calls_have_names_and_others_their_number() {
        assert_eq!(&*super::name(libc::SYS_futex), "futex");
        assert_eq!(&*super::name(100_000), "system call 100000");
        assert_eq!(&*super::name(-1), "page fault");
    }
}
