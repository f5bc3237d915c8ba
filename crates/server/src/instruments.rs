//! What instruments are like when nobody has said anything.

use tare_layout::Kind;

/// Whether an instrument of this name is enabled, or timed, by default.
pub fn default_of(name: &str, timed: bool) -> bool {
    // This server's own are known one by one.
    if let Some(class) = tare::CLASSES.iter().find(|c| c.name() == name) {
        let timeless = matches!(class.kind(), Kind::Memory | Kind::Error | Kind::Thread);
        return class.enabled_by_default() && !(timed && timeless);
    }
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
