//! The default settings of instruments.

use tare_layout::Kind;
use tare_rows::defaults;

/// Whether an instrument of this name is enabled, or timed, by default.
pub fn default_of(name: &str, timed: bool) -> bool {
    // This server's own classes have defaults of their own.
    if let Some(class) = tare::CLASSES.iter().find(|c| c.name() == name) {
        let timeless = matches!(class.kind(), Kind::Memory | Kind::Error | Kind::Thread);
        return class.enabled_by_default() && !(timed && timeless);
    }
    defaults::of_kind(name, timed)
}
