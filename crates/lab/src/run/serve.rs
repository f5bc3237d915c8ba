//! The server of a cell: started, filled, configured and stopped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{PROBES, Runner};
use crate::error::CellError;
use crate::load::{Drive, sysbench};
use crate::matrix::{Key, Parts, process};
use crate::recipe::{Data, From, Kind, Load, Recipe};
use crate::restore::SavedSettings;
use crate::server::namespace::Namespace;
use crate::server::{Launch, RunningServer};

/// The approximate size of a row of sysbench's tables with its index.
const ROW_BYTES: u64 = 300;

impl Runner<'_> {
    pub(super) fn stop(&mut self) {
        if let Some((_, running)) = self.running.take() {
            running.stop();
        }
    }

    /// Stops a server that failed and removes its data, which may be damaged.
    pub(super) fn start_over(&mut self, server: &str) {
        self.stop();
        self.prepared.remove(server);
        let _ = std::fs::remove_dir_all(self.directory(server));
    }

    pub(super) fn directory(&self, server: &str) -> PathBuf {
        let at = self
            .plan
            .recipe
            .servers
            .iter()
            .position(|each| each.name == server);
        self.work.path().join(format!("s{}", at.unwrap_or(0)))
    }

    /// Ensures that the cell's server runs, with its tables and its configuration.
    pub(super) fn serve(
        &mut self,
        key: &Key,
        parts: Parts,
        rebuild: bool,
        restart: bool,
    ) -> Result<(), CellError> {
        let wanted = wanted(key, parts);
        if let Some(reason) = self.unavailable.get(&wanted) {
            return Err(CellError::Skipped(reason.clone()));
        }
        let same = self
            .running
            .as_ref()
            .is_some_and(|(running, _)| *running == wanted);
        if same && !restart && !rebuild {
            return self.configure(key, parts);
        }
        self.stop();
        if rebuild {
            self.prepared.remove(&key.server);
            let _ = std::fs::remove_dir_all(self.directory(&key.server));
        }
        if self.start(&wanted, key, parts)? && !rebuild && restart {
            // Filling the tables has changed counters and caches; later cells begin with a fresh
            // process, too.
            self.stop();
            self.start(&wanted, key, parts)?;
        }
        Ok(())
    }

    /// Sends the configuration's SQL to the running server.
    fn configure(&mut self, key: &Key, parts: Parts) -> Result<(), CellError> {
        let Some((name, mut running)) = self.running.take() else {
            return Ok(());
        };
        let directory = self.directory(&key.server);
        let launch = self.launch(parts, &directory, 0, None);
        let result = running
            .check_alive()
            .and_then(|()| launch.configure(&mut running));
        self.running = Some((name, running));
        result
    }

    /// Starts the server. Returns whether its tables had to be filled.
    pub(super) fn start(
        &mut self,
        wanted: &str,
        key: &Key,
        parts: Parts,
    ) -> Result<bool, CellError> {
        if parts.workload.from == From::Namespace && self.namespace.is_none() {
            self.namespace = Some(Namespace::new().map_err(|error| error.to_string()));
        }
        let namespace = match &self.namespace {
            Some(Err(reason)) if parts.workload.from == From::Namespace => {
                return Err(CellError::Skipped(reason.clone()));
            }
            Some(Ok(namespace)) => Some(namespace),
            _ => None,
        };
        let directory = self.directory(&key.server);
        let bytes = self.plan.recipe.data_bytes();
        let started = self.launch(parts, &directory, bytes, namespace).start();
        let mut running = started.inspect_err(|error| {
            if let CellError::Skipped(reason) = error {
                self.unavailable.insert(wanted.to_owned(), reason.clone());
            }
        })?;
        let filling = parts.workload.load == Load::Sysbench && !self.prepared.contains(&key.server);
        let filled = match parts.server.kind {
            Kind::Dsn => self.borrow(&mut running)?,
            _ => false,
        };
        if filling && !filled {
            let recipe = self.plan.recipe.clone();
            let drive = self.drive_of(parts, 1, 1, None, &recipe.data);
            sysbench::prepare(&drive, &mut running)?;
            self.prepared.insert(key.server.clone());
        }
        self.running = Some((wanted.to_owned(), running));
        Ok(filling && !filled)
    }

    /// Saves the settings of the user's server before they are changed. Returns whether its tables exist.
    fn borrow(&mut self, running: &mut RunningServer) -> Result<bool, CellError> {
        if self.saved.is_none()
            && let Some(dsn) = self.dsn
        {
            let saved =
                SavedSettings::read(dsn, &mut running.connection).map_err(CellError::failed)?;
            self.saved = Some(saved);
        }
        let database = &running.address.database;
        let tables = self.plan.recipe.data.tables;
        Ok(running
            .connection
            .value(&format!(
                "SELECT id FROM `{database}`.sbtest{tables} LIMIT 1"
            ))
            .is_some())
    }

    pub(super) fn launch<'b>(
        &'b self,
        parts: Parts<'b>,
        directory: &'b Path,
        bytes: u64,
        namespace: Option<&'b Namespace>,
    ) -> Launch<'b> {
        let recipe = &self.plan.recipe;
        Launch {
            binaries: self.binaries,
            server: parts.server,
            configuration: parts.configuration,
            directory,
            from: parts.workload.from,
            namespace,
            connections: recipe.most_connections().max(PROBES),
            bytes,
            dsn: self.dsn,
            warm_up: Duration::from_secs(recipe.run.warm_up.max(1).into()),
            interrupt: self.interrupt,
        }
    }

    pub(super) fn drive_of<'b>(
        &'b self,
        parts: Parts<'b>,
        connections: u32,
        seconds: u32,
        rate: Option<f64>,
        data: &'b Data,
    ) -> Drive<'b> {
        Drive {
            binaries: self.binaries,
            parts,
            connections,
            seconds,
            rate,
            data,
            namespace: self
                .namespace
                .as_ref()
                .and_then(|namespace| namespace.as_ref().ok()),
            directory: self.work.path(),
            interrupt: self.interrupt,
        }
    }
}

/// The part of a cell that needs its own server process.
pub(super) fn wanted(key: &Key, parts: Parts) -> String {
    let from = parts.workload.from;
    format!("{} {} {from:?}", key.server, process(parts.configuration))
}

impl Recipe {
    pub(super) fn data_bytes(&self) -> u64 {
        u64::from(self.data.tables) * u64::from(self.data.rows) * ROW_BYTES
    }
}
