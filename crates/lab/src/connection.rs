//! SQL to the weighed server: over the MySQL protocol, or to a segment through `tare sql`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Value};
use tare_client::secrets::SECRETS;
use tare_client::{Address, SessionKind, connect, error_text};

/// A connection that answers SQL.
pub enum Connection {
    /// A connection over the MySQL protocol.
    Server(Box<Conn>),
    /// The segment of a process, which `tare sql` reads.
    Segment {
        /// The `tare` binary.
        tare: PathBuf,
        /// The process id.
        pid: u32,
    },
    /// No server.
    Absent,
}

/// A row of texts; NULL is `None`.
pub type Row = Vec<Option<String>>;

impl Connection {
    /// Connects to a server that the lab has started.
    ///
    /// # Errors
    /// The message of the client or the server.
    pub fn connect(options: OptsBuilder) -> Result<Self, String> {
        Conn::new(options)
            .map(|conn| Self::Server(Box::new(conn)))
            .map_err(|error| words(&error))
    }

    /// Connects to a server of the user, with the TLS options of its address.
    ///
    /// # Errors
    /// The message of the client or the server.
    pub fn connect_with_tls(address: &Address) -> Result<Self, String> {
        connect(address, None, SessionKind::Tool, None)
            .map(|conn| Self::Server(Box::new(conn)))
            .map_err(|refused| refused.to_string())
    }

    /// The rows of a statement.
    ///
    /// # Errors
    /// The message of the client or the server.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Row>, String> {
        match self {
            Self::Server(conn) => {
                let rows: Vec<mysql::Row> = conn.query(sql).map_err(|error| words(&error))?;
                Ok(rows
                    .into_iter()
                    .map(|row| row.unwrap().into_iter().map(text).collect())
                    .collect())
            }
            Self::Segment { tare, pid } => {
                let mut command = Command::new(&*tare);
                for secret in SECRETS {
                    command.env_remove(secret);
                }
                let output = command
                    .args([
                        "sql",
                        "--pid",
                        &pid.to_string(),
                        "--format",
                        "json",
                        "-e",
                        sql,
                    ])
                    .stdin(Stdio::null())
                    .output()
                    .map_err(|error| format!("{}: {error}", tare.display()))?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
                }
                rows(&String::from_utf8_lossy(&output.stdout))
            }
            Self::Absent => Err("there is no server to ask".into()),
        }
    }

    /// The first value of the first row.
    pub fn value(&mut self, sql: &str) -> Option<String> {
        self.query(sql)
            .ok()?
            .into_iter()
            .next()?
            .into_iter()
            .next()?
    }
}

fn words(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => {
            format!("{} ({}): {}", error.code, error.state, error.message)
        }
        other => error_text(other),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

/// The array of objects that `tare sql --format json` prints.
fn rows(json: &str) -> Result<Vec<Row>, String> {
    if json.trim().is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(json).map_err(|error| format!("tare sql: {error}"))?;
    let text = |value: serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    Ok(rows
        .into_iter()
        .map(|row| row.into_iter().map(|(_, value)| text(value)).collect())
        .collect())
}
