//! Tables, dialect, wire protocol and server.
