//! A thread-local of our own. In a shared library, Rust's is found by a call into the dynamic linker, a
//! dozen instructions in every event. This one is at an offset from the thread's register, which is
//! read from memory. The C library reserves a few bytes for such libraries.

use crate::engine::hot::Hot;

pub(super) struct Key;

pub(super) static HOT: Key = Key;

// Zeroes are a `Hot`: see `Hot::new`.
std::arch::global_asm!(
    ".pushsection .tbss.tare_hot_place,\"awT\",@nobits",
    ".hidden tare_hot_place",
    ".globl tare_hot_place",
    ".type tare_hot_place,@object",
    ".size tare_hot_place,{size}",
    ".balign 64",
    "tare_hot_place:",
    ".zero {size}",
    ".popsection",
    size = const size_of::<Hot>(),
);

impl Key {
    #[inline(always)]
    pub fn with<T>(&self, work: impl FnOnce(&Hot) -> T) -> T {
        let place: *const Hot;
        // SAFETY: the address of this thread's copy of `tare_hot_place`: its offset from the
        // thread's register is in the GOT, and the word at `fs:[0]` is that register's value.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + tare_hot_place@GOTTPOFF]",
                "add {place}, qword ptr fs:[0]",
                place = out(reg) place,
                options(pure, nomem, nostack),
            );
        }
        // SAFETY: as large as a `Hot`, aligned, at first zero, which is a valid `Hot`; this
        // thread's only.
        work(unsafe { &*place })
    }
}
