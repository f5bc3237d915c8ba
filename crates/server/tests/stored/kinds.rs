//! Column types, and values at their bounds and beyond.

use super::chance::Chance;

/// What expressions can do with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Number,
    Date,
    Time,
    Text,
    Bytes,
    Member,
    Year,
}

/// A type: its SQL, its family, and literals to store in it.
#[derive(Debug)]
pub struct Kind {
    pub sql: &'static str,
    pub family: Family,
    pub values: &'static [&'static str],
}

const fn kind(sql: &'static str, family: Family, values: &'static [&'static str]) -> Kind {
    Kind {
        sql,
        family,
        values,
    }
}

use Family::*;

pub static KINDS: &[Kind] = &[
    kind(
        "TINYINT",
        Number,
        &[
            "0", "1", "-1", "127", "-128", "128", "-129", "'12'", "1.5", "-0.5",
        ],
    ),
    kind(
        "SMALLINT UNSIGNED",
        Number,
        &["0", "1", "65535", "65536", "-1", "7", "2.5"],
    ),
    kind(
        "INT",
        Number,
        &[
            "0",
            "1",
            "-1",
            "2147483647",
            "-2147483648",
            "2147483648",
            "5",
            "'42'",
            "99.49",
        ],
    ),
    kind(
        "INT UNSIGNED",
        Number,
        &["0", "1", "4294967295", "4294967296", "-1", "12", "'7'"],
    ),
    kind(
        "BIGINT",
        Number,
        &[
            "0",
            "1",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "9223372036854775806",
            "4611686018427387904",
            "1000000007",
            "-3",
        ],
    ),
    kind(
        "BIGINT UNSIGNED",
        Number,
        &[
            "0",
            "1",
            "-1",
            "18446744073709551615",
            "18446744073709551614",
            "9223372036854775808",
            "9223372036854775807",
            "18446744073709551616",
            "10",
            "5",
        ],
    ),
    kind(
        "DECIMAL(10,2)",
        Number,
        &[
            "0",
            "0.01",
            "-0.01",
            "1.115",
            "1.105",
            "-1.115",
            "99999999.99",
            "99999999.995",
            "100000000",
            "30.5",
            "'2.50'",
            "7",
        ],
    ),
    kind(
        "DECIMAL(30,10)",
        Number,
        &[
            "0",
            "12345678901234567890.1234567891",
            "-12345678901234567890.1234567891",
            "0.1",
            "0.2",
            "0.3",
            "99999999999999999999.9999999999",
            "0.0000000001",
            "0.00000000005",
            "1",
        ],
    ),
    kind(
        "DECIMAL(65,30)",
        Number,
        &[
            "0",
            "0.000000000000000000000000000001",
            "99999999999999999999999999999999999.999999999999999999999999999999",
            "-1.5",
            "3",
            "123456789.987654321",
        ],
    ),
    kind(
        "DECIMAL(5,0) UNSIGNED",
        Number,
        &["0", "1", "99999", "100000", "-1", "12.5", "0.4"],
    ),
    kind(
        "DOUBLE",
        Number,
        &["0", "0.5", "-2.25", "1e10", "-1024", "3"],
    ),
    kind(
        "FLOAT",
        Number,
        &[
            "0",
            "0.1",
            "1.23456789",
            "16777217",
            "-1e20",
            "3.4e38",
            "3.5e38",
            "'0.2'",
        ],
    ),
    kind(
        "DOUBLE(10,3)",
        Number,
        &[
            "0",
            "1.0005",
            "-1.0015",
            "9999999.9994",
            "9999999.9996",
            "1e9",
            "7",
        ],
    ),
    kind(
        "DATE",
        Date,
        &[
            "'2020-02-29'",
            "'2020-02-30'",
            "20200105",
            "'2020/01/06'",
            "'9999-12-31'",
            "'1000-01-01'",
            "'1999-12-31'",
            "'2021-13-01'",
            "'2020-1-7'",
            "'20-01-08'",
        ],
    ),
    kind(
        "DATETIME",
        Date,
        &[
            "'2020-02-29 23:59:59'",
            "'2020-02-29 23:59:59.5'",
            "'2020-02-30 00:00:00'",
            "20200105010203",
            "'2020/01/06 1:2:3'",
            "'9999-12-31 23:59:59'",
            "'2021-01-01'",
            "'2021-01-01 25:00:00'",
        ],
    ),
    kind(
        "DATETIME(3)",
        Date,
        &[
            "'2020-02-29 23:59:59.9994'",
            "'2020-02-29 23:59:59.9995'",
            "'2020-01-01 00:00:00.001'",
            "'2020-01-01'",
            "'2020-01-01 00:00:00'",
        ],
    ),
    kind(
        "TIMESTAMP(6) NULL",
        Date,
        &[
            "'2020-02-29 12:00:00.123456'",
            "'2037-12-31 00:00:00'",
            "'1971-01-02 00:00:00'",
            "'2020-06-01 10:00:00.5'",
            "'2020-02-30 00:00:00'",
        ],
    ),
    kind(
        "TIME",
        Time,
        &[
            "'00:00:00'",
            "'12:34:56'",
            "'-01:00:00'",
            "'838:59:59'",
            "'100:00:00'",
            "'10:20'",
            "'99:59:59'",
            "123456",
        ],
    ),
    kind(
        "YEAR",
        Year,
        &["2020", "1901", "2155", "1999", "2001", "'2020'", "0"],
    ),
    kind(
        "VARCHAR(10)",
        Text,
        &[
            "''",
            "'a'",
            "'A'",
            "'b'",
            "'abc'",
            "'ABC '",
            "'é'",
            "'e'",
            "'Z'",
            "'1'",
            "'10'",
            "'0123456789'",
            "'01234567890'",
            "'a_b'",
            "'%'",
        ],
    ),
    kind(
        "CHAR(5)",
        Text,
        &[
            "''", "'a'", "'A'", "'abcde'", "'abcdef'", "'ab  '", "'É'", "'E'", "'x'",
        ],
    ),
    kind(
        "VARBINARY(8)",
        Bytes,
        &[
            "''",
            "'a'",
            "'A'",
            "x'00ff'",
            "'abcdefgh'",
            "'abcdefghi'",
            "'a '",
        ],
    ),
    kind(
        "ENUM('b','a','C')",
        Member,
        &["'a'", "'b'", "'C'", "'c'", "'d'", "1", "3", "4"],
    ),
    kind(
        "SET('x','y','z')",
        Member,
        &["''", "'x'", "'z,x'", "'x,y,z'", "'q'", "5", "8"],
    ),
];

/// The kinds that TARE_STORED_KINDS names, or all.
pub fn chosen() -> Vec<&'static Kind> {
    let Ok(names) = std::env::var("TARE_STORED_KINDS") else {
        return KINDS.iter().collect();
    };
    let is_named = |k: &&Kind| names.split('|').any(|n| k.sql.eq_ignore_ascii_case(n));
    KINDS.iter().filter(is_named).collect()
}

/// A literal for a column of this kind, sometimes of another kind.
pub fn value(kind: &Kind, all: &[&'static Kind], chance: &mut Chance) -> &'static str {
    if chance.once_in(14) {
        return "NULL";
    }
    if chance.once_in(25) {
        let other = chance.one(all);
        if other.family == kind.family {
            return chance.one::<&str>(other.values);
        }
    }
    chance.one::<&str>(kind.values)
}
