//! Statements that the session runs for SHOW, EXPLAIN and procedures.

use tare_dialect::admin::Format;
use tare_dialect::plan::{Plan, Sql};
use tare_functions::EvaluationContext;
use tare_mysql::error::Result;
use tare_query::explain::{self, Line};
use tare_query::programs::Programs;
use tare_query::result::Rows;
use tare_query::runner::StatementRunner;
use tare_query::system::System;
use tare_store::Connection;
use tare_sys::Sys;

use crate::execute::prepare;
use crate::session::Session;

/// The columns of SHOW PROCESSLIST.
const PROCESSES: [&str; 8] = [
    "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
];

impl StatementRunner for Session {
    fn context(&self) -> &dyn EvaluationContext {
        &*self.connections.context
    }

    fn programs(&self) -> &'static dyn Programs {
        Sys::of(self.shared.config.series)
    }

    fn plan(&mut self, text: &str) -> Result<Plan> {
        let generation = self.shared.databases.generation();
        prepare::translate_own(self, text, generation)
    }

    fn system(&mut self) -> Result<&mut System> {
        self.connections.system()
    }

    fn connection(&mut self) -> Result<&mut Connection> {
        self.connections.own()
    }

    fn query_plan(&mut self, sql: &Sql) -> Result<Vec<Line>> {
        prepare::start(self, sql)?;
        explain::lines(self.connections.of(sql)?.db(), sql)
    }

    /// @@explain_format, which only MySQL 9.7 has here.
    fn explain_format(&self) -> Format {
        match self.state.text("explain_format").as_deref() {
            Some("TREE") => Format::Tree,
            Some("JSON") => Format::Json,
            _ => Format::Traditional,
        }
    }

    fn processes(&mut self) -> Result<Rows> {
        let mut rows = Rows::new(&PROCESSES);
        let setting = self
            .shared
            .globals
            .get("performance_schema_show_processlist");
        if setting.as_deref() == Some("ON") && self.shared.observed.segment().is_none() {
            return Ok(rows);
        }
        let (user, _) = self.state.account();
        for p in self.shared.registry.list() {
            if !self.rights.may_see_others() && p.user != user {
                continue;
            }
            rows.push([
                (p.id as i64).into(),
                p.user.into(),
                p.host.into(),
                p.database.into(),
                p.command.into(),
                (p.since.elapsed().as_secs() as i64).into(),
                p.state.into(),
                (!p.info.is_empty()).then_some(p.info).into(),
            ]);
        }
        Ok(rows)
    }

    fn storage_status(&mut self) -> Result<String> {
        if !self.rights.may_see_others() {
            self.rights.require_all("PROCESS")?;
        }
        let mut text = format!(
            "\n=====================================\n{} STORAGE MONITOR OUTPUT\n=====================================\n\
             Server {}, SQLite {}\n------------\nTRANSACTIONS\n------------\n",
            tare_mysql::date::now_local(false).text(),
            self.shared.config.series.version(),
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
        Ok(text)
    }
}
