//! vfork and clone: their child may use its parent's memory, but have descriptors of its own.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};

use crate::descriptors;
use crate::real::real;

/// Defines a function that notes that memory may be shared, and goes on in the C library's function
/// with all registers and the stack as they were: vfork returns twice.
macro_rules! jump {
    ($name:ident, $prepare:ident: $type:ty) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        #[allow(missing_docs, reason = "the C library's")]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "sub rsp, 8",
                "call {prepare}",
                "add rsp, 8",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp rax",
                prepare = sym $prepare,
            )
        }

        extern "C" fn $prepare() -> $type {
            descriptors::share_with_child();
            real!($name: $type)
        }
    };
}

type Body = extern "C" fn(*mut c_void) -> c_int;
type Vfork = unsafe extern "C" fn() -> c_int;
type Clone = unsafe extern "C" fn(Body, *mut c_void, c_int, *mut c_void, ...) -> c_int;

jump!(vfork, prepare_vfork: Vfork);
jump!(__vfork, prepare_own_vfork: Vfork);
jump!(clone, prepare_clone: Clone);
jump!(__clone, prepare_own_clone: Clone);
