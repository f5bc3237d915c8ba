//! Registering a class by hand.

use crate::class::Class;
use crate::engine::hot;

impl Class {
    /// Registers the class in the segment that records now, if one does; else it happens at the
    /// class's first event. For classes that [`classes!`](crate::classes) did not declare.
    pub fn register(&self) {
        hot::with(|engine| {
            engine.register(self);
        });
    }
}
