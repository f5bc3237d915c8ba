//! The MySQL door: Tare's engine behind the Performance Schema interface of an unmodified server.
//!
//! `libtare_psi.so` is preloaded into mysqld or mariadbd. Before `main` it finds out which series the
//! server is of, and puts its own functions in the place of all those that the server's instrument
//! points call, or of none ([`hook`]). docs/door.md tells how it fits together.
//!
//! | room | what is there |
//! |---|---|
//! | hook | recognises the server, finds the entries, patches them all or none |
//! | series | per series of servers: its structures that cross the interface, and its entries |
//! | door | what each call means in Tare's engine, written once |

// The functions' contracts are the interface's: docs/door.md has them.
#![allow(clippy::missing_safety_doc)]

pub mod door;
pub mod hook;
pub mod host;
pub mod series;

/// Run by the dynamic linker before `main`, when the library is preloaded. A program that uses the
/// rlib (a test) is not meant: there it finds no server's symbols and does nothing.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = constructor;

extern "C" fn constructor() {
    hook::open();
}
