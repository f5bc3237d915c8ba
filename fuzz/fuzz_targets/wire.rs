//! Bytes of a client, as a login, as a parameter or as payloads to be sent back, never cause a crash.
#![no_main]

#[path = "../../crates/mysql/tests/hostile_packets/mod.rs"]
mod hostile_packets;

use hostile_packets::{bind, log_in, send};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, bool, Vec<&[u8]>, &[u8])| {
    let (code, unsigned, payloads, packet) = input;
    log_in(packet);
    bind(code, unsigned, packet);
    send(&payloads, code);
});
