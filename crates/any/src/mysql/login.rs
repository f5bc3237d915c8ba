//! The beginning of a session: the server's greeting, and what the client answers.

use super::packets::Fields;

/// What client and server can do: bits of the protocol.
pub mod capability {
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    pub const COMPRESS: u64 = 1 << 5;
    pub const PROTOCOL_41: u64 = 1 << 9;
    pub const TLS: u64 = 1 << 11;
    pub const SECURE_CONNECTION: u64 = 1 << 15;
    pub const MULTI_STATEMENTS: u64 = 1 << 16;
    pub const PLUGIN_AUTH: u64 = 1 << 19;
    pub const CONNECT_ATTRIBUTES: u64 = 1 << 20;
    pub const LONG_AUTH: u64 = 1 << 21;
    pub const SESSION_TRACK: u64 = 1 << 23;
    pub const DEPRECATE_EOF: u64 = 1 << 24;
    pub const OPTIONAL_METADATA: u64 = 1 << 25;
    pub const ZSTD: u64 = 1 << 26;
    pub const QUERY_ATTRIBUTES: u64 = 1 << 27;
    /// Of MariaDB: the definitions of a result's columns may be left out.
    pub const CACHE_METADATA: u64 = 1 << 36;
    /// Bits of MariaDB alone begin here.
    pub const MARIADB: u32 = 32;
}

use capability as has;

/// The version of the protocol.
const PROTOCOL_VERSION: u64 = 10;

/// The server's first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    pub connection_id: u64,
    pub capabilities: u64,
    pub is_mariadb: bool,
}

impl Greeting {
    /// `None`: it is none, or of an older protocol.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        if fields.number(1)? != PROTOCOL_VERSION {
            return None;
        }
        let version = fields.terminated();
        let connection_id = fields.number(4)?;
        // Eight bytes of the challenge, and a zero.
        fields.bytes(9)?;
        let low = fields.number(2)?;
        // The character set, and the status.
        fields.bytes(3)?;
        let high = fields.number(2)?;
        // The challenge's length, and six bytes that are reserved.
        fields.bytes(7)?;
        let mariadb = fields.number(4)?;
        let is_mariadb = version.windows(7).any(|part| part == b"MariaDB");
        let of_mariadb = match is_mariadb {
            true => mariadb << has::MARIADB,
            false => 0,
        };
        Some(Self {
            connection_id,
            capabilities: low | high << 16 | of_mariadb,
            is_mariadb,
        })
    }
}

/// Who the client says that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub database: String,
    pub charset: u16,
    /// Names and values.
    pub attributes: Vec<(String, String)>,
}

/// What the client answers to the greeting.
#[derive(Debug, PartialEq, Eq)]
pub enum Response {
    /// It begins TLS, and answers within it.
    Tls,
    /// It logs in, with these capabilities that both sides have.
    Login(Login, u64),
}

impl Response {
    /// `None`: it is none, or of an older protocol.
    pub fn parse(body: &[u8], greeting: &Greeting) -> Option<Self> {
        let mut fields = Fields(body);
        let mut capabilities = fields.number(4)?;
        // The longest packet.
        fields.bytes(4)?;
        let charset = fields.number(1)? as u16;
        fields.bytes(19)?;
        let of_mariadb = fields.number(4)?;
        if greeting.is_mariadb {
            capabilities |= of_mariadb << has::MARIADB;
        }
        capabilities &= greeting.capabilities;
        if capabilities & has::PROTOCOL_41 == 0 {
            return None;
        }
        if fields.0.is_empty() {
            return (capabilities & has::TLS != 0).then_some(Self::Tls);
        }
        let user = text(fields.terminated());
        match capabilities {
            bits if bits & has::LONG_AUTH != 0 => drop(fields.counted()?),
            bits if bits & has::SECURE_CONNECTION != 0 => {
                let length = fields.number(1)?;
                fields.bytes(length as usize)?;
            }
            _ => drop(fields.terminated()),
        }
        let database = match capabilities & has::CONNECT_WITH_DB {
            0 => String::new(),
            _ => text(fields.terminated()),
        };
        if capabilities & has::PLUGIN_AUTH != 0 {
            fields.terminated();
        }
        let attributes = match capabilities & has::CONNECT_ATTRIBUTES {
            0 => Vec::new(),
            _ => attributes(&mut fields),
        };
        let login = Login {
            user,
            database,
            charset,
            attributes,
        };
        Some(Self::Login(login, capabilities))
    }
}

impl Login {
    /// A client that becomes another user (COM_CHANGE_USER, without its first byte).
    pub fn parse_change(body: &[u8], capabilities: u64) -> Option<Self> {
        let mut fields = Fields(body);
        let user = text(fields.terminated());
        match capabilities & has::SECURE_CONNECTION {
            0 => drop(fields.terminated()),
            _ => {
                let length = fields.number(1)?;
                fields.bytes(length as usize)?;
            }
        }
        let database = text(fields.terminated());
        let charset = fields.number(2).unwrap_or(0) as u16;
        if capabilities & has::PLUGIN_AUTH != 0 {
            fields.terminated();
        }
        let attributes = match capabilities & has::CONNECT_ATTRIBUTES {
            0 => Vec::new(),
            _ => attributes(&mut fields),
        };
        Some(Self {
            user,
            database,
            charset,
            attributes,
        })
    }
}

/// The most attributes that are read.
const MAX_ATTRIBUTES: usize = 64;

/// The client's attributes, as far as they are complete.
fn attributes(fields: &mut Fields) -> Vec<(String, String)> {
    let mut fields = Fields(fields.counted().unwrap_or_default());
    let mut next = || Some((fields.counted()?, fields.counted()?));
    let mut all = Vec::new();
    while let Some((name, value)) = next()
        && all.len() < MAX_ATTRIBUTES
    {
        all.push((text(name), text(value)));
    }
    all
}

/// The most bytes of a name or a value.
const MAX_TEXT_BYTES: usize = 512;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT_BYTES)]).into_owned()
}

/// Character sets in which a byte of ASCII may be a part of another character, so that Tare cannot recognise
/// quotes: big5, sjis, gbk, cp932 and gb18030, by the numbers of their collations.
const AMBIGUOUS: [u16; 13] = [1, 13, 28, 84, 87, 88, 95, 96, 248, 249, 250, 1025, 1052];
/// Their names.
const AMBIGUOUS_NAMES: [&str; 5] = ["big5", "sjis", "gbk", "cp932", "gb18030"];

/// Whether texts in the character set of this collation are not read.
pub fn is_ambiguous(collation: u16) -> bool {
    AMBIGUOUS.contains(&collation)
}

/// Whether texts in the character set of this name are not read.
pub fn is_ambiguous_name(charset: &str) -> bool {
    let is_of = |name: &&str| {
        let start = charset.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    AMBIGUOUS_NAMES.iter().any(is_of)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The greeting of a server.
    pub fn greeting(version: &str, capabilities: u64) -> Vec<u8> {
        let low = (capabilities as u16).to_le_bytes();
        let high = ((capabilities >> 16) as u16).to_le_bytes();
        let of_mariadb = ((capabilities >> has::MARIADB) as u32).to_le_bytes();
        [
            &[10][..],
            version.as_bytes(),
            &[0, 7, 0, 0, 0],
            &[b's'; 8],
            &[0],
            &low,
            &[45, 2, 0],
            &high,
            &[21, 0, 0, 0, 0, 0, 0],
            &of_mariadb,
            b"ssssssssssss\0plugin\0",
        ]
        .concat()
    }

    /// The answer of a client.
    pub fn response(capabilities: u64, user: &str, database: &str) -> Vec<u8> {
        let of_mariadb = ((capabilities >> has::MARIADB) as u32).to_le_bytes();
        let mut body = [
            &(capabilities as u32).to_le_bytes()[..],
            &[0, 0, 0, 1, 45],
            &[0; 19],
            &of_mariadb,
            user.as_bytes(),
            &[0, 3, b'x', b'y', b'z'],
        ]
        .concat();
        if capabilities & has::CONNECT_WITH_DB != 0 {
            body.extend(database.as_bytes());
            body.push(0);
        }
        if capabilities & has::PLUGIN_AUTH != 0 {
            body.extend(b"plugin\0");
        }
        if capabilities & has::CONNECT_ATTRIBUTES != 0 {
            body.extend(b"\x0e\x04_pid\x0242\x01a\x03bcd");
        }
        body
    }

    const USUAL: u64 = has::PROTOCOL_41
        | has::SECURE_CONNECTION
        | has::CONNECT_WITH_DB
        | has::PLUGIN_AUTH
        | has::CONNECT_ATTRIBUTES;

    #[test]
    fn greetings_and_responses_are_read() {
        let read = Greeting::parse(&greeting("9.7.4", USUAL | has::TLS)).expect("a greeting");
        assert_eq!((read.connection_id, read.is_mariadb), (7, false));
        assert_eq!(read.capabilities, USUAL | has::TLS);
        let body = response(USUAL | has::TLS | has::COMPRESS, "ann", "shop");
        let login = Login {
            user: "ann".into(),
            database: "shop".into(),
            charset: 45,
            attributes: vec![("_pid".into(), "42".into()), ("a".into(), "bcd".into())],
        };
        let expected = Response::Login(login, USUAL | has::TLS);
        assert_eq!(Response::parse(&body, &read), Some(expected));
        assert_eq!(Response::parse(&body[..32], &read), Some(Response::Tls));
        assert_eq!(Response::parse(&body[..31], &read), None);

        let mariadb = greeting("5.5.5-10.11.6-MariaDB", USUAL | has::CACHE_METADATA);
        let read = Greeting::parse(&mariadb).expect("a greeting");
        assert!(read.is_mariadb);
        assert_eq!(read.capabilities, USUAL | has::CACHE_METADATA);
        assert_eq!(Greeting::parse(b"\x09old\0"), None);
        assert_eq!(Greeting::parse(&mariadb[..30]), None);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic() {
        let greeting = Greeting {
            capabilities: u64::MAX,
            ..Greeting::default()
        };
        let body = response(USUAL | has::LONG_AUTH, "ann", "shop");
        for end in 0..body.len() {
            Response::parse(&body[..end], &greeting);
            Login::parse_change(&body[..end], u64::MAX);
        }
    }

    #[test]
    fn some_character_sets_are_not_read() {
        assert!(is_ambiguous(28) && is_ambiguous_name("GBK") && is_ambiguous_name("gb18030"));
        assert!(!is_ambiguous(45) && !is_ambiguous_name("utf8mb4") && !is_ambiguous_name(""));
    }
}
