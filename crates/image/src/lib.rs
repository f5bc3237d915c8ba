//! What a server's program file tells about itself: which release of MySQL or MariaDB it is, its version and
//! build-id, and where its functions are. The file is read, and never believed further than it can be
//! checked. [`options`] alone runs it, to ask which options its files give it.
//!
//! Used from two sides: `tare run` asks whether to preload libtare_psi.so, and the library, inside the
//! server, asks where to put its functions.

mod elf;
pub mod options;
mod protocol;
mod release;
mod table;

pub use elf::{Image, ImageError, Symbol, unmangled};
pub use protocol::{
    CHECK_VARIABLE, PRELOAD, REFUSED, REQUIRE_VARIABLE, is_called_like_a_server,
    only_tells_or_initialises,
};
pub use release::{Recognition, Release, Server};
pub use table::{Table, TableError};
