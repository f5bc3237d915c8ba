//! The pages of the server's status. Their columns are those of a history's tables, so that a replay queries them.

use super::sheet::{Measure, Sheet, col, hidden, sheet};

/// A page with the last reading of a table.
macro_rules! status_sheet {
    ($table:literal, $columns:expr $(,)?) => {
        Sheet {
            has_idle_rows: true,
            is_status: true,
            ..sheet(
                $table,
                concat!(
                    "FROM tare.",
                    $table,
                    " WHERE sampled_at = (SELECT MAX(sampled_at) FROM tare.",
                    $table,
                    ")"
                ),
                $columns,
            )
        }
    };
}

pub(super) const STATUS: Sheet = Sheet {
    first: "ADVICE",
    completes_chosen: true,
    ..status_sheet!(
        "status",
        &[
            col("AREA", "area", Measure::Key, 16),
            col("FIGURE", "name", Measure::Key, 24),
            col("VALUE", "value", Measure::Real, 9),
            col("UNIT", "unit", Measure::Text, 4),
            col("PER S", "per_s", Measure::Real, 9),
            col("ADVICE", "advice", Measure::Text, 0),
        ],
    )
};

pub(super) const REPLICATION: Sheet = Sheet {
    hint: "this server replicates from no other, and is no member of a group or cluster",
    first: "ERROR",
    completes_chosen: true,
    ..status_sheet!(
        "replication",
        &[
            col("LAG", "lag_s", Measure::GaugeSeconds, 8),
            col("PENDING", "pending", Measure::Gauge, 7),
            col("GAPS", "gaps", Measure::Gauge, 5),
            col("KIND", "kind", Measure::Key, 12),
            col("CHANNEL", "channel", Measure::Key, 16),
            col("SOURCE", "source", Measure::Text, 20),
            col("IO", "io_state", Measure::Text, 10),
            col("SQL", "sql_state", Measure::Text, 6),
            col("WORKERS", "workers", Measure::Gauge, 7),
            col("ERROR", "error", Measure::Text, 0),
        ],
    )
};

pub(super) const TRANSACTIONS: Sheet = Sheet {
    hint: "no transaction is open",
    completes_chosen: true,
    ..status_sheet!(
        "transactions",
        &[
            col("AGE", "age_s", Measure::GaugeSeconds, 8),
            col("SLEEP", "sleep_s", Measure::GaugeSeconds, 8),
            col("CHANGED", "rows_changed", Measure::Gauge, 8),
            col("LOCKED", "rows_locked", Measure::Gauge, 8),
            col("CONN", "connection_id", Measure::KeyNumber, 6),
            hidden("transaction_id", Measure::KeyNumber),
            col("STATE", "state", Measure::Text, 19),
            col("USER", "user", Measure::Text, 10),
            col("HOST", "client", Measure::Text, 12),
            col("STATEMENT", "text", Measure::Text, 0),
        ],
    )
};

pub(super) const CONNECTIONS: Sheet = Sheet {
    hint: "there is no connection but those of Tare",
    ..status_sheet!(
        "connections",
        &[
            col("LONGEST", "longest_s", Measure::GaugeSeconds, 8),
            col("COUNT", "count", Measure::Gauge, 7),
            col("STATE", "state", Measure::Key, 19),
            col("USER", "user", Measure::Key, 16),
            col("HOST", "client", Measure::Key, 0),
        ],
    )
};
