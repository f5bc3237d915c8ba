//! What each call of the interface means in Tare's engine.
