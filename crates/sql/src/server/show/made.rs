//! What SHOW says of accounts, programs and engines; rows that a SELECT of our own makes.

use tare_mysql::error::{Result, SqlError};

use super::rows::Rows;
use crate::dialect::admin::EngineReport;
use crate::dialect::near;
use crate::dialect::plan::Action;
use crate::server::session::Session;
use crate::server::variables::VERSION;
use crate::storage::error::from_rusqlite;

/// Privilege, context and comment, as this server's accounts have them.
pub(super) const PRIVILEGES: &[(&str, &str, &str)] = &[
    ("Alter", "Tables", "To alter the table"),
    (
        "Create",
        "Databases,Tables,Indexes",
        "To create new databases and tables",
    ),
    ("Create view", "Tables", "To create new views"),
    ("Delete", "Tables", "To delete existing rows"),
    (
        "Drop",
        "Databases,Tables",
        "To drop databases, tables, and views",
    ),
    ("Index", "Tables", "To create or drop indexes"),
    ("Insert", "Tables", "To insert data into tables"),
    (
        "Lock tables",
        "Databases",
        "To use LOCK TABLES (together with SELECT privilege)",
    ),
    (
        "Process",
        "Server Admin",
        "To view the plain text of currently executing queries",
    ),
    (
        "References",
        "Databases,Tables",
        "To have references on tables",
    ),
    (
        "Reload",
        "Server Admin",
        "To reload or refresh tables, logs and privileges",
    ),
    ("Select", "Tables", "To retrieve rows from table"),
    (
        "Show databases",
        "Server Admin",
        "To see all databases with SHOW DATABASES",
    ),
    ("Show view", "Tables", "To see views with SHOW CREATE VIEW"),
    ("Shutdown", "Server Admin", "To shut down the server"),
    (
        "Super",
        "Server Admin",
        "To use KILL thread, SET GLOBAL, CHANGE MASTER, etc.",
    ),
    ("Update", "Tables", "To update existing rows"),
    (
        "Usage",
        "Server Admin",
        "No privileges - allow connect only",
    ),
];

impl Session {
    /// The rows of a SELECT on system schemas, written in MySQL's dialect; `?` are the parameters.
    pub fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        let generation = self.shared.databases.generation();
        let plan = self.translate(query, generation)?;
        let Action::Rows(sql) = plan.action else {
            return Err(near(query));
        };
        let mut rows = self.system_rows(&sql.catalog, &sql.text, parameters)?;
        rows.wire = sql.hints.0;
        Ok(rows)
    }

    /// The rows of SQLite's text for a SELECT that names these tables.
    pub fn system_rows(
        &mut self,
        named: &[(String, String)],
        text: &str,
        parameters: &[&str],
    ) -> Result<Rows> {
        let (connection, catalog) = self.system(named)?;
        let _snapshot = catalog.statement();
        let mut statement = connection.db().prepare(text).map_err(from_rusqlite)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut rows = Rows::new(&names);
        let mut found = statement
            .query(rusqlite::params_from_iter(parameters))
            .map_err(from_rusqlite)?;
        while let Some(row) = found.next().map_err(from_rusqlite)? {
            let values = (0..names.len())
                .map(|i| row.get(i))
                .collect::<rusqlite::Result<_>>()
                .map_err(from_rusqlite)?;
            rows.rows.push(values);
        }
        Ok(rows)
    }

    /// User and host of an account; whether it may do everything.
    fn account(&self, of: Option<&(String, String)>) -> Result<(String, String, bool)> {
        let own = self.state.user_host();
        let (user, host) = of.cloned().unwrap_or_else(|| own.clone());
        match user.as_str() {
            "root" => Ok((user, host, true)),
            "monitor" => Ok((user, host, false)),
            _ if user == own.0 => Ok((user, host, self.is_root())),
            _ => Err(SqlError::new(
                1141,
                format!("There is no such grant defined for user '{user}' on host '{host}'"),
            )),
        }
    }

    /// SHOW GRANTS.
    pub(super) fn grants(&mut self, of: Option<&(String, String)>) -> Result<Rows> {
        let (user, host, all) = self.account(of)?;
        let mut rows = Rows::new(&[&format!("Grants for {user}@{host}")]);
        if all {
            rows.push([format!(
                "GRANT ALL PRIVILEGES ON *.* TO `{user}`@`{host}` WITH GRANT OPTION"
            )
            .into()]);
        } else {
            rows.push([format!("GRANT PROCESS ON *.* TO `{user}`@`{host}`").into()]);
            for schema in tare_mysql::schema::SYSTEM_SCHEMAS {
                rows.push([format!("GRANT SELECT ON `{schema}`.* TO `{user}`@`{host}`").into()]);
            }
        }
        Ok(rows)
    }

    /// SHOW CREATE USER.
    pub(super) fn show_user(&mut self, of: Option<&(String, String)>) -> Result<Rows> {
        let (user, host, _) = self.account(of).map_err(|_| {
            let (user, host) = of.cloned().unwrap_or_default();
            SqlError::new(
                1396,
                format!("Operation SHOW CREATE USER failed for '{user}'@'{host}'"),
            )
        })?;
        let mut rows = Rows::new(&[&format!("CREATE USER for {user}@{host}")]);
        rows.push([format!(
            "CREATE USER '{user}'@'{host}' IDENTIFIED WITH 'mysql_native_password' REQUIRE NONE \
             PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT"
        )
        .into()]);
        Ok(rows)
    }

    /// SHOW CREATE VIEW.
    pub(super) fn show_view(&mut self, database: &Option<String>, view: &str) -> Result<Rows> {
        let rows = self.create_text(database, view)?;
        if rows.names.first().is_some_and(|n| n == "View") {
            return Ok(rows);
        }
        let database = match database {
            Some(name) => name.clone(),
            None => self.state.database().unwrap_or_default(),
        };
        Err(SqlError::new(
            1347,
            format!("'{database}.{view}' is not VIEW"),
        ))
    }

    /// SHOW ENGINE x STATUS, MUTEX, LOGS.
    pub(super) fn engine(&mut self, engine: &str, report: EngineReport) -> Result<Rows> {
        let mut rows = Rows::new(&["Type", "Name", "Status"]);
        match (engine.to_ascii_lowercase().as_str(), report) {
            ("performance_schema", EngineReport::Status) => {
                for (name, status) in self.performance_schema_status()? {
                    rows.push(["performance_schema".into(), name.into(), status.into()]);
                }
            }
            // Its tables' engine answers to the name that tools ask for.
            ("innodb" | "sqlite", EngineReport::Status) => {
                let text = self.storage_status();
                rows.push([engine.into(), "".into(), text.into()]);
            }
            ("performance_schema" | "innodb" | "sqlite", _) => {}
            _ => {
                return Err(SqlError::new(
                    1286,
                    format!("Unknown storage engine '{engine}'"),
                ));
            }
        }
        Ok(rows)
    }

    /// Rows of SHOW ENGINE PERFORMANCE_SCHEMA STATUS: names and values.
    fn performance_schema_status(&mut self) -> Result<Vec<(String, String)>> {
        let rows = self
            .system_catalog()?
            .performance_schema_status()
            .into_iter();
        Ok(rows
            .map(|(name, value)| (name, value.to_string()))
            .collect())
    }

    /// What the sessions do in the databases now, as text.
    fn storage_status(&self) -> String {
        let mut text = format!(
            "\n=====================================\n{} STORAGE MONITOR OUTPUT\n=====================================\n\
             Server {VERSION}, SQLite {}\n------------\nTRANSACTIONS\n------------\n",
            crate::storage::time::now_local(false).text(),
            rusqlite::version()
        );
        for p in self.shared.registry.list() {
            text.push_str(&format!(
                "---SESSION {}, {} {} sec {}\n",
                p.id,
                p.command,
                p.since.elapsed().as_secs(),
                p.info
            ));
        }
        text.push_str("----------------------------\nEND OF STORAGE MONITOR OUTPUT\n============================\n");
        text
    }

    /// SHOW OPEN TABLES: those of the databases that this session has opened.
    pub(super) fn open_tables(&mut self, database: &Option<String>) -> Result<Rows> {
        let mut rows = Rows::new(&["Database", "Table", "In_use", "Name_locked"]).typed(&[
            "varchar(64)",
            "varchar(64)",
            "bigint",
            "bigint",
        ]);
        rows.like = 1;
        let names = match database {
            Some(name) if self.shared.databases.exists(name) => vec![name.clone()],
            Some(_) => Vec::new(),
            None => self.shared.databases.names(),
        };
        for name in names {
            if !self.is_root() || self.shared.databases.known(&name).is_none() {
                continue;
            }
            for def in self.defs(&name)? {
                if def.view.is_none() {
                    rows.push([
                        name.as_str().into(),
                        def.name.as_str().into(),
                        0i64.into(),
                        0i64.into(),
                    ]);
                }
            }
        }
        Ok(rows)
    }
}
