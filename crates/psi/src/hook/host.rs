//! The process that has loaded the library.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use tare_image::options::UserOptions;
use tare_image::{Image, PRELOAD};

/// A program and its process.
pub struct Host {
    /// The program's file.
    pub image: Image,
    /// The difference between an address in memory and the same address as linked.
    base: u64,
    path: PathBuf,
}

impl Host {
    /// Opens the program's file; `None` if it cannot be read, so that Tare does not instrument the program.
    pub fn open() -> Option<Self> {
        let image = Image::open(Path::new("/proc/self/exe")).ok()?;
        // SAFETY: reads the auxiliary vector.
        let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
        let base = headers.wrapping_sub(image.headers_address()?);
        Some(Self {
            image,
            base,
            path: std::fs::read_link("/proc/self/exe").unwrap_or_default(),
        })
    }

    /// The address in memory of an address as linked.
    pub fn in_memory(&self, address: u64) -> u64 {
        self.base.wrapping_add(address)
    }

    /// The address as linked of an address in memory.
    pub fn as_linked(&self, address: u64) -> u64 {
        address.wrapping_sub(self.base)
    }

    /// Whether its name is a server's. If so, a line is printed when Tare does not support the program.
    pub fn has_server_name(&self) -> bool {
        tare_image::has_server_name(&self.path)
    }

    /// Removes this library from the environment that child processes inherit.
    pub fn unset_preload_for_children(&self) {
        let Some(value) = std::env::var_os(PRELOAD) else {
            return;
        };
        let own = own_file();
        let rest = without(&value, &own);
        // SAFETY: before `main` this is the only thread, so no other reads the environment.
        unsafe {
            if rest.is_empty() {
                std::env::remove_var(PRELOAD);
            } else {
                std::env::set_var(PRELOAD, rest);
            }
        }
    }

    /// The user's options of the Performance Schema.
    pub fn options(&self) -> UserOptions {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        // The program itself prints them. It does not inherit the library: `unset_preload_for_children`.
        tare_image::options::read_user_options(&self.path, &arguments)
    }

    /// Whether it will end without serving a client.
    pub fn is_short_lived(&self) -> bool {
        tare_image::is_short_lived(std::env::args_os().skip(1))
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
