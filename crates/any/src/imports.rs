//! Functions that the program's own code calls by another library, and that Tare replaces there.
//!
//! `libtare_any.so` does not export them. A process may have several libraries that define a function of the
//! same name, each for its own callers: those of the program, of an extension, of an interpreter's module.
//! Only the dynamic linker knows which caller belongs to which. So only the program's own calls are replaced,
//! in the table of addresses that the dynamic linker has filled for the program's file.

use std::ffi::{CStr, c_void};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};

use tare_image::Imports;

use crate::exports::{exported, exported_version};

/// A function that is replaced.
pub struct Import {
    name: &'static CStr,
    /// What the program calls in its place.
    replacement: fn() -> *mut c_void,
    real: AtomicPtr<c_void>,
}

impl Import {
    pub const fn new(name: &'static CStr, replacement: fn() -> *mut c_void) -> Self {
        Self {
            name,
            replacement,
            real: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The library's function. Only the replacement calls it, so it is resolved.
    #[inline(always)]
    pub fn real(&self) -> *mut c_void {
        self.real.load(Ordering::Relaxed)
    }

    /// Resolves the library's function, whether or not the program calls it. False: there is none.
    pub fn resolve(&self) -> bool {
        if self.real().is_null() {
            let real = exported(self.name).unwrap_or_default();
            self.real.store(real, Ordering::Relaxed);
        }
        !self.real().is_null()
    }
}

/// Replaces these functions where the program imports them. Called before `main`.
pub fn replace(imports: &[&'static Import]) -> io::Result<()> {
    let find = |name: &str| {
        let mut imports = imports.iter();
        imports.find(|import| import.name.to_bytes() == name.as_bytes())
    };
    // The file that runs, also if another one has taken its path by now.
    let program = Path::new("/proc/self/exe");
    let Some(entries) = Imports::of(program, |name| find(name).is_some()) else {
        return Ok(());
    };
    // SAFETY: reads the auxiliary vector.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
    for entry in entries.in_memory(headers) {
        let Some(import) = find(&entry.name) else {
            continue;
        };
        // SAFETY: rule 6 (the program's table has an aligned word there).
        let address = unsafe { &*(entry.address as *const AtomicPtr<c_void>) };
        let real = match entry.is_read_only {
            true => Some(address.load(Ordering::Relaxed)),
            // The dynamic linker may write the address at the first call only.
            false => exported_version(import.name, entry.version.as_deref()),
        };
        let Some(real) = real.filter(|real| !real.is_null()) else {
            continue;
        };
        import.real.store(real, Ordering::Relaxed);
        let replace = || address.store((import.replacement)(), Ordering::Release);
        match entry.is_read_only {
            true => unprotect(entry.address, replace)?,
            false => replace(),
        }
    }
    Ok(())
}

/// Writes to a page that is read-only.
fn unprotect(address: u64, write: impl FnOnce()) -> io::Result<()> {
    let address = address as usize;
    // SAFETY: the call only returns a constant of the system.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let page = (address & !(page_bytes - 1)) as *mut c_void;
    let protect = |protection| {
        // SAFETY: rule 6 (a page of the program's table, which stays readable).
        match unsafe { libc::mprotect(page, page_bytes, protection) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    protect(libc::PROT_READ | libc::PROT_WRITE)?;
    write();
    protect(libc::PROT_READ)
}
