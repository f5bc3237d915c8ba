//! Reads a server's program file: its release of MySQL or MariaDB, its version and build-id, and where its
//! functions are. Nothing in the file is trusted further than it can be checked. Only [`options`] runs the
//! program, which then prints the options from its option files.
//!
//! It has three users: `tare run` decides which library to preload, libtare_psi.so, inside the server, finds where
//! to write its jumps, and libtare_any.so leaves programs alone that use Tare themselves.

mod demangle;
mod elf;
mod functions;
mod imports;
mod linkage;
pub mod options;
mod preload;
mod protocol;
mod release;
mod table;

pub use demangle::MAX_FUNCTION_BYTES;
pub use elf::{Image, ImageError, Symbol, unmangled};
pub use functions::{Functions, Place};
pub use imports::{Entry, Imports, imports_tls};
pub use linkage::Linkage;
pub use preload::{engine_options, report_ignored, unset_preload};
pub use protocol::{
    CHECK_VARIABLE, CommandProtocol, OPTIONS_VARIABLE, PRELOAD, PROGRAM_VARIABLE, REFUSED,
    REQUIRE_VARIABLE, command_protocol, has_server_name, is_launcher, is_short_lived, short_name,
};
pub use release::{Recognition, Release, Server};
pub use table::{Table, TableError};
