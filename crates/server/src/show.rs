//! SHOW: what a session tells [`tare_query::show`], and its rows on their way to the client.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use tare_dialect::admin::Show;
use tare_dialect::plan::Sql;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::{Figures, TableDef};
use tare_mysql::wire::column::Column;
use tare_mysql::wire::packets::put_packet;
use tare_mysql::wire::reply;
use tare_mysql::wire::types::{wire_of, wire_type};
use tare_query::catalog::Catalog;
use tare_query::explain::{self, Line};
use tare_query::programs::Programs;
use tare_query::result::Rows;
use tare_query::show::{self, PROCESSES, Warning, names};
use tare_sys::Sys;

use super::answer;
use super::execute::internal;
use super::execute::prepare::{self, Answer};
use super::session::Session;
use super::source::listed;

/// SHOW.
pub fn show(session: &mut Session, show: &Show, form: Answer) -> Result<()> {
    let rows = show::rows(session, show)?;
    answer::send(session, &rows, form)
}

impl show::Session for Session {
    fn programs(&self) -> &'static dyn Programs {
        Sys::of(self.shared.config.series)
    }

    fn database(&self) -> Option<String> {
        self.state.database()
    }

    fn account(&self) -> (String, String) {
        self.state.user_host()
    }

    fn is_root(&self) -> bool {
        Session::is_root(self)
    }

    fn current_account(&self) -> (String, String) {
        self.state.matched()
    }

    fn accounts(&self) -> Vec<tare_rows::source::Account> {
        listed(&self.shared.accounts)
    }

    fn may_see_accounts(&self) -> bool {
        self.rights.may_read()
    }

    fn warnings(&self) -> Vec<Warning> {
        self.state.warnings.list()
    }

    fn catalog(&mut self) -> Result<&Catalog> {
        Ok(self.connections.system()?.catalog())
    }

    fn evaluator(&mut self) -> Result<&Connection> {
        Ok(self.connections.own()?.db())
    }

    fn select(&mut self, query: &str, parameters: &[&str]) -> Result<Rows> {
        internal::select(self, query, parameters)
    }

    fn query_plan(&mut self, sql: &Sql) -> Result<Vec<Line>> {
        prepare::ready(self, sql)?;
        explain::lines(self.connections.of(sql)?.db(), sql)
    }

    fn processes(&mut self) -> Result<Rows> {
        let mut rows = Rows::new(&PROCESSES);
        let shows = self
            .shared
            .globals
            .get("performance_schema_show_processlist");
        if shows.as_deref() == Some("ON") && self.shared.observed.segment().is_none() {
            return Ok(rows);
        }
        let (user, _) = self.state.user_host();
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
            self.require_root("PROCESS")?;
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

    fn may_see(&self, database: &str) -> Result<()> {
        if !self.shared.databases.exists(database) {
            return Err(SqlError::unknown_database(database));
        }
        if !self.rights.may_read_data() && !is_system_schema(database) {
            return Err(self.database_denied(database));
        }
        Ok(())
    }

    fn databases(&self) -> Vec<String> {
        match self.rights.may_read_data() {
            true => self.shared.databases.names(),
            false => Vec::new(),
        }
    }

    fn is_open(&self, database: &str) -> bool {
        self.shared.databases.known(database).is_some()
    }

    fn definitions(&mut self, database: &str) -> Result<Vec<Arc<TableDef>>> {
        let known = self.connections.own()?.definitions(database)?;
        let mut all: Vec<_> = known.tables.values().cloned().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn count(&mut self, sqlite: &str) -> Option<i64> {
        let connection = self.connections.own().ok()?;
        connection.db().query_row(sqlite, [], |r| r.get(0)).ok()
    }

    fn figures(&self, database: &str) -> Arc<HashMap<String, Figures>> {
        self.shared.databases.figures(database)
    }
}

/// COM_FIELD_LIST.
pub fn field_list(session: &mut Session, table: &str) -> Result<()> {
    let mut packets = Vec::new();
    let database = names::default_database(session, &None)?;
    let mut put = |name: &str, wire| {
        let column = Column {
            schema: &database,
            table,
            org_table: table,
            name,
            org_name: name,
            wire,
        };
        put_packet(&mut packets, |out| {
            column.put(out);
            out.push(0xfb);
        });
    };
    if let Some(system) = names::system_table(session, &None, table)? {
        for c in system.columns() {
            put(c.name, wire_type(&c.column_type.to_lowercase(), c.nullable));
        }
    } else {
        let (_, def) = names::one(session, &None, table)?;
        for c in &def.columns {
            put(&c.name, wire_of(c));
        }
    }
    session.client.writer.replay(&packets);
    let status = session.transaction.status();
    reply::eof(&mut session.client.writer, status, 0);
    Ok(())
}
