//! The process that has loaded the library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tare_image::Image;
use tare_image::options::UserOptions;

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
        // SAFETY: before `main` this is the only thread, so no other reads the environment.
        unsafe { tare_image::unset_preload() };
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
