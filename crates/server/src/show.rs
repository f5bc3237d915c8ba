//! SHOW: its rows on their way to the client.

use tare_dialect::admin::{Show, What};
use tare_mysql::error::Result;
use tare_mysql::wire::column::Column;
use tare_mysql::wire::packets::put_packet;
use tare_mysql::wire::reply;
use tare_mysql::wire::types::{wire_of, wire_type};
use tare_query::rights::check_columns;
use tare_query::show::{self, names};

use super::answer;
use super::execute::prepare::{Answer, start_dictionary_read};
use super::session::Session;

/// SHOW.
pub fn show(session: &mut Session, show: &Show, form: Answer) -> Result<()> {
    if reads_dictionary(&show.what) {
        start_dictionary_read(session)?;
    }
    let rows = show::rows(session, show)?;
    answer::send(session, &rows, form)
}

/// Whether MySQL answers from its data dictionary.
fn reads_dictionary(what: &What) -> bool {
    matches!(
        what,
        What::Databases
            | What::Tables(_)
            | What::TableStatus(_)
            | What::Columns(..)
            | What::Index(..)
            | What::Triggers(_)
            | What::Events(_)
            | What::Routines(_)
            | What::Collation
            | What::Charset
    )
}

/// COM_FIELD_LIST.
pub fn field_list(session: &mut Session, table: &str) -> Result<()> {
    let mut packets = Vec::new();
    check_columns(&*session.connections.context, &None, table)?;
    let database = names::default_database(session, &None)?;
    let charset = session.client.charset;
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
            column.put(out, charset);
            out.push(0xfb);
        });
    };
    if let Some(system) = names::system_table(session, &None, table)? {
        for c in system.columns() {
            put(c.name, wire_type(&c.column_type.to_lowercase(), c.nullable));
        }
    } else {
        let (_, def) = names::user_table(session, &None, table)?;
        for c in &def.columns {
            put(&c.name, wire_of(c));
        }
    }
    session.client.writer.replay(&packets);
    let status = session.transaction.status();
    reply::eof(&mut session.client.writer, status, 0);
    Ok(())
}
