//! Errors of the protocol that several commands report.

use tare_mysql::error::SqlError;

/// The packet does not have the form of its command.
pub fn malformed_packet() -> SqlError {
    SqlError::new(1835, "Malformed communication packet.")
}

/// The number of [`packet_too_large`].
pub const PACKET_TOO_LARGE: u16 = 1153;

/// The packet, or a parameter in several packets, exceeds max_allowed_packet.
pub fn packet_too_large() -> SqlError {
    let text = "Got a packet bigger than 'max_allowed_packet' bytes";
    SqlError::new(PACKET_TOO_LARGE, text)
}

/// The text is not UTF-8.
pub fn invalid_text() -> SqlError {
    SqlError::new(1300, "Invalid utf8mb4 character string")
}
