//! TRUNCATE stores the present totals as a baseline, which readers subtract. It changes none of the writer's
//! counters.

use tare_layout::Kind;
use tare_layout::object::{ObjectType, part};
use tare_layout::slot::ring;
use tare_mysql::error::SqlError;
use tare_reader::{Instances, Scope, Selection, WriteError};

use super::host::Host;
use super::summaries::Family;
use super::{By, Snapshot, Which, WriteResult};

impl By {
    pub(super) fn scope(self) -> Scope {
        match self {
            By::Global => Scope::Global,
            By::Thread => Scope::Thread,
            By::Account => Scope::Account,
            By::User => Scope::User,
            By::Host => Scope::Host,
        }
    }
}

pub(super) fn write_result(result: Result<(), WriteError>) -> WriteResult {
    result.map_err(SqlError::internal)
}

impl Snapshot {
    pub(super) fn require_host(&self) -> Result<&Host, SqlError> {
        self.host.as_ref().ok_or_else(SqlError::invalid_usage)
    }

    /// As in MySQL, the table of all threads takes those by thread, account, user and host with it.
    fn truncate_family(&self, by: By, family: Family) -> WriteResult {
        let host = self.require_host()?;
        let selection = self.selection(host, family);
        let scopes: &[By] = match by {
            By::Global => &[By::Global, By::Thread, By::Account, By::User, By::Host],
            ref one => std::slice::from_ref(one),
        };
        for scope in scopes {
            write_result(host.segment.truncate_classes(scope.scope(), &selection))?;
        }
        Ok(())
    }

    fn clear_events(&self, ring: usize, which: Which) -> WriteResult {
        write_result(
            self.require_host()?
                .segment
                .truncate_events(ring, which.table().number()),
        )
    }

    /// TRUNCATE events_waits_*.
    pub fn truncate_waits(&self, which: Which) -> WriteResult {
        self.clear_events(ring::WAITS, which)
    }

    /// TRUNCATE events_stages_*.
    pub fn truncate_stages(&self, which: Which) -> WriteResult {
        self.clear_events(ring::STAGES, which)
    }

    /// TRUNCATE events_statements_*.
    pub fn truncate_statements(&self, which: Which) -> WriteResult {
        self.clear_events(ring::STATEMENTS, which)
    }

    /// TRUNCATE events_transactions_*.
    pub fn truncate_transactions(&self, which: Which) -> WriteResult {
        self.clear_events(ring::TRANSACTIONS, which)
    }

    /// TRUNCATE events_waits_summary_*_by_event_name. As in MySQL, that of all threads takes the waits of
    /// tables with it.
    pub fn truncate_wait_summary(&self, by: By) -> WriteResult {
        self.truncate_family(by, Family::Wait)?;
        match by {
            By::Global => self.truncate_tables(),
            _ => Ok(()),
        }
    }

    /// TRUNCATE events_stages_summary_*_by_event_name.
    pub fn truncate_stage_summary(&self, by: By) -> WriteResult {
        self.truncate_family(by, Family::Stage)
    }

    /// TRUNCATE events_statements_summary_*_by_event_name. As in MySQL, that of all threads takes the
    /// histogram with it.
    pub fn truncate_statement_summary(&self, by: By) -> WriteResult {
        self.truncate_family(by, Family::Statement)?;
        match by {
            By::Global => self.truncate_statement_histogram(),
            _ => Ok(()),
        }
    }

    /// TRUNCATE events_statements_histogram_global.
    pub fn truncate_statement_histogram(&self) -> WriteResult {
        write_result(self.require_host()?.segment.truncate_statement_histogram())
    }

    /// TRUNCATE events_statements_histogram_by_digest.
    pub fn truncate_digest_histograms(&self) -> WriteResult {
        write_result(self.require_host()?.segment.truncate_digest_histograms())
    }

    /// TRUNCATE events_transactions_summary_*_by_event_name.
    pub fn truncate_transaction_summary(&self, by: By) -> WriteResult {
        self.truncate_family(by, Family::Transaction)
    }

    /// TRUNCATE memory_summary_*_by_event_name.
    pub fn truncate_memory(&self, by: By) -> WriteResult {
        self.truncate_family(by, Family::Memory)
    }

    /// TRUNCATE events_errors_summary_*_by_error.
    pub fn truncate_errors(&self, by: By) -> WriteResult {
        self.truncate_family(by, Family::Error)
    }

    /// TRUNCATE file_summary_by_event_name. Its counters are those of the files' waits, so that
    /// events_waits_summary_global_by_event_name is reset for files, too.
    pub fn truncate_file_summary(&self) -> WriteResult {
        let host = self.require_host()?;
        let files = Selection::new(self.classes(host), |kind| kind == Kind::File);
        write_result(host.segment.truncate_classes(Scope::Global, &files))
    }

    /// TRUNCATE socket_summary_by_event_name, as that of files.
    pub fn truncate_socket_summary(&self) -> WriteResult {
        let host = self.require_host()?;
        let sockets = Selection::new(self.classes(host), |kind| kind == Kind::Socket);
        write_result(host.segment.truncate_classes(Scope::Global, &sockets))
    }

    /// TRUNCATE socket_summary_by_instance.
    pub fn truncate_socket_instances(&self) -> WriteResult {
        write_result(
            self.require_host()?
                .segment
                .truncate_instances(Instances::Sockets),
        )
    }

    /// TRUNCATE table_io_waits_summary_by_table, and with it that by index.
    pub fn truncate_table_io(&self) -> WriteResult {
        self.truncate_objects(|kind, part| kind.is_table() && part::lock_of(part).is_none())
    }

    /// TRUNCATE table_lock_waits_summary_by_table.
    pub fn truncate_table_locks(&self) -> WriteResult {
        self.truncate_objects(|kind, part| kind.is_table() && part::lock_of(part).is_some())
    }

    /// TRUNCATE objects_summary_global_by_type.
    pub fn truncate_tables(&self) -> WriteResult {
        self.truncate_objects(|kind, _| kind.is_table())
    }

    /// TRUNCATE events_statements_summary_by_program.
    pub fn truncate_programs(&self) -> WriteResult {
        self.truncate_objects(|kind, _| !kind.is_table())
    }

    fn truncate_objects(&self, wanted: impl Fn(ObjectType, u8) -> bool) -> WriteResult {
        write_result(self.require_host()?.segment.truncate_objects(wanted))
    }

    /// TRUNCATE prepared_statements_instances: their figures.
    pub fn truncate_prepared(&self) -> WriteResult {
        write_result(self.require_host()?.segment.truncate_prepared())
    }

    /// TRUNCATE events_waits_summary_by_instance.
    pub fn truncate_instances(&self) -> WriteResult {
        write_result(
            self.require_host()?
                .segment
                .truncate_instances(Instances::All),
        )
    }

    /// TRUNCATE file_summary_by_instance.
    pub fn truncate_file_instances(&self) -> WriteResult {
        write_result(
            self.require_host()?
                .segment
                .truncate_instances(Instances::Files),
        )
    }

    /// TRUNCATE events_statements_summary_by_digest: a new generation begins.
    pub fn truncate_digests(&self) -> WriteResult {
        write_result(self.require_host()?.segment.truncate_digests())
    }
}
