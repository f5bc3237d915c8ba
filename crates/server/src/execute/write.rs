//! INSERT, REPLACE, UPDATE and DELETE.

use super::prepare::{self, Bind, Run};
use super::{duplicate, foreign_key, ignore};
use crate::metrics;
use crate::points;
use crate::session::{Connections, Rows, Session, Uses};
use crate::state::{Numbers, SessionState};
use crate::status::Counter;
use crate::transaction::{self, begin_single_statement};
use tare_dialect::plan::{Change, MissingDefault, Sql};
use tare_functions::Counted;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;
use tare_query::runner::StatementRunner as _;
use tare_store::write_lock::WriteGuard;
use tare_store::{ReplaceCounter, ReplaceCounts, StatementId};

/// The number of [`SqlError::data_truncated`].
const DATA_TRUNCATED: u16 = 1265;
/// The number of [`SqlError::cannot_be_null`].
const NOT_NULL: u16 = 1048;

/// The result of a change.
#[derive(Default)]
struct Outcome {
    examined: u64,
    changed: u64,
    /// The rows that a REPLACE has deleted.
    replaced: ReplaceCounts,
    last_id: i64,
    /// The numbers of the rows that are left of an INSERT IGNORE.
    ids: Vec<i64>,
    /// The first number that AUTO_INCREMENT has generated.
    first_generated: Option<i64>,
    /// The number of the row that ON DUPLICATE KEY UPDATE has changed last.
    updated_id: Option<i64>,
}

impl Outcome {
    /// That of an INSERT that has added the rows with these numbers.
    fn of_inserted(ids: Vec<i64>) -> Self {
        Self {
            examined: ids.len() as u64,
            changed: ids.len() as u64,
            last_id: ids.last().copied().unwrap_or_default(),
            ids,
            ..Self::default()
        }
    }
}

/// INSERT, REPLACE, UPDATE, DELETE.
pub fn write(session: &mut Session, sql: &Sql, change: Change, run: Run<'_>) -> Result<()> {
    // The statement may also read system tables: the written table decides.
    let system = sql.writes.as_deref().is_some_and(is_system_schema);
    check_write(session, sql, change, system)?;
    if let Some(column) = &sql.null_column {
        return Err(tare_dialect::Error::NotNull(column.clone()).into());
    }
    if let Some(missing) = &sql.missing_default
        && missing.is_numbered
    {
        return Err(no_default(missing));
    }
    prepare::start(session, sql)?;
    if sql.row_locks.no_wait {
        transaction::lock_rows(session, sql)?;
    }
    let database = sql.writes.as_deref().filter(|_| !system);
    let guard = match database {
        Some(database) => lock_for_statement(session, database)?,
        None => None,
    };
    let id = prepare::ensure_prepared(
        &mut session.connections,
        &session.registration,
        sql,
        run.statement,
    )?;
    let uses = prepare::table_uses(
        &mut session.connections,
        &mut session.tables,
        sql,
        run.columns,
        Some(change),
    );
    session.state.reset_counts();
    begin_numbers(session, sql, database);
    let single = guard.is_some().then(begin_single_statement);
    tare::stage::set(&points::EXECUTING);
    let warned = session.state.warnings.count();
    session.state.warnings.refuse(sql.refuses_warnings);
    let mut result = step(session, id, uses.as_deref(), &mut *run.bind, change);
    session.state.warnings.refuse(false);
    run.columns.uses = uses;
    session.release();
    use_numbers(session, sql, &mut result);
    if let Err(error) = &result
        && sql.ignores
        && error.code == foreign_key::VIOLATED
        && !system
    {
        let failed = (warned, error.clone());
        let ids = ignore::insert_without_violations(session, sql, &mut *run.bind, failed);
        result = ids.map(Outcome::of_inserted);
    }
    let done = match result {
        Ok(done) => done,
        Err(error) => {
            let error = match (system, error.code) {
                (true, _) => apply_mode(&session.connections, error),
                (false, foreign_key::VIOLATED) => {
                    foreign_key::describe(session, sql, change, run.bind, error)
                }
                (false, NOT_NULL) => describe_null(sql, error),
                (false, _) => duplicate::describe(session, sql, change, run.bind, error),
            };
            *session.state.numbers.lock() = None;
            drop(guard);
            return Err(transaction::handle_error(session, error));
        }
    };
    *session.state.numbers.lock() = None;
    drop(guard);
    if let Some(single) = single {
        single.commit();
        metrics::TRX_RW_COMMITS.add(1);
        session.registration.status().add(Counter::HandlerCommit, 1);
    }
    answer(session, sql, change, &done, run.answer.more);
    Ok(())
}

/// Prepares the numbers that AUTO_INCREMENT gives the rows of an INSERT or REPLACE. The write lock is held.
fn begin_numbers(session: &mut Session, sql: &Sql, database: Option<&str>) {
    let (true, Some(database), Some(table)) = (sql.creates_ids, database, &sql.target) else {
        return;
    };
    let Ok(connection) = session.connections.own() else {
        return;
    };
    connection.reset_inserted();
    // Without an answer, another program's table, SQLite generates them.
    let Ok(stored) = connection.next_id(database, table) else {
        return;
    };
    let in_memory = session.shared.databases.next_ids.get(database, table);
    let first = stored.max(in_memory.unwrap_or(1));
    *session.state.numbers.lock() = Some(Numbers::new(first, sql.listed_rows as u64));
}

/// Records the numbers that a statement has used up, which a rollback does not take back.
fn use_numbers(session: &mut Session, sql: &Sql, result: &mut Result<Outcome>) {
    let (Some(database), Some(table)) = (&sql.writes, &sql.target) else {
        return;
    };
    let inserted = session
        .connections
        .own()
        .map_or(0, |connection| connection.db().last_insert_rowid());
    let mut numbers = session.state.numbers.lock();
    let Some(numbers) = numbers.as_mut() else {
        return;
    };
    let end = match result {
        Ok(done) => {
            let end = numbers.end();
            done.first_generated = numbers.first_generated;
            done.updated_id = numbers.updated;
            end
        }
        Err(error) => numbers.end_of_failed(error.code == duplicate::DUPLICATE, inserted),
    };
    let next_ids = &session.shared.databases.next_ids;
    next_ids.raise(database, table, end);
}

/// Maps the error of an unknown enum value in a system table. Without strict mode MySQL warns and stores
/// the empty value, which the table then refuses.
fn apply_mode(connections: &Connections, error: SqlError) -> SqlError {
    if error.code != DATA_TRUNCATED || connections.is_strict() {
        return error;
    }
    let warnings = &connections.context.state.warnings;
    warnings.add("Warning", error.code, error.message);
    SqlError::no_referenced_row()
}

/// Error 1364: strict mode requires a value for a column without a default.
fn no_default(missing: &MissingDefault) -> SqlError {
    tare_dialect::Error::NoDefault(missing.column.clone()).into()
}

/// Describes the NULL that SQLite has refused. It evaluates a row's values before it finds a column without a value,
/// as MySQL does.
fn describe_null(sql: &Sql, error: SqlError) -> SqlError {
    let is_missing = |missing: &&MissingDefault| {
        error.message == SqlError::cannot_be_null(&missing.column).message
    };
    match sql.missing_default.as_ref().filter(is_missing) {
        Some(missing) => no_default(missing),
        None => error,
    }
}

/// Checks that a system table and the transaction allow the change.
fn check_write(session: &mut Session, sql: &Sql, change: Change, system: bool) -> Result<()> {
    if system {
        session.check_change(sql, change)?;
    }
    if session.transaction.take_read_only() && sql.catalog.is_empty() {
        return Err(SqlError::new(
            1792,
            "Cannot execute statement in a READ ONLY transaction.",
        ));
    }
    Ok(())
}

/// Acquires the write lock for one statement; `None` if the session holds it for longer.
fn lock_for_statement(session: &mut Session, database: &str) -> Result<Option<WriteGuard>> {
    if session.transaction.open {
        transaction::lock_for_transaction(session, database)?;
        session.transaction.wrote = true;
        return Ok(None);
    }
    if session.locks.tables.has(database) {
        return Ok(None);
    }
    transaction::acquire_write_lock(session, database).map(Some)
}

fn step(
    session: &mut Session,
    id: StatementId,
    uses: Option<&Uses>,
    bind: Bind<'_>,
    change: Change,
) -> Result<Outcome> {
    let wait = uses.and_then(|uses| session.tables.begin(uses));
    let connection = session.connections.with(id)?;
    let mut rows = Rows::default();
    let (result, replaced) = {
        let mut cursor = connection.run(id)?;
        bind(&mut cursor)?;
        let counting = (change == Change::Replace).then(|| cursor.count_replaced());
        let done = loop {
            match cursor.step() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        let replaced = counting.map(ReplaceCounter::end).unwrap_or_default();
        rows.scanned = cursor.scan_status().0 as u64;
        if uses.is_some_and(Uses::counts_steps) {
            rows.steps = cursor.steps();
        }
        (done, replaced)
    };
    if result.is_ok() {
        rows.affected = connection.changes();
    }
    let last_id = connection.db().last_insert_rowid();
    if let Some(uses) = uses {
        session.tables.end(uses, wait, rows);
        session.tally.work = Some(uses.work(rows));
    }
    result?;
    let examined = match session.tally.work {
        Some(work) => work.examined,
        None => rows.scanned + u64::from(rows.scanned > 0),
    };
    Ok(Outcome {
        examined,
        changed: rows.affected,
        replaced,
        last_id,
        ..Outcome::default()
    })
}

/// Whether MySQL's REPLACE updates an existing row instead of deleting it, and therefore does not count an
/// unchanged one: if the table has exactly one unique key, and no other table refers to it.
fn updates_in_place(connections: &mut Connections, sql: &Sql) -> bool {
    let (Some(database), Some(table)) = (&sql.writes, &sql.target) else {
        return false;
    };
    let Ok(connection) = connections.own() else {
        return false;
    };
    let Ok(definitions) = connection.definitions(database) else {
        return false;
    };
    let unique = |def: &TableDef| def.indexes.iter().filter(|i| i.unique).count();
    definitions
        .tables
        .get(table)
        .is_some_and(|def| unique(def) == 1)
        && !definitions
            .tables
            .values()
            .any(|def| def.foreign_keys.iter().any(|k| &k.table == table))
}

/// Counts the changed rows, and answers with OK.
fn answer(session: &mut Session, sql: &Sql, change: Change, done: &Outcome, more: bool) {
    let updated = session.state.take_count(Counted::Updated);
    // ON DUPLICATE KEY UPDATE: a row that changes counts twice.
    let mut affected = done.changed + updated;
    let mut deleted = done.replaced.deleted;
    if done.replaced.same > 0 && updates_in_place(&mut session.connections, sql) {
        deleted -= done.replaced.same;
    }
    affected += deleted;
    let handler = match change {
        Change::Insert | Change::Replace => Counter::HandlerWrite,
        Change::Update => Counter::HandlerUpdate,
        Change::Delete => Counter::HandlerDelete,
    };
    session.registration.status().add(handler, affected);
    session.tally.affected = affected;
    session.tally.examined = match change {
        Change::Insert | Change::Replace => done.examined,
        Change::Update | Change::Delete => affected.max(done.examined),
    };
    let inserts = matches!(change, Change::Insert | Change::Replace);
    let updates_row = inserts && updated > 0 && !sql.joined;
    // A client may count rows that do not change.
    let updated = match inserts {
        true => session.state.take_count(Counted::Matched),
        false => updated,
    };
    let insert_id = match inserts && sql.creates_ids {
        true => insert_id(&session.state, updated, done),
        false => None,
    };
    // LAST_INSERT_ID(expr) in a statement that generates none.
    let of_call = || session.state.take_count(Counted::LastId) > 0;
    let insert_id = insert_id.or_else(|| of_call().then(|| session.state.last_insert_id()));
    let of_updated = || done.updated_id.filter(|_| updates_row);
    let insert_id = insert_id.or_else(of_updated);
    let info = info(session, sql, change, (done.changed, updated, deleted));
    session.send_info(affected, insert_id.unwrap_or(0).max(0) as u64, &info, more);
}

/// The id of the OK packet: the first that the statement generated, which LAST_INSERT_ID() then returns, or the
/// last that it gave.
fn insert_id(state: &SessionState, updated: u64, done: &Outcome) -> Option<i64> {
    let inserted = done.changed.saturating_sub(updated);
    if inserted == 0 {
        return None;
    }
    if let Some(first) = done.first_generated {
        state.set_last_insert_id(first);
        return Some(first);
    }
    if state.take_count(Counted::GivenId) >= inserted {
        return Some(done.last_id);
    }
    let before = || done.last_id - (inserted as i64 - 1);
    let first = done.ids.first().copied().filter(|_| updated == 0);
    let first = first.unwrap_or_else(before);
    state.set_last_insert_id(first);
    Some(first)
}

/// MySQL's words about the rows of a change: written, updated by ON DUPLICATE KEY UPDATE, and replaced.
fn info(session: &Session, sql: &Sql, change: Change, rows: (u64, u64, u64)) -> String {
    let (changed, updated, deleted) = rows;
    let warnings = session.state.warnings.count();
    let listed = sql.listed_rows as u64;
    match change {
        Change::Update => {
            let matched = session.state.take_count(Counted::Matched);
            let changed = match matched {
                0 => changed,
                _ => session.state.take_count(Counted::Changed),
            };
            let matched = matched.max(changed);
            format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}")
        }
        Change::Insert | Change::Replace if listed != 1 => {
            let records = listed.max(changed);
            let duplicates = match (change, sql.updates_duplicates) {
                (Change::Replace, _) => deleted,
                (_, true) => updated,
                _ => records - changed,
            };
            format!("Records: {records}  Duplicates: {duplicates}  Warnings: {warnings}")
        }
        _ => String::new(),
    }
}
