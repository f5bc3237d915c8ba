//! SET of variables that a server and a segment's reader share.

use tare_mysql::charset;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::variable::Variable;
use tare_reader::Segment;
use tare_reader::metrics::Action;

/// The action on metrics of a variable's SET.
pub fn metric_action(variable: &str) -> Option<Action> {
    Some(match variable {
        "innodb_monitor_enable" => Action::Enable,
        "innodb_monitor_disable" => Action::Disable,
        "innodb_monitor_reset" => Action::Reset,
        "innodb_monitor_reset_all" => Action::ResetAll,
        _ => return None,
    })
}

/// 1105, a warning of SET GLOBAL innodb_monitor_reset_all.
pub const STILL_ENABLED: &str = "Metrics that are enabled keep their figures: disable them first";

/// SET GLOBAL of a variable of [`metric_action`]. Returns whether it was done to all metrics of the name or
/// pattern; otherwise the caller warns with [`STILL_ENABLED`].
///
/// # Errors
/// 1231 where no metric has the name, 1105 where the segment cannot be written to.
pub fn act_on_metrics(
    segment: Option<&Segment>,
    variable: &Variable,
    pattern: &str,
    action: Action,
) -> Result<bool> {
    let (meant, done) = match segment {
        Some(segment) => segment
            .act_on_metrics(pattern, action)
            .map_err(|e| SqlError::new(1105, e.to_string()))?,
        None => (0, 0),
    };
    match meant {
        0 => Err(variable.wrong(pattern)),
        _ => Ok(done == meant),
    }
}

/// The one variable of performance_schema that may be set while it runs.
pub const SAMPLE_AGE: &str = "performance_schema_max_digest_sample_age";

/// SET GLOBAL of [`SAMPLE_AGE`].
///
/// # Errors
/// 1105 where the segment cannot be written to.
pub fn set_sample_age(segment: Option<&Segment>, seconds: &str) -> Result<()> {
    let seconds = seconds.parse().unwrap_or(0);
    match segment {
        Some(segment) => segment
            .set_digest_sample_age(seconds)
            .map_err(|e| SqlError::new(1105, e.to_string())),
        None => Ok(()),
    }
}

/// The variables that SET NAMES sets, and their values; `None` is DEFAULT.
///
/// # Errors
/// 1115, 1253 or 1273.
pub fn set_names(
    charset: &str,
    collation: Option<&str>,
) -> Result<Vec<(&'static str, Option<String>)>> {
    let charset = charset.to_ascii_lowercase();
    let is_default = charset == "default";
    if !is_default {
        charset::check(&charset)?;
    }
    let mut set = Vec::new();
    if let Some(collation) = collation {
        check_collation(collation, &charset)?;
        set.push(("collation_connection", Some(collation.to_ascii_lowercase())));
    }
    let of_charset = [
        "character_set_client",
        "character_set_connection",
        "character_set_results",
    ];
    let value = (!is_default).then_some(charset);
    set.extend(of_charset.map(|name| (name, value.clone())));
    Ok(set)
}

/// 1273 for an unknown collation, 1253 for one of another character set.
fn check_collation(collation: &str, charset: &str) -> Result<()> {
    let of = charset::charset_of(collation).ok_or_else(|| charset::unknown_collation(collation))?;
    match of == charset || charset == "default" || (of == "utf8" && charset == "utf8mb3") {
        true => Ok(()),
        false => Err(charset::mismatched_collation(collation, charset)),
    }
}
