//! The optimizer hint that has an effect: MAX_EXECUTION_TIME.

use std::time::Duration;

/// The limit of a statement that begins with `SELECT /*+ MAX_EXECUTION_TIME(n) */`. n is
/// milliseconds; 0 is no limit.
pub fn max_execution_time(sql: &str) -> Option<Duration> {
    let rest = sql.trim_start();
    let rest = rest
        .get(..6)
        .filter(|w| w.eq_ignore_ascii_case("select"))
        .and_then(|w| rest.get(w.len()..))?;
    let hints = rest.trim_start().strip_prefix("/*+")?;
    let (hints, _) = hints.split_once("*/")?;
    let name = "max_execution_time";
    let at = hints.to_ascii_lowercase().find(name)?;
    let number = hints[at + name.len()..].trim_start().strip_prefix('(')?;
    let (number, _) = number.split_once(')')?;
    number.trim().parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_read_behind_the_first_select_only() {
        let ms = |n| Some(Duration::from_millis(n));
        for (sql, expected) in [
            ("SELECT /*+ MAX_EXECUTION_TIME(50) */ 1", ms(50)),
            (" select/*+ NO_ICP(t) max_execution_time ( 7 )*/ 1", ms(7)),
            ("SELECT /* MAX_EXECUTION_TIME(50) */ 1", None),
            ("SELECT '/*+ MAX_EXECUTION_TIME(50) */'", None),
            ("SELECT /*+ MAX_EXECUTION_TIME(x) */ 1", None),
            ("INSERT INTO t SELECT /*+ MAX_EXECUTION_TIME(50) */ 1", None),
            ("SEL", None),
        ] {
            assert_eq!(max_execution_time(sql), expected, "{sql}");
        }
    }
}
