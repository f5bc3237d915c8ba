//! What sessions hold: open tables, metadata locks, prepared statements.

use tare_layout::Kind;
use tare_layout::line::{EXTRA, SUM};
use tare_layout::object::PREPARED_LINES;

use super::summaries::statement_sums;
use super::tables::named;
use super::{RowsResult, Snapshot, none};
use crate::performance_schema::handles::{Handle, MetadataLock};
use crate::record::prepared::Prepared;

impl Snapshot {
    /// table_handles.
    pub fn table_handles(&self) -> RowsResult<Handle> {
        let Some(host) = &self.host else {
            return none();
        };
        let handles = host.banks().table_handles().into_iter();
        let rows = handles.map(|handle| {
            let (kind, schema, name) = handle.table;
            Handle {
                kind: kind.text(),
                schema,
                name,
                address: handle.address,
                owner: handle.owner,
                event: handle.owner.map(|_| handle.event),
                internal: handle.internal.map(|lock| lock.text()),
                external: handle.external.map(|lock| lock.text()),
            }
        });
        Ok(Box::new(rows))
    }

    /// metadata_locks.
    pub fn metadata_locks(&self) -> RowsResult<MetadataLock> {
        let Some(host) = &self.host else {
            return none();
        };
        let (sources, segment) = (self.sources.clone(), host.segment.clone());
        let rows = host
            .banks()
            .metadata_locks()
            .into_iter()
            .map(move |lock| MetadataLock {
                on: lock.on.text(),
                schema: lock.schema,
                name: lock.name,
                column: lock.column,
                address: lock.address,
                kind: lock.kind.text(),
                duration: lock.duration.text(),
                status: lock.status.text(),
                source: sources.get(segment.view(), lock.source),
                owner: lock.owner,
                event: lock.event,
            });
        Ok(Box::new(rows))
    }

    /// prepared_statements_instances.
    pub fn prepared_statements(&self) -> RowsResult<Prepared> {
        let Some(host) = &self.host else {
            return none();
        };
        let clock = host.clock;
        let prepared = host.banks().prepared_statements().into_iter();
        let rows = prepared.map(move |statement| {
            let preparing = &statement.rows[PREPARED_LINES - 1];
            Prepared {
                prepare: clock.ps(preparing[SUM]),
                reprepares: preparing[EXTRA],
                sums: statement_sums(&clock, Kind::Statement, &statement.rows),
                address: statement.address,
                id: statement.statement_id,
                name: statement.name,
                text: statement.text,
                owner: statement.owner,
                event: statement.event,
                program: statement
                    .program
                    .map(|(kind, schema, name)| named(kind, &schema, &name)),
            }
        });
        Ok(Box::new(rows))
    }
}
