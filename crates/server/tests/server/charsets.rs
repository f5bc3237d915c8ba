//! The character sets that clients may name.

use std::io::Write;

use super::support::{Raw, Running, errno, exec, one, rows};

/// MySQL's character sets, and numbers of their collations: the default's first.
const CHARSETS: [(&str, &[u16]); 41] = [
    ("armscii8", &[32, 64]),
    ("ascii", &[11, 65]),
    ("big5", &[1, 84, 1025]),
    ("binary", &[63]),
    ("cp1250", &[26, 34, 44, 66, 99]),
    ("cp1251", &[51, 14, 23, 50, 52]),
    ("cp1256", &[57, 67]),
    ("cp1257", &[59, 29, 58]),
    ("cp850", &[4, 80]),
    ("cp852", &[40, 81]),
    ("cp866", &[36, 68]),
    ("cp932", &[95, 96, 1119]),
    ("dec8", &[3, 69]),
    ("eucjpms", &[97, 98]),
    ("euckr", &[19, 85]),
    ("gb18030", &[248, 249, 250]),
    ("gb2312", &[24, 86]),
    ("gbk", &[28, 87, 1052]),
    ("geostd8", &[92, 93]),
    ("greek", &[25, 70]),
    ("hebrew", &[16, 71]),
    ("hp8", &[6, 72]),
    ("keybcs2", &[37, 73]),
    ("koi8r", &[7, 74]),
    ("koi8u", &[22, 75]),
    ("latin1", &[8, 5, 15, 31, 47, 48, 49, 94]),
    ("latin2", &[9, 2, 21, 27, 77]),
    ("latin5", &[30, 78]),
    ("latin7", &[41, 20, 42, 79]),
    ("macce", &[38, 43]),
    ("macroman", &[39, 53]),
    ("sjis", &[13, 88]),
    ("swe7", &[10, 82]),
    ("tis620", &[18, 89]),
    ("ucs2", &[35, 90, 128, 151, 159]),
    ("ujis", &[12, 91]),
    ("utf16", &[54, 55, 101, 124]),
    ("utf16le", &[56, 62]),
    ("utf32", &[60, 61, 160, 183]),
    ("utf8mb3", &[33, 76, 83, 192, 215, 223]),
    ("utf8mb4", &[255, 45, 46, 224, 247, 278, 309]),
];

/// Those of which all bytes below 0x80 are ASCII, and which are served.
const SERVED: [&str; 5] = ["ascii", "binary", "latin1", "utf8mb3", "utf8mb4"];

/// The error number of an answer; 0 is OK.
fn answer(raw: &mut Raw) -> u16 {
    let packet = raw.read().expect("an answer");
    match packet[0] {
        0xff => u16::from_le_bytes([packet[1], packet[2]]),
        _ => 0,
    }
}

/// The values of the variables that SET NAMES sets.
fn variables(raw: &mut Raw) -> String {
    raw.query(
        "SELECT CONCAT(@@character_set_client, ' ', @@character_set_connection, ' ', @@character_set_results)",
    );
    // The number of columns, the column, and the end of columns.
    for _ in 0..3 {
        raw.read().expect("a packet");
    }
    let row = raw.read().expect("a row");
    raw.read().expect("the end");
    String::from_utf8_lossy(&row[1..]).into_owned()
}

/// COM_CHANGE_USER to root.
fn change_user(raw: &mut Raw, collation: u16) -> u16 {
    let collation = collation.to_le_bytes();
    raw.send(
        0,
        &[
            b"\x11root\0\0\0",
            &collation[..],
            b"mysql_native_password\0",
        ]
        .concat(),
    );
    answer(raw)
}

#[test]
fn a_handshake_names_the_character_sets_that_set_names_accepts() {
    let running = Running::start();
    let mut conn = running.root();
    for (name, collations) in CHARSETS {
        let expected = if SERVED.contains(&name) { 0 } else { 1115 };
        for set in [
            format!("SET NAMES {name}"),
            format!("SET CHARACTER SET '{name}'"),
            format!("SET character_set_client = '{name}'"),
            format!("SET GLOBAL character_set_server = '{name}'"),
        ] {
            assert_eq!(errno(&mut conn, &set), expected, "{set}");
        }
        for &collation in collations {
            if let Ok(collation) = collation.try_into() {
                let mut raw = Raw::connect(&running);
                raw.log_in(collation);
                assert_eq!(answer(&mut raw), expected, "{name}: handshake {collation}");
                match expected {
                    0 => assert_eq!(variables(&mut raw), format!("{name} {name} {name}")),
                    _ => assert_eq!(raw.read(), None, "the connection is closed"),
                }
            }
            let mut raw = Raw::root(&running);
            let code = change_user(&mut raw, collation);
            assert_eq!(code, expected, "{name}: COM_CHANGE_USER {collation}");
            match expected {
                0 => assert_eq!(variables(&mut raw), format!("{name} {name} {name}")),
                _ => assert_eq!(raw.read(), None, "the connection is closed"),
            }
        }
    }
    exec(&mut conn, "SET NAMES latin1");
    exec(&mut conn, "SET NAMES DEFAULT");
    assert_eq!(one(&mut conn, "SELECT @@character_set_client"), "utf8mb4");
    assert_eq!(errno(&mut conn, "SET character_set_client = 'none'"), 1115);
}

/// As in MySQL, a number that no collation has is the server's default.
#[test]
fn an_unknown_collation_is_ignored() {
    let running = Running::start();
    for collation in [0, 17, 100, 254] {
        let mut raw = Raw::connect(&running);
        raw.log_in(collation);
        assert_eq!(answer(&mut raw), 0, "{collation}");
        assert_eq!(variables(&mut raw), "utf8mb4 utf8mb4 utf8mb4");
    }
}

/// A client that escapes in gbk sends 0xb5 0x5c as one character, and then an escaped quote. In UTF-8 these are
/// a wrong byte, an escaped backslash and the end of the text.
#[test]
fn a_text_that_was_escaped_in_gbk_is_not_read_in_utf8() {
    let running = Running::start();
    let attack = b"\x03SELECT 'a' FROM dual WHERE 'b' = '\xb5\x5c\\' UNION SELECT USER() -- '";
    for collation in [28, 87, 1, 13, 95, 248] {
        let mut raw = Raw::connect(&running);
        raw.log_in(collation);
        // The server may have closed the connection by now.
        let packet = [&[attack.len() as u8, 0, 0, 0], &attack[..]].concat();
        let _ = raw.stream.write_all(&packet);
        assert_eq!(raw.error(), 1115, "{collation}");
        assert_eq!(raw.read(), None, "the attack has no answer");
    }
    for set in [
        "SET NAMES gbk",
        "SET CHARACTER SET gbk",
        "SET character_set_client = gbk, character_set_connection = gbk",
    ] {
        let mut raw = Raw::root(&running);
        raw.query(set);
        assert_eq!(raw.error(), 1115, "{set}");
        assert_eq!(variables(&mut raw), "utf8mb4 utf8mb4 utf8mb4", "{set}");
    }
}

#[test]
fn results_may_be_left_unconverted_and_the_setting_restored() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "SET character_set_results = NULL");
    exec(
        &mut conn,
        "SET character_set_results = @@character_set_results",
    );
    exec(&mut conn, "SET NAMES latin1");
    let results: String = one(&mut conn, "SELECT @@character_set_results");
    assert_eq!(results, "latin1");
}

/// As MySQL 9.7.4 answers. Its texts may also be of another character set, which Tare does not distinguish.
#[test]
fn a_collation_fits_its_operand() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE DATABASE collations");
    exec(
        &mut conn,
        "CREATE TABLE collations.a (c CHAR(5), bi BINARY(4), vb VARBINARY(4), bl BLOB, bt BIT(10), i INT, j JSON, \
         d DATE, e ENUM('a'))",
    );
    for operand in [
        "bi",
        "vb",
        "bl",
        "bt",
        "x'41'",
        "b'1'",
        "_binary'a'",
        "CAST('a' AS BINARY)",
        "NULL",
        "CONCAT(bi, c)",
        "UUID_TO_BIN(UUID())",
    ] {
        for collation in ["utf8mb4_bin", "utf8mb4_general_ci", "utf8_general_ci"] {
            let query = format!("SELECT {operand} COLLATE {collation} FROM collations.a");
            assert_eq!(errno(&mut conn, &query), 1253, "{query}");
        }
    }
    for operand in ["c", "i", "j", "d", "e", "'a'", "CONVERT(bi USING utf8mb4)"] {
        let query = format!("SELECT {operand} COLLATE utf8mb4_bin FROM collations.a");
        exec(&mut conn, &query);
        let query = format!("SELECT {operand} COLLATE nonsense FROM collations.a");
        assert_eq!(errno(&mut conn, &query), 1273, "{query}");
    }
    exec(
        &mut conn,
        "SELECT 1 FROM collations.a WHERE bi = 'x' COLLATE utf8mb4_bin",
    );
    let query = "SELECT 1 FROM collations.a ORDER BY bi COLLATE utf8mb4_bin";
    assert_eq!(errno(&mut conn, query), 1253);
    for operand in ["c", "j", "e", "'a'"] {
        let query = format!("SELECT {operand} COLLATE `binary` FROM collations.a");
        assert_eq!(errno(&mut conn, &query), 1253, "{query}");
    }
    for operand in ["bi", "x'41'", "NULL", "i", "d"] {
        exec(
            &mut conn,
            &format!("SELECT {operand} COLLATE 'binary' FROM collations.a"),
        );
    }
    assert_eq!(
        errno(&mut conn, "SELECT bi COLLATE binary FROM collations.a"),
        1064
    );
    let query = "SELECT 'a' COLLATE UTF8MB4_BIN = 'A', 'a' COLLATE `utf8mb4_bin` = 'A', \
                 'a' COLLATE utf8mb4_general_ci = 'A'";
    assert_eq!(rows(&mut conn, query), [["0", "0", "1"]]);
}

/// The evaluation has collations of its own, by which no client can compare.
#[test]
fn a_client_cannot_name_the_collations_of_the_evaluation() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE DATABASE own");
    exec(&mut conn, "CREATE TABLE own.a (c CHAR(5))");
    for name in [
        "nocase",
        "NOCASE",
        "rtrim",
        "tare_any",
        "tare_decimal",
        "tare_time",
    ] {
        for query in [
            "SELECT c COLLATE {} FROM own.a",
            "SELECT c COLLATE `{}` FROM own.a",
            "SELECT c COLLATE '{}' FROM own.a",
            "SELECT 1 FROM own.a WHERE c COLLATE {} = 'a'",
            "SELECT 1 FROM own.a ORDER BY c COLLATE {}",
            "SELECT GROUP_CONCAT(c ORDER BY c COLLATE {}) FROM own.a",
            "SELECT 1 FROM own.a GROUP BY c COLLATE {}",
            "UPDATE own.a SET c = 'b' WHERE c COLLATE {} = 'a'",
            "DELETE FROM own.a WHERE c IN ('a' COLLATE {})",
            "INSERT INTO own.a VALUES ('a' COLLATE {})",
            "CREATE TABLE own.b (c CHAR(5) COLLATE {})",
            "CREATE TABLE own.b (c CHAR(5)) COLLATE {}",
            "CREATE DATABASE other COLLATE {}",
            "CREATE SCHEMA IF NOT EXISTS own DEFAULT CHARACTER SET latin1 COLLATE = '{}'",
            "CREATE VIEW own.v AS SELECT c COLLATE {} AS d FROM own.a",
            "SET NAMES utf8mb4 COLLATE {}",
            "SET collation_connection = {}",
        ] {
            let query = query.replace("{}", name);
            assert_eq!(errno(&mut conn, &query), 1273, "{query}");
        }
    }
}
