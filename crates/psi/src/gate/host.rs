//! The process that we find ourselves in.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use tare_image::Image;

const PRELOAD: &str = "LD_PRELOAD";

/// Options with which a server tells something or makes a data directory, and ends. It does not
/// initialise its own Performance Schema then, and there is nothing to serve.
const SHORT_LIVED: [&str; 9] = [
    "help",
    "version",
    "print-defaults",
    "initialize",
    "initialize-insecure",
    "bootstrap",
    "install",
    "remove",
    "verbose-help",
];

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
        self.path
            .file_name()
            .is_some_and(|name| name == "mysqld" || name == "mariadbd")
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

    /// Whether it will end without serving anybody.
    pub fn only_tells_or_initialises(&self) -> bool {
        std::env::args_os()
            .skip(1)
            .any(|argument| is_short_lived(&argument))
    }
}

fn is_short_lived(argument: &OsStr) -> bool {
    let bytes = argument.as_bytes();
    if let Some(long) = bytes.strip_prefix(b"--") {
        let name = long.split(|&byte| byte == b'=').next().unwrap_or(long);
        let name: Vec<u8> = name
            .iter()
            .map(|&b| if b == b'_' { b'-' } else { b })
            .collect();
        return SHORT_LIVED.iter().any(|each| each.as_bytes() == name);
    }
    // -V, -?, -I: version, help (twice).
    matches!(bytes, b"-V" | b"-?" | b"-I")
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

    #[test]
    fn options_that_end_at_once_are_known() {
        let short = |text: &str| is_short_lived(OsStr::new(text));
        for text in [
            "--help",
            "-?",
            "-V",
            "--version",
            "--initialize_insecure",
            "--bootstrap",
            "--initialize=1",
        ] {
            assert!(short(text), "{text}");
        }
        for text in [
            "--verbose",
            "-v",
            "--datadir=/x/--help",
            "--initialized",
            "help",
            "--",
            "-u",
        ] {
            assert!(!short(text), "{text}");
        }
    }
}
