//! Properties of any bytes that a client sends; for the tests here and for `fuzz/fuzz_targets/wire.rs`.

use tare_mysql::wire::ColumnType;
use tare_mysql::wire::bytes::{Cursor, put_lenenc_str};
use tare_mysql::wire::column::WireType;
use tare_mysql::wire::login::Login;
use tare_mysql::wire::packets::Packets;
use tare_mysql::wire::params::{self, Param};
use tare_mysql::wire::value::{Value, put_binary, put_text};

/// Parses a packet of a client that logs in or becomes another user. The packet is refused, or the login holds
/// no more bytes than the packet.
pub fn log_in(packet: &[u8]) {
    for login in [Login::of_handshake(packet), Login::of_change_user(packet)] {
        let Some(login) = login else { continue };
        // Bytes that are no text become U+FFFD, three bytes each.
        let bytes: usize = login.user.len()
            + login.database.as_ref().map_or(0, String::len)
            + login.plugin.as_ref().map_or(0, Vec::len)
            + login.answer.len()
            + login.attributes.len();
        assert!(bytes <= 3 * packet.len(), "{login:?} of {packet:02x?}");
    }
}

/// Reads a value of any type from any bytes. It is refused, or is within the bytes. Written in the type's form, it
/// is read as the same value.
pub fn bind(code: u8, unsigned: bool, bytes: &[u8]) {
    let mut cursor = Cursor::new(bytes);
    let Some(param) = params::read(&mut cursor, (code, unsigned)) else {
        return;
    };
    assert!(bytes.ends_with(cursor.rest()));
    let value = match &param {
        Param::Value(value) => *value,
        Param::Owned(text) => Value::Text(text.as_bytes()),
    };
    let code = ColumnType::try_from(code).expect("read");
    let mut wire = WireType::bigint_unsigned();
    wire.code = code;
    let mut row = Vec::new();
    put_text(&mut row, value, &wire);
    match value {
        Value::Null => assert_eq!(row, [0xfb]),
        _ => {
            let mut text = Cursor::new(&row);
            assert!(
                text.lenenc_str().is_some() && text.rest().is_empty(),
                "{row:02x?}"
            );
        }
    }
    // Dates are read as text, which the server normalises; NULL has no form.
    if value == Value::Null || matches!(param, Param::Owned(_)) {
        return;
    }
    let mut written = Vec::new();
    put_binary(&mut written, value, &wire);
    let mut again = Cursor::new(&written);
    let read = params::read(&mut again, (code as u8, unsigned)).expect("what was written is read");
    // A DECIMAL has its column's digits, and then stays as it is.
    if code == ColumnType::MYSQL_TYPE_NEWDECIMAL
        && let Param::Value(read) = read
    {
        let mut twice = Vec::new();
        put_binary(&mut twice, read, &wire);
        assert_eq!(twice, written, "{param:?}");
        return;
    }
    let same = match (&read, &param) {
        (Param::Value(Value::Real(a)), Param::Value(Value::Real(b))) => {
            a == b || (a.is_nan() && b.is_nan())
        }
        _ => read == param,
    };
    assert!(same && again.rest().is_empty(), "{read:?}, {param:?}");
}

/// Any payloads that are written as packets are read back unchanged, also when the packets are sent again.
pub fn send(payloads: &[&[u8]], sequence: u8) {
    let (mut first, mut again) = (Packets::default(), Packets::default());
    first.set_sequence(sequence);
    for payload in payloads {
        put_lenenc_str(first.begin(), payload);
        first.end();
    }
    again.replay(first.bytes());
    for (packets, begin) in [(&first, sequence), (&again, 0)] {
        let mut bytes = Cursor::new(packets.bytes());
        for (i, payload) in payloads.iter().enumerate() {
            let [a, b, c, number] = bytes.array().expect("a header");
            assert_eq!(number, begin.wrapping_add(i as u8));
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            let mut inside = Cursor::new(bytes.take(length).expect("a payload"));
            assert_eq!(inside.lenenc_str(), Some(*payload));
            assert!(inside.rest().is_empty());
        }
        assert!(bytes.rest().is_empty());
        assert_eq!(packets.sequence(), begin.wrapping_add(payloads.len() as u8));
    }
}
