//! Maintenance of tables: CHECK, ANALYZE and their like.

use tare_mysql::error::Result;

use super::literal;
use crate::dialect::ddl::{Maintenance, TableName};
use crate::server::session::Session;
use crate::server::show::Rows;
use crate::storage::connection::quote;
use crate::storage::error::from_rusqlite;

impl Session {
    pub(super) fn maintain(
        &mut self,
        tables: &[TableName],
        operation: Maintenance,
        more: bool,
        binary: bool,
    ) -> Result<()> {
        let mut rows = Rows::new(&["Table", "Op", "Msg_type", "Msg_text"]);
        for name in tables {
            let full = format!("{}.{}", name.database, name.table);
            let (kind, text) = match self.maintain_one(name, operation) {
                Ok(text) => ("status", text),
                Err(error) => ("Error", error.message),
            };
            rows.push([
                full.into(),
                operation.name().into(),
                kind.into(),
                text.into(),
            ]);
        }
        self.send(rows, more, binary)
    }

    fn maintain_one(&mut self, name: &TableName, operation: Maintenance) -> Result<String> {
        self.existing(name)?;
        let (db, table) = (quote(&name.database), quote(&name.table));
        if operation == Maintenance::Check {
            let found: String = self
                .connection()?
                .db()
                .query_row(
                    &format!("PRAGMA {db}.integrity_check({})", literal(&name.table)),
                    [],
                    |r| r.get(0),
                )
                .map_err(from_rusqlite)?;
            return Ok(if found == "ok" { "OK".into() } else { found });
        }
        self.root_only("INSERT")?;
        self.commit()?;
        let pass = self.wait_for(&name.database)?;
        self.connection()?.batch(&format!("ANALYZE {db}.{table}"))?;
        drop(pass);
        Ok("OK".into())
    }
}
