//! Reads a server's program file: its release of MySQL or MariaDB, its version and build-id, and where its
//! functions are. Nothing in the file is trusted further than it can be checked. Only [`options`] runs the
//! program, to ask which options its files give it.
//!
//! It has two users: `tare run` asks whether to preload libtare_psi.so, and that library, inside the server,
//! asks where to write its jumps.

mod elf;
pub mod options;
mod protocol;
mod release;
mod table;

pub use elf::{Image, ImageError, Symbol, unmangled};
pub use protocol::{
    CHECK_VARIABLE, PRELOAD, REFUSED, REQUIRE_VARIABLE, has_server_name, is_short_lived,
};
pub use release::{Recognition, Release, Server};
pub use table::{Table, TableError};
