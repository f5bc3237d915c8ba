//! The host's mlockall, which would give memory to all pages of the segment: at the default limits 51 GiB, of
//! which nearly all are never used.
//!
//! The kernel has no way to leave a mapping out. So the host's mappings are locked one by one, and the
//! segment stays as it is.

use std::ffi::c_int;
use std::io;
use std::ops::Range;

use super::mapping::mapped_ranges;

/// Of mlockall, for what is mapped now: a page is locked when it is used.
const ON_FAULT: c_int = libc::MCL_CURRENT | libc::MCL_ONFAULT;

/// Does what mlockall does, without the segment. `mlockall` is the C library's function.
///
/// # Errors
/// The error's number (errno).
pub fn lock_all(flags: c_int, mlockall: impl Fn(c_int) -> c_int) -> Result<(), c_int> {
    let mlockall = |flags| match mlockall(flags) {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::ENOMEM)),
    };
    let own = mapped_ranges();
    if flags & libc::MCL_CURRENT == 0 || own.is_empty() {
        return mlockall(flags);
    }
    let of_host: Vec<_> = mappings()
        .into_iter()
        .filter(|range| {
            !own.iter()
                .any(|own| own.start < range.end && range.start < own.end)
        })
        .collect();
    match mlockall(ON_FAULT) {
        Ok(()) => own.iter().for_each(|range| {
            // SAFETY: unlocks memory without a change of its content.
            unsafe { libc::munlock(range.start as *const _, range.len()) };
        }),
        // The limit is that of all mappings. Without the segment's, the host's may be within it.
        Err(error) if !is_within_limit(&of_host) => return Err(error),
        Err(_) => {}
    }
    // Of mlock2: the same for one mapping.
    let lock = match flags & libc::MCL_ONFAULT {
        0 => 0,
        _ => 1,
    };
    for range in of_host {
        // As in mlockall, what cannot be read stays without memory.
        // SAFETY: locks memory without a change of its content.
        unsafe { libc::syscall(libc::SYS_mlock2, range.start, range.len(), lock) };
    }
    match flags & libc::MCL_FUTURE {
        0 => Ok(()),
        _ => mlockall(flags & !libc::MCL_CURRENT),
    }
}

/// What the process maps now, by address. Empty: /proc is not mounted.
fn mappings() -> Vec<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(range_of).collect()
}

/// The addresses of a line of /proc/PID/maps.
fn range_of(line: &str) -> Option<Range<usize>> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |digits| usize::from_str_radix(digits, 16).ok();
    Some(address(start)?..address(end)?)
}

/// Whether a process without privileges may lock so much.
fn is_within_limit(mappings: &[Range<usize>]) -> bool {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes into a local.
    let is_read = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } == 0;
    let bytes: usize = mappings.iter().map(Range::len).sum();
    is_read && bytes != 0 && bytes as libc::rlim_t <= limit.rlim_cur
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_addresses() {
        assert_eq!(
            range_of("7f0000001000-7f0000003000 rw-s 00000000 00:01 1 /memfd:tare (deleted)"),
            Some(0x7f00_0000_1000..0x7f00_0000_3000)
        );
        for line in ["", "1-2", "x-2 r", "12 r"] {
            assert_eq!(range_of(line), None);
        }
        let here = range_of as *const () as usize;
        assert!(mappings().iter().any(|range| range.contains(&here)));
    }
}
