//! The process that we find ourselves in.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use tare_image::options::Users;
use tare_image::{Image, PRELOAD};

/// A program and its process.
pub struct Host {
    /// The program's file.
    pub image: Image,
    /// What is added to an address as linked to have it in memory.
    base: u64,
    path: PathBuf,
}

impl Host {
    /// `None` if its file cannot be looked into: then it is no server that is known.
    pub fn look() -> Option<Self> {
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

    /// Where an address as linked is in memory.
    pub fn in_memory(&self, address: u64) -> u64 {
        self.base.wrapping_add(address)
    }

    /// Where an address in memory is as linked.
    pub fn as_linked(&self, address: u64) -> u64 {
        address.wrapping_sub(self.base)
    }

    /// Whether its name is a server's. It is asked for no more than whether to say that we do not know it.
    pub fn is_called_like_a_server(&self) -> bool {
        tare_image::is_called_like_a_server(&self.path)
    }

    /// Takes this library out of what child processes inherit.
    pub fn keep_from_children(&self) {
        let Some(value) = std::env::var_os(PRELOAD) else {
            return;
        };
        let own = own_file();
        let kept = without(&value, &own);
        // SAFETY: before `main`, this is the only thread, so nobody reads the environment meanwhile.
        unsafe {
            if kept.is_empty() {
                std::env::remove_var(PRELOAD);
            } else {
                std::env::set_var(PRELOAD, kept);
            }
        }
    }

    /// What the server's options say about its Performance Schema.
    pub fn options(&self) -> Users {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        // The program itself, which knows what files it reads. It does not inherit us: `keep_from_children`.
        tare_image::options::of_user(&self.path, &arguments)
    }

    /// Whether it will end without serving anybody.
    pub fn only_tells_or_initialises(&self) -> bool {
        tare_image::only_tells_or_initialises(std::env::args_os().skip(1))
    }
}

/// A list of libraries without one of them. Names may be parted by spaces or colons (ld.so(8)).
fn without(list: &OsStr, own: &Path) -> OsString {
    let is_own = |name: &[u8]| Path::new(OsStr::from_bytes(name)).file_name() == own.file_name();
    let names = list.as_bytes().split(|byte| matches!(byte, b' ' | b':'));
    let kept: Vec<&[u8]> = names
        .filter(|name| !name.is_empty() && !is_own(name))
        .collect();
    OsString::from_vec(kept.join(&b':'))
}

/// The file that this code was loaded from.
fn own_file() -> PathBuf {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let here = own_file as *const ();
    // SAFETY: `info` is one, and only read when the call says that it was filled; the name it points to
    // stays as long as the library, which is never unloaded.
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
    fn only_we_are_taken_out_of_the_preload() {
        let own = Path::new("/usr/lib/libtare_psi.so");
        let kept = |list: &str| without(OsStr::new(list), own).into_string().expect("ASCII");
        assert_eq!(kept("/usr/lib/libtare_psi.so"), "");
        assert_eq!(
            kept("/a/libjemalloc.so.2:/usr/lib/libtare_psi.so"),
            "/a/libjemalloc.so.2"
        );
        assert_eq!(
            kept("libtare_psi.so libfoo.so  libbar.so"),
            "libfoo.so:libbar.so"
        );
    }
}
