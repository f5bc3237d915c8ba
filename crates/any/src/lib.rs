//! Tare's engine in a program that knows nothing of it: `libtare_any.so` is preloaded, and defines functions
//! of the C library in front of the C library's own. Each calls the real function and records what it did.
//!
//! docs/anyserver.md describes what is recorded and what is not.
//!
//! | module | what it has |
//! |---|---|
//! | memory | the function that locks the program's memory |
//! | signals | the functions that set the action for SIGBUS |
//! | hooks | the functions that the program calls: files, sockets, polls and sleeps, threads, locks |
//! | start | recognises the program, starts the engine, reads options |
//! | client | a client's connection: its session and its commands |
//! | resp | the protocol of Redis and Valkey |
//! | memcache | the protocols of memcached |
//! | postgres | the protocol of PostgreSQL |
//! | http | the protocol of nginx's clients |
//! | mysql | the protocol of MySQL and MariaDB |
//! | session | a client's session, and what is common to the protocols |
//! | parts | bytes that come in parts |
//! | request, text | a request's arguments; as text, and normalised |
//! | descriptors | what is open under each file descriptor |
//! | backend | what PostgreSQL's processes publish: wait events and roles |
//! | nginx | the roles of nginx's processes |
//! | tls | which connection a call of the TLS library serves |
//! | imports | functions of other libraries that the program calls, and Tare replaces |
//! | exports | what the program exports |
//! | sites | the places of the program's code that take locks |
//! | names | classes of instruments, by the program's name |
//! | upstream | for which client's request a connection to an upstream server is used |
//! | turn | what a thread reads and executes between two polls |
//! | calls | whether the calling thread is inside of Tare; errno; panics |
//! | real | the C library's own functions |
//!
//! A module uses those in lines below its own.
//!
//! # Safety
//!
//! The program calls the `extern "C-unwind"` functions as the C library declares them. The SAFETY comments of
//! this crate cite these rules:
//!
//! 1. A function that `real!` finds under a name has the type that the C library declares for this name.
//! 2. The arguments are those of the C library's function, and are passed on unchanged. The program fulfils
//!    what that function requires of them.
//! 3. After a call that succeeded, the memory that it read or wrote is readable for as many bytes as it
//!    returned, until the program's call returns.
//! 4. A C string that a successful call was given is readable up to its zero.
//! 5. A thread's cancellation (pthread_cancel) unwinds from within a real function. No value with a
//!    destructor lives in a frame around such a call, or in one that a signal handler interrupts outside of
//!    Tare. A thread that is inside of Tare is not cancelled.
//! 6. Where the dynamic linker has written the address of a function for the program, there is an aligned
//!    word of the program's data. Its page is writable, or the dynamic linker has made it read-only. The
//!    address there is that of a function with the type that its library declares.

// The contract of the `extern "C-unwind"` functions is the C library's: see above.
#![allow(clippy::missing_safety_doc)]

mod backend;
mod calls;
mod client;
mod descriptors;
mod exports;
mod hooks;
mod http;
mod imports;
mod memcache;
mod memory;
mod mysql;
mod names;
mod nginx;
mod parts;
mod postgres;
#[cfg(test)]
mod random;
mod real;
mod request;
mod resp;
mod session;
mod signals;
mod sites;
mod start;
mod text;
mod tls;
mod turn;
mod upstream;

/// Memory of Tare's own. The program's malloc cannot be used: a signal handler may call a function of
/// [`hooks`] while the thread that it interrupted is inside of malloc.
#[global_allocator]
static MEMORY: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// The dynamic linker runs it before `main` when the library is preloaded.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = constructor;

/// The dynamic linker runs it when the program ends by itself.
#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destructor;

extern "C" fn destructor() {
    // `None`: a signal handler has ended the program, in the middle of Tare's code.
    calls::observe(engine::stop);
}

extern "C" fn constructor() {
    real::resolve_all();
    // In the program of this crate's tests there is nothing to observe.
    if !cfg!(test) {
        start::open();
        hooks::tls::open();
        hooks::locks::open();
    }
}
