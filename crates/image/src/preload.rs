//! What a preloaded library reads from its program's environment, and how it removes itself from what the program
//! passes on.

use std::ffi::{CStr, OsStr, OsString};
use std::fmt::Display;
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::{OPTIONS_VARIABLE, PRELOAD};

/// The engine's options in the environment, with their values.
pub fn engine_options() -> Vec<(String, String)> {
    let text = std::env::var(OPTIONS_VARIABLE).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let option = |line: &str| {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    lines.map(option).collect()
}

/// Reports on standard error that one of these options is ignored.
pub fn report_ignored(why: impl Display) {
    // The program may have closed it.
    let _ = writeln!(
        std::io::stderr(),
        "tare: {OPTIONS_VARIABLE}: {why}; the option is left out"
    );
}

/// Removes the library that contains this code from the environment that child processes inherit.
///
/// # Safety
/// No other thread reads or writes the environment.
pub unsafe fn unset_preload() {
    let Some(value) = std::env::var_os(PRELOAD) else {
        return;
    };
    let rest = without(&value, &own_file());
    // SAFETY: the caller promises that no other thread uses the environment.
    unsafe {
        if rest.is_empty() {
            std::env::remove_var(PRELOAD);
        } else {
            std::env::set_var(PRELOAD, rest);
        }
    }
}

/// A list of libraries without one of them. Spaces or colons separate names (ld.so(8)).
fn without(list: &OsStr, own: &Path) -> OsString {
    let is_own = |name: &[u8]| Path::new(OsStr::from_bytes(name)).file_name() == own.file_name();
    let names = list.as_bytes().split(|byte| matches!(byte, b' ' | b':'));
    let rest: Vec<&[u8]> = names
        .filter(|name| !name.is_empty() && !is_own(name))
        .collect();
    OsString::from_vec(rest.join(&b':'))
}

/// The file that this code was loaded from.
fn own_file() -> PathBuf {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let here = own_file as *const ();
    // SAFETY: `info` is only read if the call says that it was filled; its name lives as long as the library,
    // which is never unloaded.
    unsafe {
        if libc::dladdr(here.cast(), info.as_mut_ptr()) == 0 {
            return PathBuf::new();
        }
        let name = info.assume_init().dli_fname;
        if name.is_null() {
            return PathBuf::new();
        }
        PathBuf::from(OsStr::from_bytes(CStr::from_ptr(name).to_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_library_is_removed_from_the_preload() {
        let own = Path::new("/usr/lib/libtare_psi.so");
        let without_own = |list: &str| without(OsStr::new(list), own).into_string().expect("ASCII");
        assert_eq!(without_own("/usr/lib/libtare_psi.so"), "");
        assert_eq!(
            without_own("/a/libjemalloc.so.2:/usr/lib/libtare_psi.so"),
            "/a/libjemalloc.so.2"
        );
        assert_eq!(
            without_own("libtare_psi.so libfoo.so  libbar.so"),
            "libfoo.so:libbar.so"
        );
    }
}
