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

/// Collations: name, character set, number, whether it is the set's default.
pub(super) const COLLATIONS: &[(&str, &str, i64, bool)] = &[
    ("ascii_general_ci", "ascii", 11, true),
    ("binary", "binary", 63, true),
    ("latin1_swedish_ci", "latin1", 8, true),
    ("utf8_bin", "utf8", 83, false),
    ("utf8_general_ci", "utf8", 33, true),
    ("utf8mb4_0900_ai_ci", "utf8mb4", 255, false),
    ("utf8mb4_bin", "utf8mb4", 46, false),
    ("utf8mb4_general_ci", "utf8mb4", 45, true),
    ("utf8mb4_unicode_ci", "utf8mb4", 224, false),
];
