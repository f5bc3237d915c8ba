//! Character sets and collations that SHOW lists.

/// Character sets that clients may name: name, description, default collation, bytes.
pub const CHARSETS: &[(&str, &str, &str, i64)] = &[
    ("ascii", "US ASCII", "ascii_general_ci", 1),
    ("binary", "Binary pseudo charset", "binary", 1),
    ("latin1", "cp1252 West European", "latin1_swedish_ci", 1),
    ("utf8", "UTF-8 Unicode", "utf8_general_ci", 3),
    ("utf8mb3", "UTF-8 Unicode", "utf8_general_ci", 3),
    ("utf8mb4", "UTF-8 Unicode", "utf8mb4_general_ci", 4),
];
