//! The server's locks: Tare's own, so that who waits for which is known.

pub use tare::sync::{Condvar, Mutex, RwLock};
