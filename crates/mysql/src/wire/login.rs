//! A client's login: its answer to the handshake, and COM_CHANGE_USER.

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::HandshakeResponse;
use mysql_common::proto::MyDeserialize;

use super::bytes::Cursor;

/// What a client sends when it connects, or when it becomes another user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// What it can do; nothing new with COM_CHANGE_USER.
    pub capabilities: CapabilityFlags,
    /// The user.
    pub user: String,
    /// The default schema, if it names one.
    pub database: Option<String>,
    /// The collation that names its character set, by number. COM_CHANGE_USER may omit it.
    pub collation: Option<u16>,
    /// How it answers for its password.
    pub plugin: Option<Vec<u8>>,
    /// The answer.
    pub answer: Vec<u8>,
    /// Its attributes as it sent them: names and values, each after its length.
    pub attributes: Vec<u8>,
}

impl Login {
    /// Reads the answer to a handshake. `None` if the packet is not one.
    pub fn of_handshake(packet: &[u8]) -> Option<Self> {
        let response = HandshakeResponse::deserialize((), &mut ParseBuf(packet)).ok()?;
        let database = response.db_name().filter(|name| !name.is_empty());
        Some(Self {
            capabilities: response.capabilities(),
            user: text(response.user()),
            database: database.map(text),
            collation: Some(response.collation().into()),
            plugin: response.auth_plugin().map(|p| p.as_bytes().to_vec()),
            answer: response.scramble_buf().to_vec(),
            attributes: match attributes_of_handshake(packet) {
                Some(bytes) if bytes.len() > MAX_ATTRIBUTE_BYTES => return None,
                Some(bytes) => bytes.to_vec(),
                None => Vec::new(),
            },
        })
    }

    /// Reads COM_CHANGE_USER. Its answer is to the connection's first handshake.
    pub fn of_change_user(body: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(body);
        let user = cursor.null_str()?;
        let answer = cursor.u8()?;
        let answer = cursor.take(answer.into())?;
        let database = cursor.null_str()?;
        let mut login = Self {
            capabilities: CapabilityFlags::empty(),
            user: text(user),
            database: (!database.is_empty()).then(|| text(database)),
            collation: None,
            plugin: None,
            answer: answer.to_vec(),
            attributes: Vec::new(),
        };
        // A short packet may omit the rest.
        let _ = login.read_rest(&mut cursor);
        (login.attributes.len() <= MAX_ATTRIBUTE_BYTES).then_some(login)
    }

    /// What follows in COM_CHANGE_USER: character set, plugin, and attributes, each of which may be
    /// missing.
    fn read_rest(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.collation = Some(cursor.u16()?);
        self.plugin = Some(cursor.null_str()?.to_vec());
        self.attributes = cursor.lenenc_str()?.to_vec();
        Some(())
    }
}

/// MySQL's limit on all attributes of a client, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 0xffff;

/// The bytes of the attributes in the answer to a handshake, where names and values alternate.
fn attributes_of_handshake(packet: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor::new(packet);
    let flags = CapabilityFlags::from_bits_truncate(cursor.u32()?);
    // The largest packet, the collation, and 23 bytes that are not used.
    cursor.take(4 + 1 + 23)?;
    cursor.null_str()?;
    if flags.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) {
        cursor.lenenc_str()?;
    } else if flags.contains(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
        let len = cursor.u8()?;
        cursor.take(len.into())?;
    } else {
        cursor.null_str()?;
    }
    if flags.contains(CapabilityFlags::CLIENT_CONNECT_WITH_DB) {
        cursor.null_str()?;
    }
    if flags.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
        cursor.null_str()?;
    }
    match flags.contains(CapabilityFlags::CLIENT_CONNECT_ATTRS) {
        true => cursor.lenenc_str(),
        false => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
