//! Kinds of PostgreSQL's files, by the directories of its data.

use std::path::{Component, Path};

use crate::names::FileKind;

const fn kind(name: &'static str, documentation: &'static str) -> FileKind {
    FileKind {
        name,
        documentation,
        ends: &[],
    }
}

/// PostgreSQL's kinds of files.
pub const KINDS: &[FileKind] = &[
    kind("wal", "The write-ahead log."),
    kind(
        "temporary",
        "Files of sorts, hashes and other queries' data.",
    ),
    kind("relation", "Tables and indexes."),
    kind(
        "slru",
        "States of transactions, and other data of pg_stat_slru.",
    ),
    kind("statistics", "Statistics."),
    kind("replication", "Slots and states of replication."),
];

/// Index in [`KINDS`] of the directories that have files of one kind.
const DIRECTORIES: [(&str, usize); 16] = [
    ("pg_wal", 0),
    ("pgsql_tmp", 1),
    ("base", 2),
    ("global", 2),
    ("pg_tblspc", 2),
    ("pg_xact", 3),
    ("pg_multixact", 3),
    ("pg_subtrans", 3),
    ("pg_commit_ts", 3),
    ("pg_notify", 3),
    ("pg_serial", 3),
    ("pg_stat", 4),
    ("pg_stat_tmp", 4),
    ("pg_replslot", 5),
    ("pg_logical", 5),
    ("pg_snapshots", 5),
];
/// The deepest of these directories is so far above its files.
const MAX_DEPTH: usize = 4;

/// Index in [`KINDS`] of the file with this path; `None`: another kind of file.
pub fn kind_of(path: &str) -> Option<usize> {
    let directories = Path::new(path).parent()?.components().rev().take(MAX_DEPTH);
    let names = directories.filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    names.into_iter().find_map(|name| {
        let listed = DIRECTORIES.iter().find(|(directory, _)| *directory == name);
        // A tablespace's directory has the version in its name: `PG_15_202209061`.
        let is_tablespace =
            name.starts_with("PG_") && name[3..].starts_with(|c: char| c.is_ascii_digit());
        match listed {
            Some((_, kind)) => Some(*kind),
            None => is_tablespace.then_some(2),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_classified_by_their_directories() {
        let kind = |path: &str| kind_of(path).map(|kind| KINDS[kind].name);
        let main = "/var/lib/postgresql/15/main";
        assert_eq!(kind(&format!("{main}/pg_wal/00000001")), Some("wal"));
        assert_eq!(
            kind(&format!("{main}/pg_wal/archive_status/0.done")),
            Some("wal")
        );
        assert_eq!(kind("base/5/16384"), Some("relation"));
        assert_eq!(kind("global/pg_control"), Some("relation"));
        assert_eq!(kind("base/pgsql_tmp/pgsql_tmp77.0"), Some("temporary"));
        assert_eq!(
            kind("base/pgsql_tmp/pgsql_tmp77.0.fileset/0.0"),
            Some("temporary")
        );
        assert_eq!(
            kind("/mnt/fast/PG_15_202209061/5/16390_fsm"),
            Some("relation")
        );
        assert_eq!(kind("pg_multixact/members/0000"), Some("slru"));
        assert_eq!(kind("pg_replslot/standby/state"), Some("replication"));
        assert_eq!(kind(&format!("{main}/PG_VERSION")), None);
        assert_eq!(kind("/srv/global/pg/15/main/data/postmaster.opts"), None);
        assert_eq!(kind("/etc/passwd"), None);
    }
}
