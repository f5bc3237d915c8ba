//! Reads a server's program file: its release of MySQL or MariaDB, its version and build-id, and where its
//! functions are. Nothing in the file is trusted further than it can be checked. Only [`options`] runs the
//! program, which then prints the options from its option files.
//!
//! It has two users: `tare run` decides whether to preload libtare_psi.so, and that library, inside the server,
//! finds where to write its jumps.

mod elf;
pub mod options;
mod protocol;
mod release;
mod table;

pub use elf::{Image, ImageError, Symbol, unmangled};
pub use protocol::{
    CHECK_VARIABLE, OPTIONS_VARIABLE, PRELOAD, REFUSED, REQUIRE_VARIABLE, has_server_name,
    is_short_lived,
};
pub use release::{Recognition, Release, Server};
pub use table::{Table, TableError};
