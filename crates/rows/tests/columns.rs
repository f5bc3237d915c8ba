//! Every column of performance_schema is what MySQL 8.0.15 has, or what 9.7.4 or MariaDB 10.11 has, as read
//! from real servers' information_schema.columns into fixtures/columns.tsv, columns-9.7.tsv and
//! columns-mariadb.tsv: schema, table, position, column, type, nullable. server/columns.rs compares schema
//! sys with them, over the wire.

use std::collections::BTreeMap;

use tare_mysql::series::Series;
use tare_rows::describe::{Key, Meta, Table};
use tare_rows::registry;

/// Of each series: what it has, and how many tables of performance_schema.
const REFERENCE: [(Series, &str, usize); 3] = [
    (Series::V8_0, include_str!("fixtures/columns.tsv"), 102),
    (Series::V9_7, include_str!("fixtures/columns-9.7.tsv"), 117),
    (
        Series::Mariadb,
        include_str!("fixtures/columns-mariadb.tsv"),
        81,
    ),
];
/// The tables and columns of information_schema, as a MySQL 9.7.4 has them.
const INFORMATION_SCHEMA: &str = include_str!("fixtures/information_schema.tsv");

fn reference(text: &str, of: &str) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [schema, table, position, column, kind, null] = fields[..] else {
            panic!("{line:?}")
        };
        if schema != of {
            continue;
        }
        tables
            .entry(table.into())
            .or_default()
            .push(format!("{position} {column} {kind} {null}"));
    }
    tables
}

/// A table's columns, as the reference has them.
fn described(table: &dyn Table) -> Vec<String> {
    let columns = table.columns();
    let columns = columns.iter().enumerate();
    columns
        .map(|(i, c)| {
            let null = if c.nullable { "YES" } else { "NO" };
            format!("{} {} {} {null}", i + 1, c.name, c.column_type)
        })
        .collect()
}

#[test]
fn performance_schema_is_the_reference_s() {
    for (series, text, tables) in REFERENCE {
        let reference = reference(text, "performance_schema");
        assert_eq!(reference.len(), tables, "{series}: the fixture lost tables");
        check_series(series, &reference);
    }
}

fn check_series(series: Series, reference: &BTreeMap<String, Vec<String>>) {
    for (name, expected) in reference {
        let table = registry::find(series, "performance_schema", name).expect(name);
        assert_eq!(&described(table), expected, "{series}: {name}");
    }
}

#[test]
fn performance_schema_has_no_table_that_the_reference_lacks() {
    for (series, text, _) in REFERENCE {
        let reference = reference(text, "performance_schema");
        for table in registry::tables_in(series, "performance_schema") {
            let name = table.name();
            assert!(
                reference.contains_key(name),
                "{series}: {name} is not in the fixture"
            );
        }
    }
}

/// information_schema has all tables of 9.7.4; those that 8.0 does not have are MySQL's to the column.
#[test]
fn information_schema_has_9_7s_tables() {
    let (series, text, _) = REFERENCE[1];
    let schema = "information_schema";
    let reference = reference(text, schema);
    assert_eq!(reference.len(), 84);
    for (name, expected) in &reference {
        let table = registry::find(series, schema, name).unwrap_or_else(|| panic!("{name}"));
        if registry::find(Series::V8_0, schema, name).is_none() {
            assert_eq!(&described(table), expected, "{name}");
        }
    }
    let is_reference = |name: &str| reference.keys().any(|n| n.eq_ignore_ascii_case(name));
    let more = registry::tables_in(series, schema).map(|t| t.name());
    let more: Vec<&str> = more.filter(|name| !is_reference(name)).collect();
    // Those of 5.7, which some clients still ask for.
    assert_eq!(more, ["INNODB_LOCKS", "INNODB_LOCK_WAITS"]);
}

/// Tables that are new in 9.7. For some, MySQL 9.7.4 lists keys in information_schema.statistics.
#[test]
fn keys_of_new_tables_are_mysqls() {
    let expected: BTreeMap<&str, &[Key]> = BTreeMap::from([
        (
            "error_log",
            &[
                Key::Primary(&["LOGGED"]),
                Key::Plain("THREAD_ID", &["THREAD_ID"]),
                Key::Plain("PRIO", &["PRIO"]),
                Key::Plain("ERROR_CODE", &["ERROR_CODE"]),
                Key::Plain("SUBSYSTEM", &["SUBSYSTEM"]),
            ] as &[Key],
        ),
        ("processlist", &[Key::Primary(&["ID"])]),
        ("setup_meters", &[Key::Primary(&["NAME"])]),
        ("setup_metrics", &[Key::Primary(&["NAME"])]),
        (
            "temporary_account_locks",
            &[Key::Unique("ACCOUNT", &["USER", "HOST"])],
        ),
    ]);
    let schema = "performance_schema";
    for table in registry::tables_in(Series::V9_7, schema) {
        if registry::find(Series::V8_0, schema, table.name()).is_none() {
            let expected = expected.get(table.name()).copied().unwrap_or(&[]);
            assert_eq!(table.keys(), expected, "{}", table.name());
        }
    }
}

#[test]
fn descriptions_are_complete() {
    for table in registry::described() {
        let columns = table.columns();
        let name = table.name();
        let sentence = |text: &str| text.ends_with('.') && text.len() > 3;
        assert!(sentence(table.doc()), "{name}");
        if table.is_always_empty() {
            let has_reason = table.doc().contains("Always empty");
            assert!(has_reason, "{name}: why is it empty?");
        }
        for column in &columns {
            assert!(sentence(column.doc), "{name}.{}", column.name);
            // One that series have otherwise is described for each of them.
            let shares = |c: &&Meta| c.series.iter().any(|s| column.series.contains(s));
            let twins = columns
                .iter()
                .filter(|c| c.name.eq_ignore_ascii_case(column.name))
                .filter(shares);
            assert_eq!(twins.count(), 1, "{name}.{}", column.name);
        }
        let has_column = |c: &str| columns.iter().any(|m| m.name == c);
        assert!(
            table
                .keys()
                .iter()
                .all(|k| k.columns().iter().all(|c| has_column(c))),
            "{name}"
        );
        assert!(table.filters().iter().all(|c| has_column(c)), "{name}");
        if let Some(update) = table.update() {
            assert!(update.columns.iter().all(|c| has_column(c)), "{name}");
        }
    }
}

/// A column that is always the same exists only because MySQL has it. All columns of performance_schema are
/// MySQL's (see above).
#[test]
fn no_column_of_our_own_is_constant() {
    let mysqls = |table: &str, column: &str| {
        INFORMATION_SCHEMA.lines().any(|line| {
            line.split_once('\t').is_some_and(|(t, c)| {
                t.eq_ignore_ascii_case(table) && c.eq_ignore_ascii_case(column)
            })
        })
    };
    let constant = |doc: &str| doc.contains("lways ") || doc.starts_with("Not ");
    let mut constants = 0;
    for table in registry::described()
        .iter()
        .filter(|t| !t.is_always_empty())
    {
        for column in table.columns().iter().filter(|c| constant(c.doc)) {
            constants += 1;
            let name = format!("{}.{}.{}", table.schema(), table.name(), column.name);
            match table.schema() {
                "tare" => panic!("{name} is always the same, and MySQL has no such column"),
                "information_schema" => assert!(mysqls(table.name(), column.name), "{name}"),
                _ => {}
            }
        }
    }
    assert!(
        constants > 50,
        "the columns that say so are found: {constants}"
    );
}
