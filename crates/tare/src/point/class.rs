//! Registering a class by hand.

use std::sync::atomic::Ordering;

use crate::class::Class;
use crate::engine::hot;
use crate::engine::running::NOW;
use crate::number::NO_NUMBER;
use crate::payload::IS_COMPILED_IN;
use tare_layout::class::EventType;
use tare_layout::control::effective;

impl Class {
    /// Registers the class in the segment that records now, if one does; otherwise it is registered at its
    /// first event. For classes that [`classes!`](crate::classes) did not declare. False: a segment records,
    /// and has no space for the class, so that its events are not counted.
    #[inline]
    pub fn register(&self) -> bool {
        if !IS_COMPILED_IN {
            return true;
        }
        let generation = NOW.generation.load(Ordering::Relaxed);
        let number = self.number.get(generation);
        let number = number.or_else(|| hot::with_running(|engine| engine.register(self)));
        generation == 0 || number != Some(NO_NUMBER)
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
