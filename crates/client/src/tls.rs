//! TLS options as MySQL's clients have them.

use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

/// MySQL's `ssl-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SslMode {
    /// Not encrypted.
    Disabled,
    /// Encrypted if the server supports TLS.
    Preferred,
    /// Encrypted; the certificate is not checked.
    Required,
    /// Encrypted, and a known authority has signed the certificate.
    VerifyCa,
    /// As `VerifyCa`, and the certificate is for the host of the address.
    VerifyIdentity,
}

const MODES: [(&str, SslMode); 5] = [
    ("DISABLED", SslMode::Disabled),
    ("PREFERRED", SslMode::Preferred),
    ("REQUIRED", SslMode::Required),
    ("VERIFY_CA", SslMode::VerifyCa),
    ("VERIFY_IDENTITY", SslMode::VerifyIdentity),
];

/// A text that is no `ssl-mode`.
#[derive(Debug, Error)]
#[error("'{0}' is no ssl-mode: give DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY")]
pub struct InvalidSslMode(String);

impl FromStr for SslMode {
    type Err = InvalidSslMode;

    fn from_str(text: &str) -> Result<Self, InvalidSslMode> {
        let name = text.to_ascii_uppercase().replace('-', "_");
        let mode = MODES.iter().find(|mode| mode.0 == name);
        mode.map(|mode| mode.1)
            .ok_or_else(|| InvalidSslMode(text.to_owned()))
    }
}

impl SslMode {
    /// MySQL's name of the mode.
    pub fn name(self) -> &'static str {
        let row = MODES.iter().find(|(_, mode)| *mode == self);
        row.map_or("", |(name, _)| name)
    }
}

/// Options of TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// The mode, where one is set.
    pub mode: Option<SslMode>,
    /// The file with the certificates of authorities, in PEM.
    pub ca: Option<PathBuf>,
}

impl Tls {
    /// The mode that applies. As in MySQL's clients, a CA file without a mode means VERIFY_CA.
    pub fn mode(&self) -> SslMode {
        match (self.mode, &self.ca) {
            (Some(mode), _) => mode,
            (None, Some(_)) => SslMode::VerifyCa,
            (None, None) => SslMode::Preferred,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_the_names_of_mysql() {
        for (name, mode) in MODES {
            assert_eq!(name.parse::<SslMode>().ok(), Some(mode));
            assert_eq!(mode.name(), name);
        }
        assert_eq!("verify-ca".parse::<SslMode>().ok(), Some(SslMode::VerifyCa));
        assert!("on".parse::<SslMode>().is_err());
        let mut tls = Tls::default();
        assert_eq!(tls.mode(), SslMode::Preferred);
        tls.ca = Some("ca.pem".into());
        assert_eq!(tls.mode(), SslMode::VerifyCa);
        tls.mode = Some(SslMode::Required);
        assert_eq!(tls.mode(), SslMode::Required);
    }
}
