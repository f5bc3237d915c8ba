//! How a server is reached.

use std::fs;
use std::path::PathBuf;

use mysql::OptsBuilder;

use crate::tls::Tls;

/// Default sockets of Debian's and MySQL's servers.
const DEFAULT_SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// The default socket of this machine's server, where there is one.
pub fn default_socket() -> Option<PathBuf> {
    let exists = |path: &&&str| fs::symlink_metadata(path).is_ok();
    DEFAULT_SOCKETS.iter().find(exists).map(PathBuf::from)
}

/// How a client reaches a server.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// A Unix socket, which is preferred to the host.
    pub socket: Option<PathBuf>,
    /// The host.
    pub host: Option<String>,
    /// The host's TCP port.
    pub port: Option<u16>,
    /// The user.
    pub user: String,
    /// The user's password.
    pub password: Option<String>,
    /// The database of a load.
    pub database: String,
    /// Encryption of TCP connections.
    pub tls: Tls,
}

impl Address {
    /// Options of crate `mysql`, without a database and without TLS.
    pub fn options(&self) -> OptsBuilder {
        let options = OptsBuilder::new()
            .user(Some(&self.user))
            .pass(self.password.as_deref())
            .prefer_socket(false);
        match &self.socket {
            Some(socket) => options.socket(socket.to_str()),
            None => options
                .ip_or_hostname(Some(self.host.as_deref().unwrap_or("127.0.0.1")))
                .tcp_port(self.port.unwrap_or(3306)),
        }
    }

    /// Whether it is an address of this machine.
    pub fn is_local(&self) -> bool {
        let host = self.host.as_deref().unwrap_or("localhost");
        self.socket.is_some() || ["127.0.0.1", "localhost", "::1"].contains(&host)
    }
}
