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
    /// Its attributes, in the order sent.
    pub attributes: Vec<(String, String)>,
}

impl Login {
    /// Reads the answer to a handshake. `None` if the packet is not one.
    pub fn of_handshake(packet: &[u8]) -> Option<Self> {
        let response = HandshakeResponse::deserialize((), &mut ParseBuf(packet)).ok()?;
        let mut attributes: Vec<(String, String)> = response
            .connect_attributes()
            .into_iter()
            .flatten()
            .collect();
        // Names and values alternate, each with its length.
        attributes.sort_by_cached_key(|(name, _)| {
            let mut sent = vec![name.len() as u8];
            sent.extend_from_slice(name.as_bytes());
            packet.windows(sent.len()).rposition(|w| w == sent)
        });
        let database = response.db_name().filter(|name| !name.is_empty());
        Some(Self {
            capabilities: response.capabilities(),
            user: text(response.user()),
            database: database.map(text),
            collation: Some(response.collation().into()),
            plugin: response.auth_plugin().map(|p| p.as_bytes().to_vec()),
            answer: response.scramble_buf().to_vec(),
            attributes,
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
        Some(login)
    }

    /// What follows in COM_CHANGE_USER: character set, plugin, and attributes, each of which may be
    /// missing.
    fn read_rest(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.collation = Some(cursor.u16()?);
        self.plugin = Some(cursor.null_str()?.to_vec());
        let mut inside = Cursor::new(cursor.lenenc_str()?);
        while let (Some(name), Some(value)) = (inside.lenenc_str(), inside.lenenc_str()) {
            self.attributes.push((text(name), text(value)));
        }
        Some(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
