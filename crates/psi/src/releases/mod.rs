//! The releases of servers that Tare serves: the offsets of their structures, and their entries.
//!
//! The offsets are our own declarations of facts about the server's structures.
//! The tests of crates/cli (`door`) compare them with what real servers show.

pub mod entry;
mod functions;
mod mariadb;
pub mod mariadb1011;
pub mod mariadb114;
pub mod mariadb118;
pub mod mysql56;
pub mod mysql57;
pub mod mysql80;
pub mod mysql97;
mod mysql97_signatures;

use entry::ServerHooks;
use tare_image::Release;

/// The structures and entries of a release.
pub fn hooks(release: Release) -> &'static ServerHooks {
    match release {
        Release::Mysql56 => &mysql56::HOOKS,
        Release::Mysql57 => &mysql57::HOOKS,
        Release::Mysql80 => &mysql80::HOOKS,
        Release::Mysql97 => &mysql97::HOOKS,
        Release::Mariadb1011 => &mariadb1011::HOOKS,
        Release::Mariadb114 => &mariadb114::HOOKS,
        Release::Mariadb118 => &mariadb118::HOOKS,
    }
}
