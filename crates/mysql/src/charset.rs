//! Character sets and collations.
//!
//! Texts are read as UTF-8, whatever character set a client names. That is safe only where each byte below
//! 0x80 is an ASCII character and never a part of another one. In gbk `0xb5 0x5c` is one character, so a
//! client leaves its second byte, a backslash, as it is.

use mysql_common::collations::{Collation as ForeignCollation, CollationId};

use crate::error::{Result, SqlError};
use crate::wire::column::TextCharset;

/// A character set.
#[derive(Debug)]
pub struct Charset {
    /// Its name.
    pub name: &'static str,
    /// Its default collation.
    pub collation: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The most bytes of a character.
    pub bytes: u32,
}

/// The character sets that clients may name.
#[rustfmt::skip] // One character set, one line.
pub const CHARSETS: &[Charset] = &[
    Charset { name: "latin1", collation: "latin1_swedish_ci", description: "cp1252 West European", bytes: 1 },
    Charset { name: "ascii", collation: "ascii_general_ci", description: "US ASCII", bytes: 1 },
    Charset { name: "utf8", collation: "utf8_general_ci", description: "UTF-8 Unicode", bytes: 3 },
    Charset { name: "utf8mb4", collation: "utf8mb4_0900_ai_ci", description: "UTF-8 Unicode", bytes: 4 },
    Charset { name: "binary", collation: "binary", description: "Binary pseudo charset", bytes: 1 },
];

/// Whether clients may name a character set, in lower case. `utf8mb3` is the longer name of `utf8`.
pub fn is_supported(charset: &str) -> bool {
    charset == "utf8mb3" || CHARSETS.iter().any(|c| c.name == charset)
}

/// 1115 where [`is_supported`] is false. Decides for handshakes, SET NAMES and the variables of character sets.
pub fn check(charset: &str) -> Result<()> {
    match is_supported(charset) {
        true => Ok(()),
        false => Err(unknown_charset(charset)),
    }
}

/// The character set of the collation that a client names by MySQL's number. `None`: no collation has it.
pub fn of_collation_id(id: u16) -> Option<String> {
    // MariaDB's collations without padding have the number of the padded one and 1024.
    let id = match id {
        1024..2048 => id - 1024,
        _ => id,
    };
    match CollationId::from(id) {
        CollationId::UNKNOWN_COLLATION_ID => None,
        id => Some(ForeignCollation::resolve(id).charset().to_lowercase()),
    }
}

/// A collation.
#[derive(Debug)]
pub struct Collation {
    /// Its name.
    pub name: &'static str,
    /// Its character set.
    pub charset: &'static str,
    /// MySQL's number, which clients send at connect.
    pub id: u32,
    /// Whether it is its character set's default.
    pub default: bool,
    /// PAD_ATTRIBUTE: whether spaces at the end count.
    pub pad: &'static str,
    /// SORTLEN.
    pub sortlen: u32,
}

const fn collation(name: &'static str, charset: &'static str, id: u32, default: bool) -> Collation {
    Collation {
        name,
        charset,
        id,
        default,
        pad: "PAD SPACE",
        sortlen: 1,
    }
}

/// The collations that clients may name.
pub const COLLATIONS: &[Collation] = &[
    collation("latin1_swedish_ci", "latin1", 8, true),
    collation("latin1_bin", "latin1", 47, false),
    collation("ascii_general_ci", "ascii", 11, true),
    collation("ascii_bin", "ascii", 65, false),
    collation("utf8_general_ci", "utf8", 33, true),
    collation("utf8_bin", "utf8", 83, false),
    collation("utf8_unicode_ci", "utf8", 192, false),
    collation("utf8mb4_general_ci", "utf8mb4", 45, false),
    collation("utf8mb4_bin", "utf8mb4", 46, false),
    collation("utf8mb4_unicode_ci", "utf8mb4", 224, false),
    collation("utf8mb4_unicode_520_ci", "utf8mb4", 246, false),
    Collation {
        name: "utf8mb4_0900_ai_ci",
        charset: "utf8mb4",
        id: 255,
        default: true,
        pad: "NO PAD",
        sortlen: 0,
    },
    Collation {
        name: "binary",
        charset: "binary",
        id: 63,
        default: true,
        pad: "NO PAD",
        sortlen: 1,
    },
];

/// The character set of a client's texts, by its name; `collation` is the one that the client has named.
/// Without a conversion texts stay as they are.
pub fn text_charset(name: &str, collation: Option<u16>) -> TextCharset {
    let name = if name == "utf8mb3" { "utf8" } else { name };
    let bytes = CHARSETS.iter().find(|c| c.name == name).map(|c| c.bytes);
    let (Some(character_bytes), true) = (bytes, name != "binary") else {
        return TextCharset {
            is_original: true,
            ..TextCharset::default()
        };
    };
    let of_charset = |c: &&Collation| c.charset == name;
    let default = COLLATIONS.iter().filter(of_charset).find(|c| c.default);
    let named = collation.filter(|id| {
        let charset = of_collation_id(*id);
        *id < 1024 && charset.is_some_and(|c| c == name || name == "utf8" && c == "utf8mb3")
    });
    TextCharset {
        collation: named.unwrap_or_else(|| default.map_or(255, |c| c.id as u16)),
        character_bytes,
        is_original: false,
    }
}

/// MySQL's collations.
fn foreign_collations() -> impl Iterator<Item = ForeignCollation<'static>> {
    /// The last number of a collation in MySQL 9.7.
    const LAST_ID: u16 = 323;
    let ids = (1..=LAST_ID).map(CollationId::from);
    ids.filter(|id| *id != CollationId::UNKNOWN_COLLATION_ID)
        .map(ForeignCollation::resolve)
}

/// 1115 unless MySQL has a character set of this name.
pub fn check_name(charset: &str) -> Result<()> {
    let name = long_name(charset);
    match foreign_collations().any(|c| c.charset().eq_ignore_ascii_case(&name)) {
        true => Ok(()),
        false => Err(unknown_charset(charset)),
    }
}

/// 1273 unless MySQL has a collation of this name, and 1253 if it is of another character set.
pub fn check_collation(collation: &str, charset: Option<&str>) -> Result<()> {
    let name = long_name(collation);
    let is_named = |c: &ForeignCollation<'_>| c.collation().eq_ignore_ascii_case(&name);
    let own = foreign_collations().find(is_named);
    let own = own.ok_or_else(|| unknown_collation(collation))?;
    match charset {
        Some(charset) if !own.charset().eq_ignore_ascii_case(&long_name(charset)) => {
            Err(mismatched_collation(collation, charset))
        }
        _ => Ok(()),
    }
}

/// Whether texts compare byte by byte here, as by `utf8mb4_bin`.
pub fn compares_bytes(collation: &str) -> bool {
    let name = collation.to_ascii_lowercase();
    name == "binary" || name.ends_with("_bin") || name.ends_with("_cs")
}

/// 1273.
pub fn unknown_collation(collation: &str) -> SqlError {
    SqlError::new(1273, format!("Unknown collation: '{collation}'"))
}

/// 1253.
pub fn mismatched_collation(collation: &str, charset: &str) -> SqlError {
    let message = format!("COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'");
    SqlError::new(1253, message)
}

/// A name with `utf8mb3` for the older `utf8`.
fn long_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.strip_prefix("utf8") {
        Some(rest) if !rest.starts_with("mb") => format!("utf8mb3{rest}"),
        _ => lower,
    }
}

fn unknown_charset(charset: &str) -> SqlError {
    SqlError::new(1115, format!("Unknown character set: '{charset}'"))
}

/// The character set of a collation.
pub fn charset_of(collation: &str) -> Option<&'static str> {
    COLLATIONS
        .iter()
        .find(|c| c.name.eq_ignore_ascii_case(collation))
        .map(|c| c.charset)
}
