//! The series of servers that are known: their structures and their entries.
//!
//! Structures are our own declarations, of facts: which field lies where in what the server hands over.
//! `tests/` compares them with what real servers show.

pub mod d1011;
pub mod d114;
pub mod d118;
mod fields;
mod functions;
mod info;
mod interface;
pub mod m56;
pub mod m57;
pub mod m80;
pub mod m97;
mod m97_signatures;
mod mariadb;

use crate::hook;

pub use fields::{Area, Digest, Fields, Key as MetadataKey, Outcome, Share, TableShare, Tokens};
pub use info::{DocumentedInfo, Info, PlainInfo, Registration, flag};
pub use interface::{Function, Interface};
use interface::{NAMESPACES, table_lock};

/// The structures and entries of a series.
pub fn of(series: tare_image::Series) -> &'static hook::ServerHooks {
    match series {
        tare_image::Series::Mysql56 => &m56::SERIES,
        tare_image::Series::Mysql57 => &m57::SERIES,
        tare_image::Series::Mysql80 => &m80::SERIES,
        tare_image::Series::Mysql97 => &m97::SERIES,
        tare_image::Series::Mariadb1011 => &d1011::SERIES,
        tare_image::Series::Mariadb114 => &d114::SERIES,
        tare_image::Series::Mariadb118 => &d118::SERIES,
    }
}
