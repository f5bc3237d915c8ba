//! Columns of a result as the protocol describes them.

use mysql_common::constants::{ColumnFlags, ColumnType};

use super::bytes::put_lenenc_str;

/// `binary`: numbers and bytes.
pub const CHARSET_BINARY: u16 = 63;
/// `utf8mb4_general_ci`: texts, of which a character has at most four bytes. A client gets them in its own
/// character set.
pub const CHARSET_UTF8MB4: u16 = 45;
/// `utf8mb3_general_ci`: names that MySQL computes, and values of system variables.
pub const CHARSET_UTF8MB3: u16 = 33;
/// Decimals of a floating-point value that has no fixed number of them.
pub const NOT_FIXED: u8 = 31;

/// The type of a column on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireType {
    /// MySQL's type code.
    pub code: ColumnType,
    /// UNSIGNED, NOT_NULL and the like.
    pub flags: ColumnFlags,
    /// The number of a collation of its values' character set in MySQL. Texts of system tables may be utf8mb3; a
    /// client sees that only if nothing converts its texts.
    pub charset: u16,
    /// Display width in bytes. A column of TEXT or BLOB has the most bytes of its values.
    pub length: u32,
    /// Digits after the point.
    pub decimals: u8,
}

impl WireType {
    /// A number of a type and width.
    pub const fn number(code: ColumnType, length: u32) -> Self {
        Self {
            code,
            flags: ColumnFlags::BINARY_FLAG,
            charset: CHARSET_BINARY,
            length,
            decimals: 0,
        }
    }

    /// BIGINT.
    pub const fn bigint() -> Self {
        Self::number(ColumnType::MYSQL_TYPE_LONGLONG, 20)
    }

    /// BIGINT UNSIGNED.
    pub fn bigint_unsigned() -> Self {
        let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG;
        Self {
            flags,
            ..Self::bigint()
        }
    }

    /// DOUBLE.
    pub const fn double() -> Self {
        Self {
            decimals: NOT_FIXED,
            ..Self::number(ColumnType::MYSQL_TYPE_DOUBLE, 23)
        }
    }

    /// DECIMAL with a number of digits after the point.
    pub const fn decimal(length: u32, decimals: u8) -> Self {
        Self {
            decimals,
            ..Self::number(ColumnType::MYSQL_TYPE_NEWDECIMAL, length)
        }
    }

    /// VARCHAR of a number of characters, in utf8mb3.
    pub const fn name(characters: u32) -> Self {
        Self {
            charset: CHARSET_UTF8MB3,
            ..Self::text(characters)
        }
    }

    /// VARCHAR of a number of characters.
    pub const fn text(characters: u32) -> Self {
        Self {
            code: ColumnType::MYSQL_TYPE_VAR_STRING,
            flags: ColumnFlags::empty(),
            charset: CHARSET_UTF8MB4,
            length: characters.saturating_mul(4),
            decimals: NOT_FIXED,
        }
    }

    /// BLOB.
    pub const fn blob() -> Self {
        Self::number(ColumnType::MYSQL_TYPE_BLOB, u32::MAX)
    }

    /// NULL: the type of an expression without a value.
    pub const fn null() -> Self {
        Self::number(ColumnType::MYSQL_TYPE_NULL, 0)
    }

    /// Whether values are texts or bytes of a type whose length counts bytes: TEXT, BLOB and their like.
    pub const fn is_long_text(&self) -> bool {
        matches!(
            self.code,
            ColumnType::MYSQL_TYPE_TINY_BLOB
                | ColumnType::MYSQL_TYPE_BLOB
                | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
                | ColumnType::MYSQL_TYPE_LONG_BLOB
        )
    }

    /// Whether values are unsigned.
    #[inline]
    pub const fn is_unsigned(&self) -> bool {
        self.flags.contains(ColumnFlags::UNSIGNED_FLAG)
    }
}

/// The character set of the texts that a client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextCharset {
    /// The number of a collation.
    pub collation: u16,
    /// The bytes of its longest character.
    pub character_bytes: u32,
    /// Texts are not converted: columns have the character set that they have in the server.
    pub is_original: bool,
}

impl Default for TextCharset {
    fn default() -> Self {
        Self {
            collation: 255,
            character_bytes: 4,
            is_original: false,
        }
    }
}

impl TextCharset {
    /// The number of the collation and the length of a column's values in this character set.
    fn of(self, wire: &WireType) -> (u16, u32) {
        if wire.charset == CHARSET_BINARY {
            return (wire.charset, wire.length);
        }
        if self.is_original {
            return original(wire);
        }
        let length = match wire.is_long_text() {
            true => wire.length.saturating_mul(self.character_bytes),
            false => (wire.length / 4).saturating_mul(self.character_bytes),
        };
        (self.collation, length)
    }
}

/// The number of a text's collation and its length in bytes, in its own character set.
fn original(wire: &WireType) -> (u16, u32) {
    match (wire.charset, wire.is_long_text()) {
        (CHARSET_UTF8MB4, _) => (TextCharset::default().collation, wire.length),
        (charset, true) => (charset, wire.length),
        (charset, false) => (charset, wire.length / 4 * 3),
    }
}

/// What clients get of a column of a system table or of SHOW, beside its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Its type.
    pub wire: WireType,
    /// The database; empty if it is computed.
    pub schema: &'static str,
    /// The name of its table or view in the statement.
    pub table: &'static str,
    /// The table that it is from.
    pub org_table: &'static str,
    /// Its name in the table, if it is another one.
    pub org_name: Option<&'static str>,
}

/// A column of a result.
#[derive(Debug, Clone)]
pub struct Column<'a> {
    /// The database, empty for an expression.
    pub schema: &'a str,
    /// The table's alias.
    pub table: &'a str,
    /// The table.
    pub org_table: &'a str,
    /// What the client sees as its name.
    pub name: &'a str,
    /// The column's name in the table.
    pub org_name: &'a str,
    /// Its type.
    pub wire: WireType,
}

impl Column<'_> {
    /// Appends the column's definition for a client.
    pub fn put(&self, out: &mut Vec<u8>, charset: TextCharset) {
        let (collation, length) = charset.of(&self.wire);
        put_lenenc_str(out, b"def");
        for text in [
            self.schema,
            self.table,
            self.org_table,
            self.name,
            self.org_name,
        ] {
            put_lenenc_str(out, text.as_bytes());
        }
        out.push(0x0c);
        out.extend_from_slice(&collation.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.push(self.wire.code as u8);
        out.extend_from_slice(&self.wire.flags.bits().to_le_bytes());
        out.push(self.wire.decimals);
        out.extend_from_slice(&[0, 0]);
    }
}
