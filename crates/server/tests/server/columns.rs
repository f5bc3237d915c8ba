//! Columns of performance_schema, sys and mysql in information_schema, over the wire: every row compared with MySQL
//! 8.0.15, 9.7.4 and MariaDB 10.11.

use std::collections::BTreeMap;

use tare_server::Series;

use super::support::{Running, rows};

const REFERENCE: [(Series, &str); 3] = [
    (
        Series::V8_0,
        include_str!("../../../rows/tests/fixtures/columns.tsv"),
    ),
    (
        Series::V9_7,
        include_str!("../../../rows/tests/fixtures/columns-9.7.tsv"),
    ),
    (
        Series::Mariadb,
        include_str!("../../../rows/tests/fixtures/columns-mariadb.tsv"),
    ),
];

#[test]
fn information_schema_describes_the_columns_as_mysql_does() {
    for (series, text) in REFERENCE {
        describes(series, text);
    }
}

fn describes(series: Series, text: &str) {
    let running = Running::with(|config| config.series = series);
    let mut conn = running.client();
    let mut expected: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let schema = line.split('\t').next().expect("a schema");
        if schema == "information_schema" {
            continue;
        }
        expected.entry(schema).or_default().push(fields);
    }
    // Schema mysql of the others is not in the fixtures.
    let schemas = if series == Series::V9_7 { 3 } else { 2 };
    assert_eq!(expected.len(), schemas, "{series}");
    for (schema, mut expected) in expected {
        let sql = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE \
             FROM information_schema.columns WHERE TABLE_SCHEMA = '{schema}'"
        );
        let mut described = rows(&mut conn, &sql);
        let key = |row: &Vec<String>| (row[1].clone(), row[2].parse::<u32>().expect("a position"));
        expected.sort_by_cached_key(key);
        described.sort_by_cached_key(key);
        for (described, expected) in described.iter().zip(&expected) {
            assert_eq!(described, expected, "{series}");
        }
        assert_eq!(described.len(), expected.len(), "{series}: {schema}");
        // Clients that ask for a table's columns get the same order.
        let mut tables: Vec<&str> = expected.iter().map(|r| r[1].as_str()).collect();
        tables.dedup();
        assert!(tables.len() >= 38, "{schema}: {}", tables.len());
        for table in tables {
            let listed = rows(&mut conn, &format!("SHOW COLUMNS FROM {schema}.`{table}`"));
            let listed: Vec<&str> = listed.iter().map(|r| r[0].as_str()).collect();
            let of = expected.iter().filter(|r| r[1] == table);
            let expected: Vec<&str> = of.map(|r| r[3].as_str()).collect();
            assert_eq!(listed, expected, "{schema}.{table}");
        }
    }
}
