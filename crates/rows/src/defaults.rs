//! The default settings of instruments.

use tare_layout::Kind;

/// Whether an instrument is enabled, or `timed`, by default, by the prefix of its name.
pub fn of_kind(name: &str, timed: bool) -> bool {
    let kinds = [
        ("wait/synch/", Kind::Mutex),
        ("wait/io/socket/", Kind::Socket),
        ("wait/io/file/", Kind::File),
        ("stage/", Kind::Stage),
        ("memory/", Kind::Memory),
        ("error", Kind::Error),
    ];
    let kind = kinds
        .into_iter()
        .find(|(start, _)| name.to_ascii_lowercase().starts_with(start));
    match kind {
        // Memory and errors have no time.
        Some((_, Kind::Memory | Kind::Error)) => !timed,
        Some((_, kind)) => kind.enabled_by_default(),
        None => true,
    }
}
