//! @@sql_mode.

/// The modes of @@sql_mode, by the bits of the number; those that MySQL refuses have no name.
const MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "NOT_USED",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
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
    "",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// Modes in which a text means something else, and which are not implemented: a client that escapes texts for
/// NO_BACKSLASH_ESCAPES would be open to injection. IGNORE_SPACE needs nothing: spaces after a function's name
/// are always allowed.
const UNSUPPORTED: [&str; 2] = ["NO_BACKSLASH_ESCAPES", "HIGH_NOT_PRECEDENCE"];

/// A list of modes as MySQL prints it: in capitals, with implied modes. `more` are modes that another server has, too.
///
/// # Errors
/// The first mode that is unknown or unsupported.
pub fn modes<'t>(text: &'t str, more: &[&'static str]) -> Result<String, &'t str> {
    let mut all: Vec<&str> = Vec::new();
    let mut add = |mode: &'static str| {
        if !all.contains(&mode) {
            all.push(mode);
        }
    };
    for mode in text.split(',').map(str::trim).filter(|m| !m.is_empty()) {
        let mut all_modes = MODES.iter().chain(more);
        let matching = all_modes.find(|m| m.eq_ignore_ascii_case(mode) && !UNSUPPORTED.contains(m));
        let mode: &'static str = matching.ok_or(mode)?;
        match mode {
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
        add(mode);
    }
    let position = |mode: &&str| MODES.iter().position(|m| m == mode).unwrap_or(MODES.len());
    all.sort_by_key(position);
    Ok(all.join(","))
}

/// [`modes`] of a number.
///
/// # Errors
/// The bits of modes that MySQL no longer has; 0 if a bit or its mode is unknown or unsupported.
pub fn modes_of_bits(bits: u64) -> Result<String, u64> {
    if bits >> MODES.len() != 0 {
        return Err(0);
    }
    let set = MODES.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
    let (removed, set): (Vec<_>, Vec<_>) = set.partition(|(_, name)| name.is_empty());
    if !removed.is_empty() {
        return Err(removed.iter().map(|(i, _)| 1 << i).sum());
    }
    let names: Vec<&str> = set.iter().map(|(_, name)| **name).collect();
    modes(&names.join(","), &[]).map_err(|_| 0)
}

/// The warnings that MySQL gives of modes that were set: code and message.
pub fn warnings(modes: &str) -> impl Iterator<Item = (u16, &'static str)> {
    let has = |wanted: &str| modes.split(',').any(|mode| mode == wanted);
    let is_strict = has("STRICT_TRANS_TABLES") || has("STRICT_ALL_TABLES");
    let dates = [
        "NO_ZERO_DATE",
        "NO_ZERO_IN_DATE",
        "ERROR_FOR_DIVISION_BY_ZERO",
    ]
    .map(has);
    let parted = dates.contains(&!is_strict).then_some((
        3135,
        "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be used with \
         strict mode. They will be merged with strict mode in a future release.",
    ));
    let padded = has("PAD_CHAR_TO_FULL_LENGTH").then_some((
        3090,
        "Changing sql mode 'PAD_CHAR_TO_FULL_LENGTH' is deprecated. It will be removed in a future release.",
    ));
    parted.into_iter().chain(padded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variable::mariadb;

    #[test]
    fn modes_are_in_mysqls_order() {
        let list = |text| modes(text, &[]).expect(text);
        assert_eq!(
            list("no_zero_date,ANSI_QUOTES,NO_ZERO_DATE"),
            "ANSI_QUOTES,NO_ZERO_DATE"
        );
        assert_eq!(
            list("ANSI"),
            "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI"
        );
        assert_eq!(modes("NO_ZERO_DATE, NONSENSE", &[]), Err("NONSENSE"));
        // As numbers: 9.7.4 has the same values.
        let of_bits = |bits| modes_of_bits(bits).expect("modes");
        assert_eq!(of_bits(0), "");
        assert_eq!(of_bits(2_097_184), "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES");
        assert_eq!(of_bits(1 << 18), list("ANSI"));
        assert_eq!(of_bits(1 << 27), list("TRADITIONAL"));
        assert_eq!(modes("1", &[]), Err("1"));
        for (bits, removed) in [
            (256, 256),
            (257, 256),
            ((1 << 32) - 1, 0x1003_ff00),
            (1 << 20, 0),
            (1 << 33, 0),
            (u64::MAX, 0),
        ] {
            assert_eq!(modes_of_bits(bits), Err(removed), "{bits}");
        }
    }

    #[test]
    fn modes_that_are_not_obeyed_are_refused() {
        for mode in MODES.iter().filter(|mode| !mode.is_empty()) {
            assert_eq!(
                modes(mode, &[]).is_err(),
                UNSUPPORTED.contains(mode),
                "{mode}"
            );
            let list = format!("{mode},no_backslash_escapes");
            assert!(modes(&list, &[]).is_err(), "{list}");
        }
        for mode in mariadb::MODES {
            assert_eq!(modes(mode, &[]), Err(*mode));
            assert_eq!(modes(mode, mariadb::MODES).as_deref(), Ok(*mode));
        }
        // What mysqldump and mariadb-dump set.
        for dump in [
            "",
            "NO_AUTO_VALUE_ON_ZERO",
            "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        ] {
            assert!(modes(dump, &[]).is_ok(), "{dump}");
        }
    }

    /// The expected codes are MySQL 9.7.4's.
    #[test]
    fn strict_mode_and_the_modes_of_dates_belong_together() {
        let codes = |text| {
            let modes = modes(text, &[]).expect(text);
            warnings(&modes).map(|(code, _)| code).collect::<Vec<_>>()
        };
        for (modes, warned) in [
            ("", &[][..]),
            ("ANSI", &[]),
            ("TRADITIONAL", &[]),
            ("STRICT_ALL_TABLES", &[3135]),
            ("STRICT_TRANS_TABLES,NO_ZERO_DATE", &[3135]),
            (
                "NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO",
                &[3135],
            ),
            (
                "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO",
                &[],
            ),
            ("PAD_CHAR_TO_FULL_LENGTH", &[3090]),
        ] {
            assert_eq!(codes(modes), warned, "{modes}");
        }
    }
}
