//! What instruments are like when nobody has said anything.

use tare_layout::Kind;
use tare_rows::defaults;

/// Whether an instrument of this name is enabled, or timed, by default.
pub fn default_of(name: &str, timed: bool) -> bool {
    // This server's own are known one by one.
    if let Some(class) = tare::CLASSES.iter().find(|c| c.name() == name) {
        let timeless = matches!(class.kind(), Kind::Memory | Kind::Error | Kind::Thread);
        return class.enabled_by_default() && !(timed && timeless);
    }
    defaults::of_kind(name, timed)
}
