//! Reads what a client gets.

use super::messages::{Message, Messages, NotUnderstood};

/// The most bytes of a message that are stored.
const MAX_BODY_BYTES: usize = 4096;

/// What the server has sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply<'b> {
    /// The answer to a request for encryption: whether what follows is encrypted.
    Encryption(bool),
    /// The client is who it says.
    Authenticated,
    /// A parameter of the session has this value.
    Parameter(&'b [u8], &'b [u8]),
    /// Parse, Bind and Close are done.
    Parsed,
    Bound,
    Closed,
    /// The rows' columns, or that there are no rows.
    Description,
    /// A statement is done: its command tag, and how many rows were sent.
    Complete(&'b [u8], u64),
    /// An empty query is done.
    Empty,
    /// As many rows were sent as requested, and there may be more.
    Suspended(u64),
    /// An error: SQLSTATE and message, and how many rows were sent before.
    Error(&'b [u8], &'b [u8], u64),
    /// A warning.
    Warning,
    /// A COPY reads from the client, or writes to it.
    CopyIn,
    CopyOut,
    /// The connection is a stream of replication.
    CopyBoth,
    /// A function has returned.
    FunctionResult,
    /// The server waits for a request; whether a transaction is open: `I`, `T` or `E`.
    Ready(u8),
}

/// Reads replies, in parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    /// Whether the next byte answers a request for encryption.
    awaits_encryption: bool,
    messages: Messages,
    /// Rows since the last statement's end.
    rows: u64,
}

impl Parser {
    /// The next byte answers a request for encryption.
    pub fn await_encryption(&mut self) {
        self.awaits_encryption = true;
    }

    /// Whether the next byte begins a message, and no row was sent since the last statement's end.
    pub fn is_at_start(&self) -> bool {
        !self.awaits_encryption && self.rows == 0 && self.messages.is_at_start()
    }

    /// Reads bytes.
    pub fn read(
        &mut self,
        mut bytes: &[u8],
        mut report: impl FnMut(Reply),
    ) -> Result<(), NotUnderstood> {
        if std::mem::take(&mut self.awaits_encryption)
            // An old server answers with an error message.
            && let [answer @ (b'S' | b'G' | b'N'), rest @ ..] = bytes
        {
            report(Reply::Encryption(*answer != b'N'));
            bytes = rest;
        }
        while let Some(message) = self.messages.next(&mut bytes, stored_bytes)? {
            read_message(&message, &mut self.rows, &mut report)?;
        }
        Ok(())
    }
}

/// How many bytes of a message of this type are stored.
fn stored_bytes(kind: u8) -> Option<usize> {
    match kind {
        b'C' | b'E' | b'N' | b'S' | b'R' | b'Z' => Some(MAX_BODY_BYTES),
        _ => kind.is_ascii_alphanumeric().then_some(0),
    }
}

/// A message is complete. `rows`: since the last statement's end.
fn read_message(
    message: &Message,
    rows: &mut u64,
    report: &mut impl FnMut(Reply),
) -> Result<(), NotUnderstood> {
    let body = message.body;
    let reply = match message.kind {
        // Rows are many, and only counted.
        b'D' => {
            *rows += 1;
            return Ok(());
        }
        b'R' if body == [0; 4] => Reply::Authenticated,
        b'S' => {
            let mut texts = body.split(|&byte| byte == 0);
            match (texts.next(), texts.next()) {
                (Some(name), Some(value)) => Reply::Parameter(name, value),
                _ => return Err(NotUnderstood),
            }
        }
        b'1' => Reply::Parsed,
        b'2' => Reply::Bound,
        b'3' => Reply::Closed,
        b'T' | b'n' => Reply::Description,
        b'C' => {
            let tag = body.split(|&byte| byte == 0).next().unwrap_or_default();
            Reply::Complete(tag, std::mem::take(rows))
        }
        b'I' => Reply::Empty,
        b's' => Reply::Suspended(std::mem::take(rows)),
        b'E' => {
            let field = |kind| field(body, kind).unwrap_or_default();
            Reply::Error(field(b'C'), field(b'M'), std::mem::take(rows))
        }
        b'N' => match field(body, b'V').or(field(body, b'S')) {
            Some(b"WARNING") => Reply::Warning,
            _ => return Ok(()),
        },
        b'G' => Reply::CopyIn,
        b'H' => Reply::CopyOut,
        b'W' => Reply::CopyBoth,
        b'V' => Reply::FunctionResult,
        b'Z' => Reply::Ready(*body.first().ok_or(NotUnderstood)?),
        _ => return Ok(()),
    };
    report(reply);
    Ok(())
}

/// The text of a field of an error or a notice.
fn field(body: &[u8], kind: u8) -> Option<&[u8]> {
    let mut fields = body.split(|&byte| byte == 0);
    fields.find_map(|field| field.strip_prefix(&[kind]))
}

#[cfg(test)]
mod tests {
    use super::super::messages::message;
    use super::*;
    use crate::random::read_in_all_parts;

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let messages = [
            message(b'R', &[0; 4]),
            message(b'S', b"client_encoding\0UTF8\0"),
            message(b'S', b""),
            message(b'Z', b"I"),
            message(b'Z', b""),
            message(b'D', b"row"),
            message(b'C', b"SELECT 1\0"),
            message(b'C', b""),
            message(b'N', b"VWARNING\0Mx\0\0"),
            message(b'E', b"C22012\0Mdivision by zero\0\0"),
            message(b'E', b"\0\0\0"),
            message(b's', b""),
            b"C\x7f\xff\xff\xff".to_vec(),
            b"N\0\xff".to_vec(),
        ];
        let messages = messages.each_ref().map(Vec::as_slice);
        read_in_all_parts(&messages, 300, |parts| {
            let (mut parser, mut all) = (Parser::default(), Vec::new());
            let is_read = parts.iter().all(|part| {
                let read = parser.read(part, |reply| all.push(format!("{reply:?}")));
                read.is_ok()
            });
            (all, is_read)
        });
    }

    #[test]
    fn replies_are_read_in_parts_of_every_size() {
        let long = vec![b'x'; 10_000];
        let bytes = [
            b"N".to_vec(),
            message(b'R', &[0, 0, 0, 5, 1, 2, 3, 4]),
            message(b'R', &[0; 4]),
            message(b'S', b"client_encoding\0UTF8\0"),
            message(b'K', &[1; 8]),
            message(b'Z', b"I"),
            message(b'1', b""),
            message(b'2', b""),
            message(b't', &[0; 6]),
            message(b'T', &long),
            message(b'D', &long),
            message(b'D', b""),
            message(b'C', b"SELECT 2\0"),
            message(b'N', b"SWARNUNG\0VWARNING\0C01000\0Mx\0\0"),
            message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mx\0\0"),
            message(b'D', b""),
            message(b'E', b"SERROR\0VERROR\0C22012\0Mdivision by zero\0\0"),
            message(b'Z', b"E"),
            message(b'G', &[0; 3]),
            message(b'd', &long),
            message(b'I', b""),
            message(b's', b""),
        ]
        .concat();
        let mut first = None;
        for size in [1, 2, 3, 7, 8192, bytes.len()] {
            let mut parser = Parser::default();
            parser.await_encryption();
            let mut all = Vec::new();
            for part in bytes.chunks(size) {
                let result = parser.read(part, |reply| all.push(format!("{reply:?}")));
                assert!(result.is_ok() && parser.messages.stored() <= MAX_BODY_BYTES);
            }
            assert_eq!(all.len(), 14, "{all:?}");
            let tag = format!("{:?}", Reply::Complete(b"SELECT 2", 2));
            let error = format!("{:?}", Reply::Error(b"22012", b"division by zero", 1));
            assert!(all.contains(&tag) && all.contains(&error), "{all:?}");
            assert_eq!(&all, first.get_or_insert_with(|| all.clone()));
        }
        for bytes in [
            &b"\x16\x03\x01\0\0"[..],
            b"C\0\0\0\x03",
            b"C\xff\0\0\0",
            b"Z\0\0\0\x04",
        ] {
            assert!(Parser::default().read(bytes, |_| {}).is_err(), "{bytes:?}");
        }
    }
}
