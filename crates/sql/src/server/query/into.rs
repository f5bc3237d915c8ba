//! SELECT ... INTO @variable, and DO.

use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::value;

use super::Bind;
use crate::dialect::plan::Sql;
use crate::server::session::Session;
use crate::storage::statement::{Cursor, StatementId};

impl Session {
    /// SELECT ... INTO @a, @b: one row's values.
    pub(super) fn select_into(
        &mut self,
        sql: &Sql,
        names: &[String],
        statement: &mut Option<StatementId>,
        bind: Bind<'_>,
        more: bool,
    ) -> Result<()> {
        let mut row: Option<Vec<Value>> = None;
        let mut rows = 0;
        self.each_row(sql, statement, bind, &mut |cursor| {
            if cursor.columns() != names.len() {
                return Err(SqlError::new(
                    1222,
                    "The used SELECT statements have a different number of columns",
                ));
            }
            rows += 1;
            if rows > 1 {
                return Err(SqlError::new(1172, "Result consisted of more than one row"));
            }
            row = Some((0..names.len()).map(|i| owned(cursor.value(i))).collect());
            Ok(())
        })?;
        match row {
            Some(values) => {
                for (name, value) in names.iter().zip(values) {
                    self.state.user_variables.set(name, value);
                }
            }
            None => self.state.warnings.add(
                "Warning",
                1329,
                "No data - zero rows fetched, selected, or processed",
            ),
        }
        self.done(rows, 0, more);
        Ok(())
    }

    /// DO: evaluates, and tells nothing.
    pub(super) fn evaluate_all(
        &mut self,
        sql: &Sql,
        statement: &mut Option<StatementId>,
        bind: Bind<'_>,
        more: bool,
    ) -> Result<()> {
        self.each_row(sql, statement, bind, &mut |_| Ok(()))?;
        self.done(0, 0, more);
        Ok(())
    }

    fn each_row(
        &mut self,
        sql: &Sql,
        statement: &mut Option<StatementId>,
        bind: Bind<'_>,
        each: &mut dyn FnMut(&Cursor<'_>) -> Result<()>,
    ) -> Result<()> {
        self.ready(sql)?;
        let id = self.statement_id(sql, statement)?;
        let (connection, catalog) = if id.is_system() {
            let (connection, catalog) = self.system(&sql.catalog)?;
            (connection, Some(&*catalog))
        } else {
            let catalog = self.catalog.as_ref().filter(|_| !sql.catalog.is_empty());
            let connection = self.connection.as_mut();
            (connection.ok_or_else(SqlError::interrupted)?, catalog)
        };
        let _snapshot = catalog.map(|c| c.statement());
        let mut cursor = connection.run(id)?;
        bind(&mut cursor)?;
        while cursor.step()? {
            each(&cursor)?;
        }
        Ok(())
    }
}

fn owned(value: value::Value<'_>) -> Value {
    match value {
        value::Value::Null => Value::Null,
        value::Value::Int(n) => Value::Integer(n),
        value::Value::Real(x) => Value::Real(x),
        value::Value::Text(t) => Value::Text(String::from_utf8_lossy(t).into_owned()),
        value::Value::Blob(b) => Value::Blob(b.to_vec()),
    }
}
