//! The C door.
