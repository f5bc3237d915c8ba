//! The bytes of a Tare segment.
