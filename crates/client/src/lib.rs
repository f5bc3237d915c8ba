//! A client's connection to a MySQL server: its address as the user writes it, TLS, connecting, the
//! settings of a session, and the server's process where it runs on this machine.

mod address;
mod connect;
mod dsn;
pub mod process;
pub mod secrets;
mod session;
mod tls;

pub use address::{Address, default_socket};
pub use connect::{ConnectError, connect, error_text};
pub use dsn::{Dsn, DsnError, without_password};
pub use session::{SessionKind, opening_statements};
pub use tls::{InvalidSslMode, SslMode, Tls};
