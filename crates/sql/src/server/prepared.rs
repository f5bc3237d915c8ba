//! COM_STMT_*: statements that are prepared once and executed often.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare::digest::Digest;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::bytes::Cursor as Bytes;
use tare_mysql::wire::column::{Column, WireType};
use tare_mysql::wire::params::{self, Param, ParamType};
use tare_mysql::wire::reply;
use tare_mysql::wire::value::Value;

use super::points;
use super::query::put_packet;
use super::session::{Columns, Session, Tally, malformed};
use super::status::{Com, Counter};
use crate::dialect::plan::{Action, Plan};
use crate::server::SystemSchema;
use crate::storage::statement::{Cursor, StatementId};

const PREPARE: Option<Com> = Com::of("stmt_prepare");
const EXECUTE: Option<Com> = Com::of("stmt_execute");
const CLOSE: Option<Com> = Com::of("stmt_close");
const RESET: Option<Com> = Com::of("stmt_reset");
const LONG_DATA: Option<Com> = Com::of("stmt_send_long_data");

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its text, to be translated anew when a schema has changed.
    pub text: Arc<str>,
    /// Of its text.
    digest: Digest,
    /// The database that was the default when it was prepared.
    pub database: Option<String>,
    /// How it is run.
    pub plan: Arc<Plan>,
    /// SQLite's statement.
    pub statement: Option<StatementId>,
    /// The result's columns.
    pub columns: Columns,
    /// The parameters' types: clients send them with the first execution only.
    types: Vec<ParamType>,
    /// COM_STMT_SEND_LONG_DATA.
    long: Vec<Option<Vec<u8>>>,
    /// What went wrong with it, told by the next execution.
    long_error: Option<SqlError>,
    /// Its row of prepared_statements_instances.
    instance: tare::prepared::Prepared,
}

fn unknown(id: u32, command: &str) -> SqlError {
    SqlError::new(
        1243,
        format!("Unknown prepared statement handler ({id}) given to {command}"),
    )
}

impl Session {
    /// COM_STMT_PREPARE.
    pub fn com_prepare(&mut self, body: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(body)
            .map_err(|_| SqlError::new(1300, "Invalid utf8mb4 character string"))?;
        let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';' || c == '\0');
        if self.prepared.len() >= 16_382 {
            return Err(SqlError::new(
                1461,
                "Can't create more than max_prepared_stmt_count statements (current value: 16382)",
            ));
        }
        let point = tare::statement::start(&points::COM_PREPARE);
        tare::stage::set(&points::STARTING);
        point.text(text);
        self.registration.begin("Prepare", text);
        let status = self.registration.status();
        status.add(Counter::Queries, 1);
        status.command(PREPARE);
        self.tally = Tally::default();
        let result = self.prepare(text, &point);
        self.record(&point, &result);
        self.registration.end_query(self.long_query_time);
        result
    }

    fn prepare(&mut self, text: &str, point: &tare::statement::Statement) -> Result<()> {
        let generation = self.shared.databases.generation();
        let plan = self.translate(text, generation)?;
        if matches!(
            plan.action,
            Action::Prepare(..) | Action::Execute(..) | Action::Deallocate(_)
        ) {
            return Err(SqlError::new(
                1295,
                "This command is not supported in the prepared statement protocol yet",
            ));
        }
        let params = plan.params;
        self.last_statement = self.last_statement.wrapping_add(1).max(1);
        let id = self.last_statement;
        let mut prepared = Prepared {
            text: text.into(),
            digest: Digest::of(text),
            database: self.state.database(),
            plan: Arc::new(plan),
            statement: None,
            columns: Columns::default(),
            types: Vec::new(),
            long: vec![None; params],
            long_error: None,
            instance: tare::prepared::Prepared::new(u64::from(id), None, text),
        };
        prepared.columns.digest = Some(prepared.digest);
        point.prepares(&prepared.instance);
        // Errors in the statement are told now, and so is how many columns there will be.
        let plan = prepared.plan.clone();
        if let Action::Rows(sql) | Action::Write(sql, _) = &plan.action {
            self.attach_all(sql)?;
            self.statement_id(sql, &mut prepared.statement)
                .map_err(|e| crate::dialect::blame::blame(e, text, self.mode()))?;
            if let (Action::Rows(_), Some(id)) = (&plan.action, prepared.statement) {
                self.describe_prepared(id, sql, &mut prepared.columns)?;
            }
        }
        let columns = prepared.columns.wire.len();
        let out = self.writer.begin();
        out.push(0);
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&(columns as u16).to_le_bytes());
        out.extend_from_slice(&(params as u16).to_le_bytes());
        out.extend_from_slice(&[0, 0, 0]);
        self.writer.end();
        let status = self.status();
        let deprecates_eof = self.deprecates_eof();
        if params > 0 {
            let mut packets = Vec::new();
            let column = Column {
                schema: "",
                table: "",
                org_table: "",
                name: "?",
                org_name: "",
                wire: WireType::text(255),
            };
            for _ in 0..params {
                put_packet(&mut packets, |out| column.put(out));
            }
            self.writer.replay(&packets);
            if !deprecates_eof {
                reply::eof(&mut self.writer, status, 0);
            }
        }
        if columns > 0 {
            self.writer.replay(&prepared.columns.packets);
            if !deprecates_eof {
                reply::eof(&mut self.writer, status, 0);
            }
        }
        // The types were guessed without a row.
        prepared.columns.version = 0;
        self.prepared.insert(id, prepared);
        self.shared
            .counters
            .prepared
            .fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// COM_STMT_EXECUTE.
    pub fn com_execute(&mut self, body: &[u8]) -> Result<()> {
        let point = tare::statement::start(&points::COM_EXECUTE);
        tare::stage::set(&points::STARTING);
        tare::thread::set_command(tare::Command::Execute);
        let mut cursor = Bytes::new(body);
        let (Some(id), Some(_flags), Some(_iterations)) = (cursor.u32(), cursor.u8(), cursor.u32())
        else {
            return Err(malformed());
        };
        // Taken out, so that the session and its statement can both be changed.
        let Some(mut prepared) = self.prepared.remove(&id) else {
            return Err(unknown(id, "mysqld_stmt_execute"));
        };
        point.prepared(&prepared.text, &prepared.digest);
        point.executes(&prepared.instance);
        self.registration.begin("Execute", &prepared.text);
        let status = self.registration.status();
        status.add(Counter::Questions, 1);
        status.add(Counter::Queries, 1);
        status.command(EXECUTE);
        self.tally = Tally::default();
        let result = self.execute(&mut prepared, cursor);
        self.record(&point, &result);
        self.registration.end_query(self.long_query_time);
        tare::thread::set_command(tare::Command::Sleep);
        for long in &mut prepared.long {
            *long = None;
        }
        self.prepared.insert(id, prepared);
        result
    }

    fn execute(&mut self, prepared: &mut Prepared, mut cursor: Bytes<'_>) -> Result<()> {
        if let Some(error) = prepared.long_error.take() {
            return Err(error);
        }
        let generation = self.shared.databases.generation();
        if prepared.plan.generation != generation {
            let mode = self.mode();
            let mut schema = SystemSchema::with(self.connection()?);
            let plan = crate::dialect::translate::translate(
                &prepared.text,
                prepared.database.as_deref(),
                &mut schema,
                generation,
                mode,
            )?;
            if let Some(old) = prepared.statement.take() {
                self.close_statement(old);
            }
            prepared.plan = Arc::new(plan);
            prepared.columns = Columns::default();
            prepared.columns.digest = Some(prepared.digest);
            prepared.instance.reprepared();
        }
        let params = prepared.plan.params;
        let nulls = if params > 0 {
            let nulls = cursor.take(params.div_ceil(8)).ok_or_else(malformed)?;
            match cursor.u8() {
                Some(1) => {
                    prepared.types.clear();
                    for _ in 0..params {
                        let (Some(code), Some(flags)) = (cursor.u8(), cursor.u8()) else {
                            return Err(malformed());
                        };
                        prepared.types.push((code, flags & 0x80 != 0));
                    }
                }
                Some(0) if prepared.types.len() == params => {}
                _ => return Err(malformed()),
            }
            nulls
        } else {
            &[]
        };
        let plan = prepared.plan.clone();
        let (types, long) = (&prepared.types, &prepared.long);
        let mut bind = |statement: &mut Cursor<'_>| {
            let mut values = cursor.clone();
            for i in 0..params {
                if nulls[i / 8] & (1 << (i % 8)) != 0 {
                    statement.bind(i + 1, Value::Null)?;
                    continue;
                }
                let param = match &long[i] {
                    Some(data) => params::bytes(data),
                    None => params::read(&mut values, types[i]).ok_or_else(malformed)?,
                };
                match param {
                    Param::Value(value) => statement.bind(i + 1, value)?,
                    Param::Made(text) => statement.bind(i + 1, Value::Text(text.as_bytes()))?,
                }
            }
            Ok(())
        };
        if !matches!(
            plan.action,
            Action::Rows(_) | Action::Write(..) | Action::Call(_)
        ) && params > 0
        {
            return Err(SqlError::unsupported("parameters in this statement"));
        }
        self.run(
            &plan,
            &mut prepared.statement,
            &mut prepared.columns,
            &mut bind,
            false,
            true,
        )
    }

    /// COM_STMT_SEND_LONG_DATA.
    pub fn com_long_data(&mut self, body: &[u8]) {
        self.registration.status().command(LONG_DATA);
        let mut cursor = Bytes::new(body);
        let (Some(id), Some(index)) = (cursor.u32(), cursor.u16()) else {
            return;
        };
        let limit = self.shared.config.max_allowed_packet;
        let Some(prepared) = self.prepared.get_mut(&id) else {
            return;
        };
        match prepared.long.get_mut(usize::from(index)) {
            Some(slot) => {
                let data = slot.get_or_insert_default();
                if data.len() + cursor.rest().len() > limit {
                    prepared.long_error = Some(SqlError::new(
                        1153,
                        "Got a packet bigger than 'max_allowed_packet' bytes",
                    ));
                } else {
                    data.extend_from_slice(cursor.rest());
                }
            }
            None => {
                prepared.long_error = Some(SqlError::new(
                    1210,
                    "Incorrect arguments to mysqld_stmt_send_long_data",
                ))
            }
        }
    }

    /// COM_STMT_RESET.
    pub fn com_reset_statement(&mut self, body: &[u8]) -> Result<()> {
        self.registration.status().add(Counter::Queries, 1);
        self.registration.status().command(RESET);
        let id = body
            .try_into()
            .map(u32::from_le_bytes)
            .map_err(|_| malformed())?;
        let prepared = self
            .prepared
            .get_mut(&id)
            .ok_or_else(|| unknown(id, "mysqld_stmt_reset"))?;
        for long in &mut prepared.long {
            *long = None;
        }
        prepared.long_error = None;
        self.ok();
        Ok(())
    }

    /// COM_STMT_CLOSE.
    pub fn com_close(&mut self, body: &[u8]) {
        self.registration.status().add(Counter::Queries, 1);
        self.registration.status().command(CLOSE);
        if let Ok(id) = body.try_into().map(u32::from_le_bytes) {
            self.close_prepared(id);
        }
    }

    /// Closes a prepared statement.
    pub fn close_prepared(&mut self, id: u32) {
        let Some(prepared) = self.prepared.remove(&id) else {
            return;
        };
        self.shared
            .counters
            .prepared
            .fetch_sub(1, Ordering::Relaxed);
        if let Some(statement) = prepared.statement {
            self.close_statement(statement);
        }
    }
}
