//! What a client sends may be any bytes: an error, or what they say, never a crash.
//!
//! A thousand cases each; a million under `make test-long`, and without end under `make fuzz`.

mod hostile_packets;

use std::collections::HashMap;

use hostile_packets::{bind, log_in, send};
use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{AuthPlugin, HandshakeResponse};
use mysql_common::proto::MySerialize;
use proptest::prelude::*;
use tare_mysql::wire::bytes::{Cursor, put_lenenc_str};
use tare_mysql::wire::login::Login;

/// `make test-long` sets TARE_TEST_LONG.
fn cases() -> ProptestConfig {
    let cases = match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => 1_000_000,
        None => 1_000,
    };
    // Failures are stored in no file. A failing input is printed, and is small once it is shrunk.
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

/// Text without a zero, which would end it.
fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_äß]{1,12}"
}

fn handshake(user: &str, database: &str, attributes: &HashMap<String, String>) -> Vec<u8> {
    let capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
        | CapabilityFlags::CLIENT_CONNECT_ATTRS;
    let mut packet = Vec::new();
    HandshakeResponse::new(
        Some(b"twenty bytes of hash".as_slice()),
        (8, 0, 15),
        Some(user.as_bytes()),
        Some(database.as_bytes()),
        Some(AuthPlugin::MysqlNativePassword),
        capabilities,
        Some(attributes.clone()),
        1 << 24,
    )
    .serialize(&mut packet);
    packet
}

/// Names and values of attributes as a client sends them.
fn attributes_of(bytes: &[u8]) -> Vec<(String, String)> {
    let mut cursor = Cursor::new(bytes);
    let mut text = || String::from_utf8(cursor.lenenc_str()?.to_vec()).ok();
    std::iter::from_fn(|| Some((text()?, text()?))).collect()
}

fn change_user(user: &str, database: &str, attributes: &[(String, String)]) -> Vec<u8> {
    let mut inside = Vec::new();
    for (name, value) in attributes {
        put_lenenc_str(&mut inside, name.as_bytes());
        put_lenenc_str(&mut inside, value.as_bytes());
    }
    let mut packet = [
        user.as_bytes(),
        &[0, 3, 1, 2, 3],
        database.as_bytes(),
        &[0, 45, 0],
    ]
    .concat();
    packet.extend_from_slice(b"mysql_native_password\0");
    put_lenenc_str(&mut packet, &inside);
    packet
}

/// Some bytes of a packet changed, and its end cut off.
fn damaged(mut packet: Vec<u8>, changes: &[(usize, u8)], length: usize) -> Vec<u8> {
    for (at, value) in changes {
        let at = at % packet.len();
        packet[at] = *value;
    }
    packet.truncate(packet.len() - length % packet.len());
    packet
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn arbitrary_bytes_are_refused_or_a_bounded_login(packet in bytes(256)) {
        log_in(&packet);
    }

    #[test]
    fn a_login_is_read_as_it_was_sent(user in word(), database in word(), names in prop::collection::btree_map(word(), word(), 0..4)) {
        let attributes: HashMap<String, String> = names.clone().into_iter().collect();
        let login = Login::of_handshake(&handshake(&user, &database, &attributes)).expect("read");
        prop_assert_eq!((&login.user, login.database.as_ref()), (&user, Some(&database)));
        prop_assert_eq!(login.plugin.as_deref(), Some(b"mysql_native_password".as_slice()));
        prop_assert_eq!(login.answer, b"twenty bytes of hash");
        let all = attributes_of(&login.attributes);
        prop_assert_eq!(all.into_iter().collect::<HashMap<_, _>>(), attributes);
        let sent: Vec<_> = names.into_iter().collect();
        let login = Login::of_change_user(&change_user(&user, &database, &sent)).expect("read");
        prop_assert_eq!((login.user, login.database), (user, Some(database)));
        prop_assert_eq!((login.answer, attributes_of(&login.attributes)), (vec![1, 2, 3], sent));
    }

    #[test]
    fn a_damaged_login_is_refused_or_harmless(
        user in word(),
        names in prop::collection::hash_map(word(), word(), 0..4),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        length in prop_oneof![Just(0), any::<usize>()],
    ) {
        log_in(&damaged(handshake(&user, "test", &names), &changes, length));
        let sent: Vec<_> = names.into_iter().collect();
        log_in(&damaged(change_user(&user, "test", &sent), &changes, length));
    }

    #[test]
    fn values_are_refused_or_survive_a_round_trip(code in any::<u8>(), unsigned in any::<bool>(), value in bytes(32)) {
        bind(code, unsigned, &value);
    }

    #[test]
    fn packets_contain_their_payloads(payloads in prop::collection::vec(bytes(300), 0..6), sequence in any::<u8>()) {
        let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        send(&payloads, sequence);
    }
}
