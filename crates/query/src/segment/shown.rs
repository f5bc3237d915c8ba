//! What SHOW is told of a segment.

use rusqlite::Connection;
use tare_dialect::plan::Sql;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::{LOCALHOST, ROOT};

use super::evaluator::Evaluator;
use crate::catalog::Catalog;
use crate::explain::{self, Line};
use crate::programs::Programs;
use crate::result::Rows;
use crate::show::{Session, Warning};

/// The observed program's process list, in the columns of SHOW PROCESSLIST.
const PROCESSES: &str = "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, \
    TIME AS Time, STATE AS State, INFO AS Info FROM information_schema.PROCESSLIST ORDER BY ID";

impl Session for Evaluator {
    fn programs(&self) -> &'static dyn Programs {
        self.programs
    }

    fn database(&self) -> Option<String> {
        self.state.kept().database.clone()
    }

    fn account(&self) -> (String, String) {
        (ROOT.to_owned(), LOCALHOST.to_owned())
    }

    fn is_root(&self) -> bool {
        true
    }

    fn warnings(&self) -> Vec<Warning> {
        self.state.kept().warnings.clone()
    }

    fn catalog(&mut self) -> Result<&Catalog> {
        Ok(self.system.catalog())
    }

    fn evaluator(&mut self) -> Result<&Connection> {
        Ok(self.system.connection().db())
    }

    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        Evaluator::select(self, query, parameters)
    }

    fn query_plan(&mut self, sql: &Sql) -> Result<Vec<Line>> {
        self.names_no_database(sql)?;
        let system = self.system.ensure(&sql.catalog)?;
        explain::lines(system.connection().db(), sql)
    }

    fn processes(&mut self) -> Result<Rows> {
        Evaluator::select(self, PROCESSES, &[])
    }

    fn storage_status(&mut self) -> Result<String> {
        Err(SqlError::unsupported("SHOW ENGINE STATUS on a segment"))
    }
}
