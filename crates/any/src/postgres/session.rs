//! A session's parameters: user, database, and what its client's texts mean.

use std::borrow::Cow;

use engine::Command as State;

use crate::session::Session;

/// The most bytes of a name. The server cuts longer ones.
pub const MAX_NAME_BYTES: usize = 63;

/// Encodings in which a byte of ASCII may be a part of another character, so that Tare cannot recognise
/// quotes.
const AMBIGUOUS_ENCODINGS: [&[u8]; 7] = [
    b"BIG5",
    b"GB18030",
    b"GBK",
    b"JOHAB",
    b"SHIFT_JIS_2004",
    b"SJIS",
    b"UHC",
];

/// A session's parameters.
#[derive(Debug, Default)]
pub struct Parameters {
    user: String,
    database: String,
    /// `application_name`, which the server reports without control characters.
    program: String,
    has_escapes: bool,
    is_ambiguous: bool,
    is_authenticated: bool,
}

impl Parameters {
    /// The client has sent the first ones. False: it sends no statements, but replicates.
    pub fn begin(&mut self, parameters: &[(&[u8], &[u8])]) -> bool {
        let value = |name: &str| {
            let mut values = parameters.iter().filter(|(of, _)| *of == name.as_bytes());
            values.next_back().map_or(&b""[..], |&(_, value)| value)
        };
        self.user = name(value("user"));
        self.database = match value("database") {
            b"" => self.user.clone(),
            database => name(database),
        };
        let replication = value("replication").to_ascii_lowercase();
        matches!(
            replication.as_slice(),
            b"" | b"0" | b"f" | b"false" | b"n" | b"no" | b"of" | b"off"
        )
    }

    /// The client is who it says.
    pub fn authenticate(&mut self, session: &mut Session) {
        self.is_authenticated = true;
        session.set_user(&self.user);
        session.set_database(&self.database);
        session.set_state(State::Sleep);
    }

    /// The server reports a parameter's value.
    pub fn set(&mut self, parameter: &[u8], value: &[u8], session: &mut Session) {
        match parameter {
            b"standard_conforming_strings" => self.has_escapes = value == b"off",
            b"client_encoding" => {
                let is_same = |encoding: &&[u8]| value.eq_ignore_ascii_case(encoding);
                self.is_ambiguous = AMBIGUOUS_ENCODINGS.iter().any(is_same);
            }
            b"application_name" if self.program.as_bytes() != value => {
                self.program = String::from_utf8_lossy(value).into_owned();
                session.set_attributes(&[("program_name", &self.program)]);
            }
            b"session_authorization" if self.is_authenticated && self.user.as_bytes() != value => {
                self.user = name(value);
                session.set_user(&self.user);
            }
            _ => {}
        }
    }

    /// Whether `\` escapes in strings without a prefix.
    pub fn has_escapes(&self) -> bool {
        self.has_escapes
    }

    /// A text that the client sends or gets. `None`: its encoding is not read.
    pub fn decode<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, str>> {
        match str::from_utf8(text) {
            _ if self.is_ambiguous => None,
            Ok(text) => Some(Cow::Borrowed(text)),
            Err(_) => Some(String::from_utf8_lossy(text)),
        }
    }
}

/// A name as the server cuts it.
fn name(name: &[u8]) -> String {
    let mut end = name.len().min(MAX_NAME_BYTES);
    // Within a character.
    while end < name.len() && end > 0 && name[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_the_user_is_the_database() {
        let mut parameters = Parameters::default();
        let long = "é".repeat(40);
        assert!(parameters.begin(&[(b"user", long.as_bytes()), (b"replication", b"off")]));
        assert_eq!(parameters.user, "é".repeat(31));
        assert_eq!(parameters.database, parameters.user);
        for replication in [&b"database"[..], b"true", b"1", b"on", b"yes"] {
            assert!(!parameters.begin(&[(b"user", b"a"), (b"replication", replication)]));
        }
    }
}
