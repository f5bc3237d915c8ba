//! What the system schemas show of this server.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use tare_mysql::session::SessionFacts;
use tare_mysql::variable::Scope;
use tare_reader::activity_log::ActivityLog;
use tare_rows::extension::Extension;
use tare_rows::options::Options;
use tare_rows::server::{
    CachedHost, LogLine, LogStatus, Owned, StatusBy, UserVariable, VariableInfo,
};
use tare_rows::source::{Source, Variable};
use tare_rows::telemetry::Telemetry;

use super::context::SessionContext;
use super::shared::Shared;
use super::status::By;
use tare_sys::Sys;

fn variables<N: Into<String>>(all: impl IntoIterator<Item = (N, String)>) -> Vec<Variable> {
    let all = all.into_iter();
    all.map(|(name, value)| Variable::new(name, value))
        .collect()
}

impl Source for SessionContext {
    fn segment(&self) -> Option<Arc<tare_reader::Segment>> {
        self.shared.observed.segment()
    }

    fn activity_log(&self) -> Option<&Arc<ActivityLog>> {
        Some(&self.shared.activity.0)
    }

    fn variables(&self, scope: Scope) -> Vec<Variable> {
        self.state
            .all(scope)
            .into_iter()
            .map(|(name, value)| Variable::new(name, value))
            .collect()
    }

    fn status(&self, scope: Scope) -> Vec<Variable> {
        let session = (scope == Scope::Session).then_some(&*self.state);
        variables(self.shared.status(session))
    }

    fn status_by(&self, by: StatusBy) -> Vec<Owned<Variable>> {
        let registry = &self.shared.registry;
        let by = match by {
            StatusBy::Thread => {
                let sessions = registry.status_by_session().into_iter();
                return sessions
                    .map(|(id, cells)| Owned {
                        connection_id: Some(id),
                        values: variables(Shared::session_status(&cells)),
                        ..Owned::default()
                    })
                    .collect();
            }
            StatusBy::Account => By::Account,
            StatusBy::User => By::User,
            StatusBy::Host => By::Host,
        };
        let sums = registry.status_by(by).into_iter();
        sums.map(|((user, host), cells)| Owned {
            user: Some(user),
            host: Some(host),
            values: variables(Shared::session_status(&cells)),
            ..Owned::default()
        })
        .collect()
    }

    fn flushed_losses(&self) -> Arc<HashMap<String, u64>> {
        let flushed = self.shared.counters.flushed_losses.lock();
        let segment = self.segment();
        let is_there = |segment: &Arc<_>| Arc::as_ptr(segment) == flushed.of.as_ptr();
        match segment.as_ref().is_some_and(is_there) {
            true => flushed.losses.clone(),
            false => Arc::default(),
        }
    }

    fn truncate_status(&self, by: StatusBy) {
        let registry = &self.shared.registry;
        match by {
            StatusBy::Thread => registry.flush_sessions(),
            StatusBy::Account => registry.truncate_status(By::Account),
            StatusBy::User => registry.truncate_status(By::User),
            StatusBy::Host => registry.truncate_status(By::Host),
        }
    }

    fn variables_by_session(&self) -> Vec<Owned<Variable>> {
        let states = self.shared.registry.states().into_iter();
        states
            .map(|state| Owned {
                connection_id: Some(state.id),
                values: variables(state.all(Scope::Session)),
                ..Owned::default()
            })
            .collect()
    }

    fn user_variables(&self) -> Vec<Owned<UserVariable>> {
        let states = self.shared.registry.states().into_iter();
        states
            .map(|state| Owned {
                connection_id: Some(state.id),
                values: state.user_variables.list(),
                ..Owned::default()
            })
            .collect()
    }

    fn variables_info(&self) -> Vec<VariableInfo> {
        self.shared.globals.info()
    }

    fn telemetry(&self) -> Option<&Telemetry> {
        Some(&self.shared.telemetry)
    }

    fn host_cache(&self) -> Vec<CachedHost> {
        self.shared.hosts.list()
    }

    fn flush_hosts(&self) {
        self.shared.hosts.flush();
    }

    fn error_log(&self) -> Vec<LogLine> {
        let lines = tare_store::log::snapshot().lines.into_iter();
        let line = |line: tare_store::log::Line| LogLine {
            logged_us: line.logged_us,
            priority: line.priority.name(),
            subsystem: line.subsystem,
            text: line.text,
        };
        lines.map(line).collect()
    }

    fn count_processlist_read(&self) {
        let (reads, last) = &self.shared.counters.processlist_reads;
        reads.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        last.store(
            now.map_or(0, |since| since.as_micros() as u64),
            Ordering::Relaxed,
        );
    }

    fn log_status(&self) -> Option<LogStatus> {
        let databases = &self.shared.databases;
        let names = databases.names().into_iter();
        let server_uuid = self.shared.globals.get("server_uuid");
        Some(LogStatus {
            server_uuid: server_uuid.unwrap_or_default(),
            logs: names
                .map(|name| {
                    let bytes = databases.log_bytes(&name);
                    (name, bytes)
                })
                .collect(),
        })
    }

    fn sys_config(&self) -> Option<&dyn Options> {
        Some(self.state.sys_config())
    }

    fn extension(&self) -> Option<&'static dyn Extension> {
        Some(Sys::of(self.series()))
    }

    fn engine_version(&self) -> &str {
        rusqlite::version()
    }
}
