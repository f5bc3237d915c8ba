//! The load: tables whose checksums must not change, and threads that connect, work and disconnect.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mysql::Conn;
use mysql::prelude::Queryable;

use super::servers::Server;
use super::support::wait_for;

const TABLES: usize = 4;

/// Creates and fills the tables.
pub fn create_tables(connection: &mut Conn) {
    connection
        .query_drop("CREATE DATABASE hard")
        .expect("database");
    for table in 0..TABLES {
        let create = format!(
            "CREATE TABLE hard.t{table} (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, note VARCHAR(60), KEY (n)) ENGINE = InnoDB"
        );
        connection.query_drop(create).expect("table");
        let rows: Vec<String> = (0..500)
            .map(|id| format!("({id}, {id} % 7, 'row {id}')"))
            .collect();
        let insert = format!("INSERT INTO hard.t{table} VALUES {}", rows.join(", "));
        connection.query_drop(insert).expect("rows");
    }
}

/// Checksums of the tables, computed by the server.
pub fn checksums(connection: &mut Conn) -> BTreeMap<String, Option<u64>> {
    let names: Vec<String> = (0..TABLES).map(|table| format!("hard.t{table}")).collect();
    let rows: Vec<(String, Option<u64>)> = connection
        .query(format!("CHECKSUM TABLE {}", names.join(", ")))
        .expect("checksums");
    assert!(
        rows.len() == TABLES && rows.iter().all(|(_, sum)| sum.is_some()),
        "{rows:?}"
    );
    rows.into_iter().collect()
}

/// A transaction that increments and decrements the same row, so that the table does not change, even after a
/// crash.
fn work(connection: &mut Conn, seed: usize) -> mysql::Result<()> {
    let (table, id) = (seed % TABLES, seed * 31 % 500);
    connection.query_drop(format!("SELECT * FROM hard.t{table} WHERE id = {id}"))?;
    connection.query_drop(format!(
        "SELECT COUNT(*) FROM hard.t{table} WHERE n = {}",
        seed % 7
    ))?;
    connection.query_drop("BEGIN")?;
    connection.query_drop(format!(
        "UPDATE hard.t{table} SET n = n + 1 WHERE id = {id}"
    ))?;
    connection.query_drop(format!(
        "UPDATE hard.t{table} SET n = n - 1 WHERE id = {id}"
    ))?;
    connection.query_drop("COMMIT")?;
    connection.exec_drop("SELECT note FROM hard.t0 WHERE id = ?", (id,))
}

/// Runs `meanwhile` under load and returns the number of connections. No connection may fail before
/// `meanwhile` ends.
pub fn under_load(server: &Server, threads: usize, meanwhile: impl FnOnce()) -> usize {
    let (stop, served, failed) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (stop, served, failed) = (&stop, &served, &failed);
            scope.spawn(move || {
                let mut seed = thread;
                while !stop.load(Ordering::Relaxed) {
                    seed += threads;
                    let worked = server.try_connect().and_then(|mut connection| {
                        (0..3).try_for_each(|step| work(&mut connection, seed + step))
                    });
                    match worked {
                        Ok(()) => served.fetch_add(1, Ordering::Relaxed),
                        // A lock wait timeout or a deadlock of two clients.
                        Err(mysql::Error::MySqlError(error))
                            if [1205, 1213].contains(&error.code) =>
                        {
                            0
                        }
                        Err(_) if stop.load(Ordering::Relaxed) => 0,
                        Err(_) => failed.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
        // Stops the load even if `meanwhile` panics.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop);
        wait_for("the load to begin", || {
            (served.load(Ordering::Relaxed) > threads / 4).then_some(())
        });
        assert_eq!(failed.load(Ordering::Relaxed), 0, "{}", server.log());
        meanwhile();
    });
    served.load(Ordering::Relaxed)
}

/// Reads every table of the server's own performance_schema and sys.
pub fn read_its_own_tables(server: &Server) {
    let mut connection = server.connect();
    let tables: Vec<(String, String)> = connection
        .query(
            "SELECT table_schema, table_name FROM information_schema.tables
             WHERE table_schema IN ('performance_schema', 'sys')",
        )
        .expect("tables");
    assert!(tables.len() > 50, "{tables:?}");
    for (schema, table) in tables {
        // A server's error is accepted, because some views need things that are off.
        match connection.query_drop(format!("SELECT * FROM `{schema}`.`{table}`")) {
            Ok(()) | Err(mysql::Error::MySqlError(_)) => {}
            Err(error) => panic!(
                "{}: {schema}.{table}: {error}\n{}",
                server.version,
                server.log()
            ),
        }
    }
}
