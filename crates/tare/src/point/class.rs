//! Registering a class by hand.

use crate::class::Class;
use crate::engine::hot;
use tare_layout::class::EventType;
use tare_layout::control::effective;

impl Class {
    /// Registers the class in the segment that records now, if one does; otherwise it is registered at
    /// its first event. For classes that [`classes!`](crate::classes) did not declare.
    pub fn register(&self) {
        hot::with(|engine| {
            engine.register(self);
        });
    }

    /// Whether the calling thread counts events of the class now: for hosts that prepare data for them.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn is_counted(&self) -> bool {
        let local = match self.kind().event_type() {
            Some(EventType::Wait | EventType::Idle) => hot::local_of_objects(),
            Some(_) => hot::local_of_statements(),
            None => hot::local(),
        };
        local.is_some_and(|local| local.bits(local.number(self)) & effective::COUNT != 0)
    }
}
