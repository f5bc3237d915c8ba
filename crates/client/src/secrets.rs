//! Environment variables that hold passwords.

/// The password of `tare weigh`, where the URL has none.
pub const PASSWORD_VARIABLE: &str = "TARE_WEIGH_PASSWORD";

/// The password of the command line, while the program restarts without it.
pub const HIDDEN_PASSWORD: &str = "TARE_HIDDEN_PASSWORD";

/// The passwords of addresses, while the program restarts without them: JSON, a password by its address.
pub const HIDDEN_PASSWORDS: &str = "TARE_HIDDEN_PASSWORDS";

/// What other programs do not inherit.
pub const SECRETS: [&str; 3] = [PASSWORD_VARIABLE, HIDDEN_PASSWORD, HIDDEN_PASSWORDS];
