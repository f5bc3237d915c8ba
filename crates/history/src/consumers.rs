//! The consumers that samples need.

/// The consumers that samples of a server need.
const NEEDED: [&str; 5] = [
    "events_statements_current",
    "events_stages_current",
    "events_waits_current",
    "global_instrumentation",
    "thread_instrumentation",
];

/// Those that they need at the level `active`, at which threads store what they do anyway.
const NEEDED_AT_ACTIVE: [&str; 1] = ["global_instrumentation"];

/// The query of the names of consumers that are off although samples need them.
pub fn consumers_off_sql(is_active: bool) -> String {
    let needed: &[&str] = match is_active {
        true => &NEEDED_AT_ACTIVE,
        false => &NEEDED,
    };
    let names = quote(needed);
    format!(
        "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' AND NAME IN ({names})"
    )
}

/// The statement that switches consumers on. The names are those that a server answered.
pub fn consumers_on_sql(names: &[impl AsRef<str>]) -> String {
    let names = quote(names);
    format!("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ({names})")
}

fn quote(names: &[impl AsRef<str>]) -> String {
    let quoted = names.iter();
    let quoted = quoted.map(|name| format!("'{}'", name.as_ref().replace('\'', "''")));
    quoted.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let off = consumers_off_sql(true);
        assert!(off.ends_with("NAME IN ('global_instrumentation')"), "{off}");
        assert!(consumers_off_sql(false).contains("'events_waits_current', "));
        let on = consumers_on_sql(&["a", "b'c"]);
        assert!(on.ends_with("WHERE NAME IN ('a', 'b''c')"), "{on}");
    }
}
