//! The fields of spans and events.

use std::fmt::{Debug, Write as _};

use tracing_core::Field;
use tracing_core::field::Visit;

/// What a field of a span says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute {
    /// The user: `user`, `user.name`, `enduser.id`.
    User,
    /// The client's host or address; a port is left out: `client`, `client.address`, `host`, `peer`,
    /// `peer_addr`, `remote_addr`, `network.peer.address`.
    Client,
    /// The default database: `db`, `db.name`, `db.namespace`, `database`.
    Database,
    /// The statement's text. If it is SQL, its digest is computed from it: `text`, `sql`, `db.statement`,
    /// `db.query.text`.
    Text,
    /// The statement's normalised text, by which it is grouped: `shape`, `http.route`, `db.query.summary`.
    Shape,
}

impl Attribute {
    /// What a field of this name says, unless the user of the layer says otherwise.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "user" | "user.name" | "enduser.id" => Self::User,
            "client"
            | "client.address"
            | "host"
            | "peer"
            | "peer_addr"
            | "remote_addr"
            | "network.peer.address" => Self::Client,
            "db" | "db.name" | "db.namespace" | "database" => Self::Database,
            "text" | "sql" | "db.statement" | "db.query.text" => Self::Text,
            "shape" | "http.route" | "db.query.summary" => Self::Shape,
            _ => return None,
        })
    }
}

/// The attributes of a span.
#[derive(Debug, Default)]
pub struct Attributes {
    pub user: Option<String>,
    pub client: Option<String>,
    pub database: Option<String>,
    pub text: Option<String>,
    pub shape: Option<String>,
}

impl Attributes {
    fn set(&mut self, attribute: Attribute, value: String) {
        match attribute {
            Attribute::User => self.user = Some(value),
            Attribute::Client => self.client = Some(without_port(value)),
            Attribute::Database => self.database = Some(value),
            Attribute::Text => self.text = Some(value),
            Attribute::Shape => self.shape = Some(value),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        matches!(
            self,
            Self {
                user: None,
                client: None,
                database: None,
                text: None,
                shape: None
            }
        )
    }

    /// User and host, if there is one of them.
    pub fn account(&self) -> Option<(&str, &str)> {
        match (self.user.as_deref(), self.client.as_deref()) {
            (None, None) => None,
            (user, client) => Some((user.unwrap_or_default(), client.unwrap_or_default())),
        }
    }
}

/// The address of a socket without its port.
fn without_port(address: String) -> String {
    match address.parse::<std::net::SocketAddr>() {
        Ok(address) => address.ip().to_string(),
        Err(_) => address,
    }
}

/// Collects the attributes of a span whose fields say these.
pub struct SpanFields<'a> {
    pub meanings: &'a [Option<Attribute>],
    pub attributes: Attributes,
}

impl SpanFields<'_> {
    fn meaning(&self, field: &Field) -> Option<Attribute> {
        self.meanings.get(field.index()).copied().flatten()
    }
}

impl Visit for SpanFields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if let Some(attribute) = self.meaning(field) {
            self.attributes.set(attribute, value.into());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if let Some(attribute) = self.meaning(field) {
            self.attributes.set(attribute, format!("{value:?}"));
        }
    }
}

/// Collects an event's message and error.
#[derive(Debug, Default)]
pub struct EventFields {
    message: String,
    error: String,
    number: Option<u64>,
}

impl EventFields {
    /// The number of the error, if the event has one.
    pub fn errno(&self) -> Option<u32> {
        self.number.and_then(|number| u32::try_from(number).ok())
    }

    /// What went wrong.
    pub fn text(mut self) -> String {
        if !self.message.is_empty() && !self.error.is_empty() {
            self.message.push_str(": ");
        }
        self.message + &self.error
    }
}

impl Visit for EventFields {
    fn record_i64(&mut self, field: &Field, value: i64) {
        if let Ok(value) = u64::try_from(value) {
            self.record_u64(field, value);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "errno" => self.number = Some(value),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = match field.name() {
            "message" => &mut self.message,
            "error" | "err" => &mut self.error,
            _ => return,
        };
        // If the value's own code fails, what it has written stays.
        let _ = write!(text, "{value:?}");
    }
}
