//! Where a release's structures have the fields that Tare reads: those of tables, metadata locks, digests and
//! diagnostics areas differ between releases in their offsets only.

use std::borrow::Cow;
use std::ffi::c_void;

use engine::Namespace;

use super::text::{c_text, field, text};

/// The longest name of a schema or table: 64 characters of three bytes.
const MAX_NAME_BYTES: usize = 192;
/// The size in bytes of a diagnostics area's message in all releases: MYSQL_ERRMSG_SIZE.
const MAX_MESSAGE_BYTES: usize = 512;

/// A release's offsets, in bytes from the beginning of each structure.
#[derive(Debug)]
pub struct Fields {
    /// A TABLE_SHARE.
    pub share: Share,
    /// A Diagnostics_area.
    pub area: Area,
    /// A sql_digest_storage.
    pub digest: Digest,
    /// A metadata lock's key.
    pub key: Key,
}

/// Offsets of a TABLE_SHARE and its KEYs.
#[derive(Debug)]
#[allow(missing_docs, reason = "named after what lies there")]
pub struct Share {
    pub keys: usize,
    pub key_bytes: usize,
    pub key_name: usize,
    /// Whether a key's name has a length; else it is a C string.
    pub key_name_is_counted: bool,
    /// Text and length.
    pub schema: (usize, usize),
    /// Text and length.
    pub name: (usize, usize),
    pub key_count: usize,
    /// Bytes that are not 0 in shares that are not instrumented: views, and shares that are no base tables.
    pub excluded_if: &'static [usize],
}

/// Offsets of a Diagnostics_area, and its statuses.
#[derive(Debug)]
#[allow(missing_docs, reason = "named after what lies there")]
pub struct Area {
    pub status: usize,
    pub message: usize,
    pub sqlstate: usize,
    pub number: usize,
    pub rows: usize,
    pub warnings: usize,
    /// The statuses of a statement that changed rows.
    pub changed: &'static [u32],
    /// The statuses of a statement that returned rows.
    pub gave: &'static [u32],
    /// The status of a statement that failed.
    pub failed: u32,
}

/// The tokens that a server's parser stored for a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens<'a> {
    /// No tokens: the statement has no digest.
    None,
    /// Only the first tokens, up to `max_digest_length`: other statements may begin with them, too.
    Some,
    /// All tokens.
    All(&'a [u8]),
}

/// Offsets of a sql_digest_storage.
#[derive(Debug)]
#[allow(missing_docs, reason = "named after what lies there")]
pub struct Digest {
    pub is_full: usize,
    /// The bytes of tokens. The lower four bytes of this number are read.
    pub bytes: usize,
    pub tokens: usize,
}

/// Offsets of a metadata lock's key. It begins with its length (two bytes) and the schema's (two); after
/// other fields follow kind, schema, 0, name, 0.
#[derive(Debug)]
pub struct Key {
    /// The kind's offset. The bytes from here on identify the key.
    pub kind: usize,
    /// The kinds by number.
    pub namespaces: &'static [Namespace],
}

/// How a statement ended, from the server's diagnostics area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The area has no result.
    Unknown,
    /// The statement changed rows.
    Changed {
        /// The number of rows.
        rows: u64,
        /// Its warnings.
        warnings: u32,
    },
    /// The statement returned rows.
    Gave {
        /// Its warnings.
        warnings: u32,
    },
    /// The statement failed.
    Failed {
        /// The error's number.
        number: u32,
        /// Five characters.
        sqlstate: &'a [u8],
        /// The error's text.
        message: &'a [u8],
    },
}

/// A table's names.
#[derive(Clone, Debug)]
pub struct TableShare<'a> {
    /// Its schema.
    pub schema: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// The names of its indexes, by number.
    pub indexes: Vec<Cow<'a, str>>,
}

impl Fields {
    /// The names of a table and of its indexes; `None` = it is not instrumented.
    ///
    /// # Safety
    /// `at` is NULL or a table's share of this release.
    pub unsafe fn table_share<'a>(&self, at: *const c_void) -> Option<TableShare<'a>> {
        let share = &self.share;
        // SAFETY: rule 8 (a TABLE_SHARE of this release, with so many KEYs).
        unsafe {
            if at.is_null() || share.excluded_if.iter().any(|i| field::<u8>(at, *i) != 0) {
                return None;
            }
            let keys: *const c_void = field(at, share.keys);
            let count = match keys.is_null() {
                true => 0,
                false => field::<u32>(at, share.key_count).min(64) as usize,
            };
            let name = |i| {
                let at = i * share.key_bytes + share.key_name;
                match share.key_name_is_counted {
                    true => text_at(keys, at, at + size_of::<usize>()),
                    false => c_text(field(keys, at)),
                }
            };
            Some(TableShare {
                schema: text_at(at, share.schema.0, share.schema.1),
                name: text_at(at, share.name.0, share.name.1),
                indexes: (0..count).map(name).collect(),
            })
        }
    }

    /// The locked object of a metadata lock: its kind, schema and name.
    ///
    /// # Safety
    /// `key` is NULL or a metadata lock's key of this release.
    pub unsafe fn metadata_key<'a>(
        &self,
        key: *const c_void,
    ) -> Option<(Namespace, Cow<'a, str>, Cow<'a, str>)> {
        if key.is_null() {
            return None;
        }
        // SAFETY: rule 8 (a key of this release).
        unsafe {
            let length = usize::from(field::<u16>(key, 0));
            let schema = usize::from(field::<u16>(key, 2)).min(MAX_NAME_BYTES);
            let kind = usize::from(field::<u8>(key, self.key.kind));
            let on = *self.key.namespaces.get(kind)?;
            let at = key.cast::<u8>().add(self.key.kind + 1);
            let name = length.saturating_sub(schema + 3).min(MAX_NAME_BYTES);
            let (schema, name) = (
                text(at.cast(), schema),
                text(at.add(schema + 1).cast(), name),
            );
            // MariaDB has the name of a lock of GET_LOCK in the place of the schema.
            Some(match on {
                Namespace::UserLevelLock if name.is_empty() => (on, name, schema),
                _ => (on, schema, name),
            })
        }
    }

    /// The bytes that identify the locked object.
    ///
    /// # Safety
    /// As [`Fields::metadata_key`].
    pub unsafe fn metadata_bytes<'a>(&self, key: *const c_void) -> &'a [u8] {
        if key.is_null() {
            return &[];
        }
        // SAFETY: rule 8 (a key of this release: so many bytes, at most two names, a kind and two zeros).
        unsafe {
            let length = usize::from(field::<u16>(key, 0)).min(2 * MAX_NAME_BYTES + 3);
            std::slice::from_raw_parts(key.cast::<u8>().add(self.key.kind), length)
        }
    }

    /// The tokens that the server's parser stored.
    ///
    /// # Safety
    /// `storage` is NULL or a digest's storage of this release.
    #[unsafe(link_section = "tare_hot")]
    pub unsafe fn tokens<'a>(&self, storage: *const c_void) -> Tokens<'a> {
        if storage.is_null() {
            return Tokens::None;
        }
        // SAFETY: rule 8 (a digest storage of this release).
        unsafe {
            let at = field::<*const u8>(storage, self.digest.tokens);
            let bytes = field::<u32>(storage, self.digest.bytes) as usize;
            match field::<u8>(storage, self.digest.is_full) {
                _ if at.is_null() || bytes == 0 => Tokens::None,
                0 => Tokens::All(std::slice::from_raw_parts(at, bytes)),
                _ => Tokens::Some,
            }
        }
    }

    /// How a statement ended.
    ///
    /// # Safety
    /// `at` is NULL or a diagnostics area of this release.
    #[inline(always)]
    pub unsafe fn outcome<'a>(&self, at: *const c_void) -> Outcome<'a> {
        if at.is_null() {
            return Outcome::Unknown;
        }
        let area = &self.area;
        // SAFETY: rule 8 (a diagnostics area of this release).
        unsafe {
            let warnings = field::<u32>(at, area.warnings);
            let status = field::<u32>(at, area.status);
            if area.changed.contains(&status) {
                let rows = field(at, area.rows);
                Outcome::Changed { rows, warnings }
            } else if area.gave.contains(&status) {
                Outcome::Gave { warnings }
            } else if status == area.failed {
                Outcome::Failed {
                    number: field(at, area.number),
                    sqlstate: until_zero(at, area.sqlstate, 5),
                    message: until_zero(at, area.message, MAX_MESSAGE_BYTES),
                }
            } else {
                Outcome::Unknown
            }
        }
    }
}

/// A text whose address and length are at these offsets.
///
/// # Safety
/// As [`field`], and the text is readable as long as `'a` lasts.
unsafe fn text_at<'a>(base: *const c_void, at: usize, length: usize) -> Cow<'a, str> {
    // SAFETY: rule 8 (a text and its length are at these offsets).
    unsafe { text(field(base, at), field::<usize>(base, length)) }
}

/// The bytes up to a zero, at most `most`.
///
/// # Safety
/// `base` has so many bytes at `offset`, as long as `'a` lasts.
#[inline(never)]
unsafe fn until_zero<'a>(base: *const c_void, offset: usize, most: usize) -> &'a [u8] {
    // SAFETY: rule 8 (a key of this release: so many bytes, at most two names, a kind and two zeros).
    let bytes = unsafe { std::slice::from_raw_parts(base.cast::<u8>().add(offset), most) };
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(most);
    &bytes[..length]
}
