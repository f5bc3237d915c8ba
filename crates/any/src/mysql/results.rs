//! What a server's packets say about the outcome of a statement.

use super::packets::Fields;

/// Bits of the status.
pub mod status {
    /// Another result follows.
    pub const MORE_RESULTS: u16 = 1 << 3;
    pub const CURSOR_EXISTS: u16 = 1 << 6;
    pub const NO_BACKSLASH_ESCAPES: u16 = 1 << 9;
    pub const STATE_CHANGED: u16 = 1 << 14;
}

/// The first byte of a packet that ends rows.
pub const EOF: u8 = 0xfe;
/// The first byte of an error.
pub const ERROR: u8 = 0xff;
/// The number of an error that is none: MariaDB reports progress.
const PROGRESS: u64 = 0xffff;

/// The outcome of a statement that has not failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done<'b> {
    pub affected: u64,
    pub status: u16,
    pub warnings: u64,
    /// What has changed in the session: its new default database, and its character set.
    pub database: Option<&'b [u8]>,
    pub charset: Option<&'b [u8]>,
}

impl<'b> Done<'b> {
    /// Reads an OK packet. `tracks`: whether it may report what has changed in the session.
    pub fn parse_ok(body: &'b [u8], tracks: bool) -> Option<Self> {
        let mut fields = Fields(body);
        fields.bytes(1)?;
        let affected = fields.length()?;
        // The last inserted id.
        fields.length()?;
        let mut done = Self {
            affected,
            status: fields.number(2)? as u16,
            warnings: fields.number(2)?,
            ..Self::default()
        };
        if tracks && done.status & status::STATE_CHANGED != 0 {
            // The message.
            let _ = fields.counted();
            done.read_changes(Fields(fields.counted().unwrap_or_default()));
        }
        Some(done)
    }

    fn read_changes(&mut self, mut fields: Fields<'b>) {
        const VARIABLE: u64 = 0;
        const SCHEMA: u64 = 1;
        let mut next = || Some((fields.number(1)?, fields.counted()?));
        while let Some((kind, data)) = next() {
            let mut data = Fields(data);
            match kind {
                SCHEMA => self.database = data.counted(),
                VARIABLE if data.counted() == Some(b"character_set_client") => {
                    self.charset = data.counted();
                }
                _ => {}
            }
        }
    }

    /// Reads an EOF packet.
    pub fn parse_eof(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        fields.bytes(1)?;
        Some(Self {
            warnings: fields.number(2)?,
            status: fields.number(2)? as u16,
            ..Self::default()
        })
    }
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub number: u32,
    pub sqlstate: String,
    pub message: String,
}

impl Failure {
    /// `None`: it reports progress.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        fields.bytes(1)?;
        let number = fields.number(2).unwrap_or(0);
        if number == PROGRESS {
            return None;
        }
        let (sqlstate, message) = match fields.0 {
            [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
            rest => (&b"HY000"[..], rest),
        };
        Some(Self {
            number: number as u32,
            sqlstate: String::from_utf8_lossy(sqlstate).into_owned(),
            message: String::from_utf8_lossy(message).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read() {
        let changes = b"\x01\x05\x04shop\x00\x19\x14character_set_client\x03gbk";
        let body = [
            &b"\x00\x02\x07\x0a\x40\x03\x00\x00"[..],
            &[changes.len() as u8],
            changes,
        ]
        .concat();
        let expected = Done {
            affected: 2,
            status: status::STATE_CHANGED | 10,
            warnings: 3,
            database: Some(b"shop"),
            charset: Some(b"gbk"),
        };
        assert_eq!(Done::parse_ok(&body, true), Some(expected));
        let expected = Done {
            database: None,
            charset: None,
            ..expected
        };
        assert_eq!(Done::parse_ok(&body, false), Some(expected));
        for end in 0..body.len() {
            Done::parse_ok(&body[..end], true);
        }
        let eof = Done::parse_eof(b"\xfe\x01\x00\x08\x00").expect("an end");
        assert_eq!((eof.warnings, eof.status), (1, status::MORE_RESULTS));
        let failure = Failure::parse(b"\xff\x28\x04#42000no").expect("an error");
        assert_eq!((failure.number, &*failure.sqlstate), (1064, "42000"));
        assert_eq!(failure.message, "no");
        assert_eq!(Failure::parse(b"\xff\xff\xff\x01\x01\x02"), None);
    }
}
