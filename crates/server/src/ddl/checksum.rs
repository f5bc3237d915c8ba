//! CHECKSUM TABLE: a number that changes when the rows do. It is not MySQL's, which depends on how InnoDB
//! stores a row.

use rusqlite::types::ValueRef;

use super::table;
use crate::answer;
use crate::execute::prepare::Answer;
use crate::session::Session;
use tare_dialect::ddl::TableName;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_query::result::Rows;
use tare_store::connection::quote;

/// The offset and the prime of FNV-1a with 64 bits (RFC 9923).
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A row for each table; NULL where it has no checksum, and a warning that says why. QUICK asks for those
/// that a table keeps: no table does.
pub fn checksum(
    session: &mut Session,
    tables: &[TableName],
    quick: bool,
    answer: Answer,
) -> Result<()> {
    let mut rows = Rows::new(&["Table", "Checksum"]).typed(&["varchar(128)", "bigint(21)"]);
    for name in tables {
        let full = format!("{}.{}", name.database, name.table);
        let sum = match checksum_one(session, name, quick) {
            Ok(sum) => sum,
            // Who may not read it is told so, and so is who asked to stop.
            Err(error) if matches!(error.code, 1046 | 1049 | 1146 | 1347) => {
                session
                    .state
                    .warnings
                    .add("Error", error.code, &error.message);
                None
            }
            Err(error) => return Err(error),
        };
        rows.push([full.into(), sum.map(i64::from).into()]);
    }
    answer::send(session, &rows, answer)
}

fn checksum_one(session: &mut Session, name: &TableName, quick: bool) -> Result<Option<u32>> {
    let not_base = || {
        let message = format!("'{}.{}' is not BASE TABLE", name.database, name.table);
        SqlError::new(1347, message)
    };
    if is_system_schema(&name.database) {
        return Err(not_base());
    }
    if !session.rights.may_read_data() {
        let (user, host) = session.state.user_host();
        return Err(SqlError::command_denied(
            session.shared.config.series,
            "SELECT",
            (&user, &host),
            (&name.database, &name.table),
        ));
    }
    if table::require(session, name)?.view.is_some() {
        return Err(not_base());
    }
    if quick {
        return Ok(None);
    }
    let sql = format!(
        "SELECT * FROM {}.{}",
        quote(&name.database),
        quote(&name.table)
    );
    let connection = session.connections.own()?;
    let sum = sum_of(connection.db(), &sql).map_err(tare_store::Error::from)?;
    Ok(Some(sum))
}

/// The sum of the rows' checksums, so that their order counts for nothing.
fn sum_of(db: &rusqlite::Connection, sql: &str) -> rusqlite::Result<u32> {
    let mut statement = db.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut sum = 0u32;
    while let Some(row) = rows.next()? {
        let mut hash = OFFSET;
        for i in 0..columns {
            hash = add(hash, row.get_ref(i)?);
        }
        sum = sum.wrapping_add((hash ^ (hash >> 32)) as u32);
    }
    Ok(sum)
}

/// A value after others: its type, its length and its bytes, so that no two rows read alike.
fn add(hash: u64, value: ValueRef<'_>) -> u64 {
    let of = |kind: u8, bytes: &[u8]| {
        let length = bytes.len().to_le_bytes();
        let all = std::iter::once(&kind).chain(&length).chain(bytes);
        all.fold(hash, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME)
        })
    };
    match value {
        ValueRef::Null => of(0, &[]),
        ValueRef::Integer(n) => of(1, &n.to_le_bytes()),
        ValueRef::Real(x) => of(2, &x.to_le_bytes()),
        ValueRef::Text(text) => of(3, text),
        ValueRef::Blob(bytes) => of(4, bytes),
    }
}
