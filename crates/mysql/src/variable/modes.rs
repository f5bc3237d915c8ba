//! @@sql_mode.

/// MySQL's modes that may stand in @@sql_mode.
const MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
    // Of 5.7 and MariaDB: clients set them, and nothing here depends on them.
    "NO_AUTO_CREATE_USER",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
];

/// A list of modes as MySQL shows it: in capitals, with what a mode implies.
pub fn modes(text: &str) -> Option<String> {
    if text.parse::<u64>().is_ok() {
        return (text == "0").then(String::new);
    }
    let mut all: Vec<&str> = Vec::new();
    let mut add = |mode: &'static str| {
        if !all.contains(&mode) {
            all.push(mode);
        }
    };
    for mode in text.split(',').map(str::trim).filter(|m| !m.is_empty()) {
        let known = MODES.iter().find(|m| m.eq_ignore_ascii_case(mode))?;
        match *known {
            "ANSI" => [
                "REAL_AS_FLOAT",
                "PIPES_AS_CONCAT",
                "ANSI_QUOTES",
                "IGNORE_SPACE",
                "ONLY_FULL_GROUP_BY",
            ]
            .into_iter()
            .for_each(&mut add),
            "TRADITIONAL" => [
                "STRICT_TRANS_TABLES",
                "STRICT_ALL_TABLES",
                "NO_ZERO_IN_DATE",
                "NO_ZERO_DATE",
                "ERROR_FOR_DIVISION_BY_ZERO",
                "NO_ENGINE_SUBSTITUTION",
            ]
            .into_iter()
            .for_each(&mut add),
            _ => {}
        }
        add(known);
    }
    Some(all.join(","))
}
