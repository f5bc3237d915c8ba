//! The paths of files.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What a descriptor has open, by /proc: a file's path. `None`: it is no file.
pub(super) fn path_of(descriptor: c_int) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    // `pipe:[17]`, `anon_inode:[eventpoll]`.
    path.is_absolute().then_some(path)
}

/// A path as text; what is no UTF-8 is replaced. For UTF-8 this is faster than `to_string_lossy`.
fn to_text(path: &CStr) -> Cow<'_, str> {
    path.to_str()
        .map_or_else(|_| path.to_string_lossy(), Cow::Borrowed)
}

/// Whether a path leads to the file that it names, as far as the path says: it has no `.`, `..` or `//`, and does not
/// begin with a directory whose files are links.
pub(super) fn is_plain(path: &[u8]) -> bool {
    let is_plain = |pair: &[u8]| pair != b"//" && pair != b"/.";
    let mut tops = [b"/dev/".as_slice(), b"/proc/"].into_iter();
    !path.is_empty()
        && path[0] != b'.'
        && path.windows(2).all(is_plain)
        && !tops.any(|top| path.starts_with(top))
}

/// A file's full path, from the path that the program uses and without a look at the file system. `None` if
/// that may be another file's ([`is_plain`]).
pub(super) fn plain_path(directory: c_int, path: &CStr) -> Option<Cow<'_, str>> {
    let bytes = path.to_bytes();
    if !is_plain(bytes) {
        return None;
    }
    if bytes[0] == b'/' {
        return Some(to_text(path));
    }
    if directory != libc::AT_FDCWD {
        return None;
    }
    let full = std::env::current_dir().ok()?.join(OsStr::from_bytes(bytes));
    Some(Cow::Owned(full.to_string_lossy().into_owned()))
}

/// The path of a file that is not open. If it has no plain path: its directory without symbolic links, and
/// its name.
///
/// # Safety
/// `path` is NULL or a C string.
pub(super) unsafe fn resolve(directory: c_int, path: *const c_char) -> Option<String> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller passes a C string.
    let path = unsafe { CStr::from_ptr(path) };
    if let Some(full) = plain_path(directory, path) {
        return Some(full.into_owned());
    }
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let base = match directory {
        _ if path.is_absolute() => PathBuf::new(),
        libc::AT_FDCWD => std::env::current_dir().ok()?,
        directory => path_of(directory)?,
    };
    let full = base.join(path);
    let name = full.file_name()?;
    let full = fs::canonicalize(full.parent()?).ok()?.join(name);
    Some(full.to_string_lossy().into_owned())
}
