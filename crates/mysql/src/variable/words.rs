//! Variables whose values are one of a few words.

use super::record::Variable;
use crate::error::Result;

/// The words of a variable, by the numbers that SET also accepts for them.
fn words(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "binlog_format" => &["MIXED", "STATEMENT", "ROW"],
        "binlog_row_image" => &["MINIMAL", "NOBLOB", "FULL"],
        "explain_format" => &["TRADITIONAL", "TRADITIONAL_STRICT", "TREE", "JSON"],
        "group_replication_consistency" => &[
            "EVENTUAL",
            "BEFORE_ON_PRIMARY_FAILOVER",
            "BEFORE",
            "AFTER",
            "BEFORE_AND_AFTER",
        ],
        "myisam_stats_method" => &["nulls_unequal", "nulls_equal", "nulls_ignored"],
        "rbr_exec_mode" => &["STRICT", "IDEMPOTENT"],
        "session_track_gtids" => &["OFF", "OWN_GTID", "ALL_GTIDS"],
        "session_track_transaction_info" => &["OFF", "STATE", "CHARACTERISTICS"],
        "transaction_isolation" => &[
            "READ-UNCOMMITTED",
            "READ-COMMITTED",
            "REPEATABLE-READ",
            "SERIALIZABLE",
        ],
        "updatable_views_with_limit" => &["NO", "YES"],
        "use_secondary_engine" => &["OFF", "ON", "FORCED"],
        _ => return None,
    })
}

impl Variable {
    /// A new value of a variable that has one of a few words, given as the word or its number. `None`: it is
    /// another kind of variable.
    pub(super) fn word(&self, text: &str) -> Option<Result<String>> {
        let words = words(self.name)?;
        let mut matching = words.iter().find(|word| word.eq_ignore_ascii_case(text));
        if let Ok(number) = text.parse::<usize>() {
            matching = words.get(number);
        }
        Some(matching.map_or_else(|| Err(self.wrong(text)), |word| Ok((*word).to_owned())))
    }
}
