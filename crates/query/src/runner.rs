//! What runs statements inside a session, for SHOW, EXPLAIN and procedures.

use rusqlite::types::Value;
use tare_dialect::admin::Format;
use tare_dialect::near;
use tare_dialect::plan::{Action, Change, Plan, Sql};
use tare_functions::EvaluationContext;
use tare_mysql::error::{Result, SqlError};
use tare_store::Connection;

use crate::explain::Line;
use crate::programs::Programs;
use crate::result::Rows;
use crate::rights::check_table;
use crate::system::System;

/// A session that runs statements. What has a default fits one without databases of users.
pub trait StatementRunner {
    /// What is known of the session without a statement.
    fn context(&self) -> &dyn EvaluationContext;
    /// Schema sys.
    fn programs(&self) -> &'static dyn Programs;
    /// Reads and rewrites a statement.
    fn plan(&mut self, text: &str) -> Result<Plan>;
    /// The system schemas.
    fn system(&mut self) -> Result<&mut System>;
    /// The connection that has the users' databases, if there are any. It evaluates LIKE and WHERE.
    fn connection(&mut self) -> Result<&mut Connection>;
    /// The lines of EXPLAIN QUERY PLAN, which the statement's text begins with.
    fn query_plan(&mut self, sql: &Sql) -> Result<Vec<Line>>;

    /// The format of an EXPLAIN that names none.
    fn explain_format(&self) -> Format {
        Format::Traditional
    }

    /// The process list, in the columns of SHOW PROCESSLIST; INFO in full.
    fn processes(&mut self) -> Result<Rows> {
        self.select(
            "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, TIME AS Time, \
             STATE AS State, INFO AS Info FROM information_schema.PROCESSLIST ORDER BY ID",
            &[],
        )
    }

    /// SHOW ENGINE INNODB STATUS: what runs in the users' databases now.
    fn storage_status(&mut self) -> Result<String> {
        Err(SqlError::unsupported("SHOW ENGINE STATUS on a segment"))
    }

    /// The rows of a SELECT on system schemas, in MySQL's dialect; `?` are the parameters.
    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        let Action::Rows(sql) = self.plan(query)?.action else {
            return Err(near(query).into());
        };
        self.system()?.select(&sql, &texts(parameters))
    }

    /// Whether the account may change the system table that a statement writes to, and the table lets
    /// itself be changed so.
    fn check_change(&mut self, sql: &Sql, change: Change) -> Result<()> {
        let context = self.context();
        if let Some((schema, table)) = sql.catalog.first() {
            if schema.eq_ignore_ascii_case("information_schema") {
                let (user, host) = context.account();
                return Err(SqlError::database_denied(&user, &host, schema));
            }
            let privilege = match change {
                Change::Insert | Change::Replace => "INSERT",
                Change::Update => "UPDATE",
                Change::Delete => "DELETE",
            };
            check_table(context, privilege, (schema, table))?;
        }
        self.system()?.check_change(sql, change)
    }

    /// UPDATE, INSERT or DELETE in system schemas, as [`StatementRunner::select`]; how many rows.
    fn change(&mut self, statement: &str, parameters: &[&str]) -> Result<u64> {
        let Action::Write(sql, change) = self.plan(statement)?.action else {
            return Err(near(statement).into());
        };
        self.check_change(&sql, change)?;
        self.system()?.change(&sql, &texts(parameters))
    }
}

/// Parameters as SQLite takes them.
pub fn texts(parameters: &[&str]) -> Vec<Value> {
    let texts = parameters.iter();
    texts.map(|text| Value::Text((*text).to_owned())).collect()
}
