//! The C library's own functions, behind the functions of the same names in [`crate::hooks`].

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the C library. It is looked up before `main`, or at its first call if that is earlier: other
/// libraries' constructors may call it before ours has run.
pub struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    /// The function of this name.
    pub const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address.
    #[inline(always)]
    pub fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        match address.is_null() {
            true => self.resolve(),
            false => address,
        }
    }

    #[cold]
    #[inline(never)]
    fn resolve(&self) -> *mut c_void {
        // SAFETY: a C string.
        let mut address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if address.is_null() {
            address = missing as *mut c_void;
        }
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// In place of a function that this C library does not have: fails with ENOSYS.
extern "C-unwind" fn missing() -> isize {
    // SAFETY: the address of the calling thread's errno.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

/// Looks up all functions. Later the first call may be that of a signal handler, or in the child of a fork,
/// where dlsym could wait for a lock of the dynamic linker for ever.
pub fn resolve_all() {
    unsafe extern "C" {
        // The linker defines both, as the ends of the section.
        #[link_name = "__start_tare_real"]
        static START: u8;
        #[link_name = "__stop_tare_real"]
        static END: u8;
    }
    let (start, end) = (
        (&raw const START).cast::<Real>(),
        (&raw const END).cast::<Real>(),
    );
    // SAFETY: `real!` puts values of this type into the section, and nothing else does.
    let all = unsafe { std::slice::from_raw_parts(start, end.offset_from_unsigned(start)) };
    for real in all {
        real.address();
    }
}

/// A function's name as a C string.
macro_rules! c_name {
    ($name:ident) => {
        match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!(),
        }
    };
}
pub(crate) use c_name;

/// The C library's function of this name, as a function of this type.
macro_rules! real {
    ($name:ident: $type:ty) => {{
        #[unsafe(link_section = "tare_real")]
        static REAL: $crate::real::Real = $crate::real::Real::new($crate::real::c_name!($name));
        // SAFETY: rule 1 (the function has this type).
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $type>(REAL.address()) }
    }};
}
pub(crate) use real;
