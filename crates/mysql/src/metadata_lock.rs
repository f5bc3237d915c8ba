//! Which metadata locks exclude each other: who may be waited for. The names are those of column LOCK_TYPE of
//! performance_schema.metadata_locks, of MySQL and MariaDB.

/// Locks on an object that exclude readers.
const EXCLUSIVE: [&str; 2] = ["SHARED_NO_READ_WRITE", "EXCLUSIVE"];
const WRITES: [&str; 2] = ["SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"];
const UPGRADES: [&str; 2] = ["SHARED_UPGRADABLE", "SHARED_NO_WRITE"];

/// MariaDB's locks of statements on the object BACKUP, which do not exclude each other.
const BACKUP_OF_STATEMENTS: [&str; 6] = [
    "BACKUP_DML",
    "BACKUP_TRANS_DML",
    "BACKUP_SYS_DML",
    "BACKUP_DDL",
    "BACKUP_ALTER_COPY",
    "BACKUP_COMMIT",
];

/// Whether a metadata lock of type `held` excludes one of type `wanted` on the same object.
pub fn conflicts(wanted: &str, held: &str) -> bool {
    if wanted.starts_with("BACKUP_") && held.starts_with("BACKUP_") {
        return backups_conflict(wanted, held);
    }
    let is_exclusive = EXCLUSIVE.contains(&held);
    match wanted {
        "INTENTION_EXCLUSIVE" => held != "INTENTION_EXCLUSIVE",
        "SHARED" | "SHARED_HIGH_PRIO" => ["EXCLUSIVE", "INTENTION_EXCLUSIVE"].contains(&held),
        "SHARED_READ" => is_exclusive,
        "SHARED_WRITE" | "SHARED_WRITE_LOW_PRIO" => {
            is_exclusive || ["SHARED_READ_ONLY", "SHARED_NO_WRITE"].contains(&held)
        }
        "SHARED_UPGRADABLE" => is_exclusive || UPGRADES.contains(&held),
        "SHARED_READ_ONLY" => is_exclusive || WRITES.contains(&held),
        "SHARED_NO_WRITE" => is_exclusive || UPGRADES.contains(&held) || WRITES.contains(&held),
        "SHARED_NO_READ_WRITE" => !["SHARED", "SHARED_HIGH_PRIO"].contains(&held),
        // Exclusive locks, and types of later versions.
        _ => true,
    }
}

/// Whether a request for `wanted` queues behind another's request for `pending` that is not granted yet. Such
/// waits form no circle: only stronger requests are waited for.
pub fn queues_behind(wanted: &str, pending: &str) -> bool {
    if wanted.starts_with("BACKUP_") {
        return BACKUP_OF_STATEMENTS.contains(&wanted)
            && !BACKUP_OF_STATEMENTS.contains(&pending)
            && conflicts(wanted, pending);
    }
    let is_exclusive = EXCLUSIVE.contains(&pending);
    match wanted {
        // On global objects, whose read lock is SHARED.
        "INTENTION_EXCLUSIVE" => ["SHARED", "EXCLUSIVE"].contains(&pending),
        "SHARED" | "SHARED_UPGRADABLE" | "SHARED_NO_WRITE" | "SHARED_NO_READ_WRITE" => {
            pending == "EXCLUSIVE"
        }
        "SHARED_READ" => is_exclusive,
        "SHARED_WRITE" => is_exclusive || pending == "SHARED_NO_WRITE",
        "SHARED_WRITE_LOW_PRIO" => {
            is_exclusive || ["SHARED_NO_WRITE", "SHARED_READ_ONLY"].contains(&pending)
        }
        "SHARED_READ_ONLY" => is_exclusive || pending == "SHARED_WRITE",
        // SHARED_HIGH_PRIO and EXCLUSIVE wait for holders only, and of later types nothing is known.
        _ => false,
    }
}

fn backups_conflict(wanted: &str, held: &str) -> bool {
    const OF_ROWS: [&str; 5] = [
        "BACKUP_DML",
        "BACKUP_TRANS_DML",
        "BACKUP_SYS_DML",
        "BACKUP_ALTER_COPY",
        "BACKUP_COMMIT",
    ];
    let is_of_statement = |kind: &str| BACKUP_OF_STATEMENTS.contains(&kind);
    let (statement, backup) = match (is_of_statement(wanted), is_of_statement(held)) {
        (true, true) => return false,
        (false, false) => return true,
        (true, false) => (wanted, held),
        (false, true) => (held, wanted),
    };
    match backup {
        // A backup that begins excludes other backups only.
        "BACKUP_START" => false,
        "BACKUP_BLOCK_DDL" => !OF_ROWS.contains(&statement),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [&str; 11] = [
        "INTENTION_EXCLUSIVE",
        "SHARED",
        "SHARED_HIGH_PRIO",
        "SHARED_READ",
        "SHARED_WRITE",
        "SHARED_WRITE_LOW_PRIO",
        "SHARED_UPGRADABLE",
        "SHARED_READ_ONLY",
        "SHARED_NO_WRITE",
        "SHARED_NO_READ_WRITE",
        "EXCLUSIVE",
    ];

    #[test]
    fn compatible_locks_do_not_conflict() {
        assert!(!conflicts("SHARED_READ", "SHARED_WRITE"));
        assert!(!conflicts("SHARED_WRITE", "SHARED_UPGRADABLE"));
        assert!(conflicts("SHARED_WRITE", "SHARED_READ_ONLY"));
        assert!(conflicts("SHARED_UPGRADABLE", "SHARED_UPGRADABLE"));
        assert!(conflicts("EXCLUSIVE", "SHARED"));
        assert!(!conflicts("INTENTION_EXCLUSIVE", "INTENTION_EXCLUSIVE"));
        for (one, other, expected) in [
            ("BACKUP_DML", "BACKUP_FTWRL2", true),
            ("BACKUP_DML", "BACKUP_TRANS_DML", false),
            ("BACKUP_DML", "BACKUP_BLOCK_DDL", false),
            ("BACKUP_DDL", "BACKUP_BLOCK_DDL", true),
            ("BACKUP_START", "BACKUP_DML", false),
            ("BACKUP_START", "BACKUP_FTWRL1", true),
        ] {
            assert_eq!(conflicts(one, other), expected, "{one} {other}");
            assert_eq!(conflicts(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn requests_that_queue_form_no_circle() {
        let all = TYPES.iter().chain(&BACKUP_OF_STATEMENTS);
        let all: Vec<&str> = all
            .chain(&["BACKUP_FTWRL1", "BACKUP_START"])
            .copied()
            .collect();
        // Removes, again and again, types that queue behind none of those that are left.
        let mut left = all.clone();
        while !left.is_empty() {
            let before = left.clone();
            left.retain(|wanted| before.iter().any(|pending| queues_behind(wanted, pending)));
            assert!(left.len() < before.len(), "a circle of {left:?}");
        }
        assert!(queues_behind("SHARED_READ", "EXCLUSIVE"));
        assert!(!queues_behind("EXCLUSIVE", "SHARED_READ"));
        assert!(!queues_behind("BACKUP_FTWRL1", "BACKUP_DML"));
    }
}
