//! Which locks of whole tables exclude each other: those of engines without row locks. The names are those of column
//! INTERNAL_LOCK of performance_schema.table_handles, of MySQL and MariaDB.

/// Whether a lock of type `held` excludes one of type `wanted` on the same table.
pub fn conflicts(wanted: &str, held: &str) -> bool {
    match (is_write(wanted), is_write(held)) {
        (false, false) => false,
        (true, true) => !(allows_writes(wanted) && allows_writes(held)),
        (false, true) => !allows_reads(held),
        (true, false) => !allows_reads(wanted),
    }
}

/// Whether a request for `wanted` queues behind another's request for `pending` that is not granted yet. Only readers
/// wait for such a writer, so that these waits form no circle.
pub fn queues_behind(wanted: &str, pending: &str) -> bool {
    !is_write(wanted) && wanted != "READ HIGH PRIORITY" && pending == "WRITE"
}

fn is_write(lock: &str) -> bool {
    lock.starts_with("WRITE")
}

fn allows_writes(lock: &str) -> bool {
    lock == "WRITE ALLOW WRITE"
}

fn allows_reads(lock: &str) -> bool {
    allows_writes(lock) || lock == "WRITE CONCURRENT INSERT"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_exclude_all_but_those_that_they_allow() {
        for (one, other, expected) in [
            ("READ", "READ", false),
            ("READ", "WRITE", true),
            ("WRITE", "WRITE LOW PRIORITY", true),
            ("READ", "WRITE CONCURRENT INSERT", false),
            ("WRITE CONCURRENT INSERT", "WRITE CONCURRENT INSERT", true),
            ("WRITE ALLOW WRITE", "WRITE ALLOW WRITE", false),
        ] {
            assert_eq!(conflicts(one, other), expected, "{one} {other}");
            assert_eq!(conflicts(other, one), expected, "{other} {one}");
        }
        assert!(queues_behind("READ", "WRITE"));
        assert!(!queues_behind("WRITE", "WRITE") && !queues_behind("READ", "READ"));
    }
}
