//! Opens a segment, server or process for `tare record`, `tare live` and `--metrics`, whose crates know none of them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tare_history::{
    Answer, LockReading, NoRowLocks, ProcessSource, Query, RowLockWait, RowLocks, SegmentSource,
    ServerSource, ServerStatus, Source,
};
use tare_live::{Figures, Metrics, Open, WatchTarget};
use tare_reader::Segment;

use crate::exact::ExactOptions;
use crate::exit::{FAILED, Failure};
use crate::observe::blocks::BlockReader;
use crate::observe::innodb::InnodbReader;
use crate::observe::{self, ObservedServer, Product, QueryError};
use crate::processes;
use crate::ps::process;
use crate::sql::{Local, SqlSession, Target, local};

/// A session as history's trait `Query`.
pub struct SessionClient(pub SqlSession);

impl Query for SessionClient {
    fn query(&mut self, sql: &str) -> Result<Answer, tare_history::QueryError> {
        let rows = observe::rows(&mut self.0, sql).map_err(|error| match error {
            QueryError::Lost(why) => tare_history::QueryError::Lost(why),
            QueryError::Refused(why) => tare_history::QueryError::Refused(why),
        })?;
        let texts = |row: Vec<_>| row.iter().map(observe::text).collect();
        Ok(rows.into_iter().map(texts).collect())
    }
}

/// Where a source adds the ids of its connections, so that pages leave them out.
pub type OwnConnections = Arc<Mutex<Vec<u64>>>;

fn add_own(own: Option<&OwnConnections>, connection: u64) {
    if let Some(own) = own
        && let Ok(mut own) = own.lock()
        && !own.contains(&connection)
    {
        own.push(connection);
    }
}

/// A target's locks as history's trait `RowLocks`.
struct TargetLocks {
    reader: BlockReader,
    own: Option<OwnConnections>,
}

impl TargetLocks {
    fn add_own_connection(&mut self) {
        let row_locks = self.reader.row_locks();
        if let Some(connection) = row_locks.and_then(|row_locks| row_locks.connection()) {
            add_own(self.own.as_ref(), connection);
        }
    }
}

impl RowLocks for TargetLocks {
    fn read(&mut self) -> (Vec<RowLockWait>, Instant) {
        let Some(row_locks) = self.reader.row_locks() else {
            return (Vec::new(), Instant::now());
        };
        let (waits, read) = row_locks.read();
        let waits = waits.iter().map(|wait| RowLockWait {
            waiting: wait.waiting,
            blocking: wait.blocking,
            wait_ns: u64::try_from(wait.age.as_nanos()).ok(),
        });
        let waits = waits.collect();
        self.add_own_connection();
        (waits, read)
    }

    fn read_locks(&mut self, has_row_waits: bool) -> LockReading {
        let locks = self.reader.read(has_row_waits);
        self.add_own_connection();
        locks
    }

    fn read_status(&mut self) -> Option<ServerStatus> {
        let own = self
            .own
            .as_ref()
            .and_then(|own| own.lock().ok().map(|own| own.clone()));
        self.reader.read_status(&own.unwrap_or_default())
    }
}

fn segment_source(segment: Arc<Segment>) -> Box<dyn Source> {
    let innodb = InnodbReader::of_segment(segment.pid());
    let reader = BlockReader::of_segment(Arc::clone(&segment), innodb);
    let locks = TargetLocks { reader, own: None };
    Box::new(SegmentSource::new(segment, Box::new(locks)))
}

/// The source of samples of a process without a segment, if the target is one.
pub fn process_source(target: &Target) -> Result<Option<ProcessSource>, Failure> {
    let pid = target.process_without_segment();
    pid.map(ProcessSource::new)
        .transpose()
        .map_err(processes::failure)
}

/// The source of samples: a segment, or a server on a connection of its own.
pub fn source(target: &Target, own: Option<&OwnConnections>) -> Result<Box<dyn Source>, Failure> {
    if target.is_segment() {
        let segment = local::attach(target.segment())?;
        return Ok(segment_source(Arc::new(segment)));
    }
    let mut other = ObservedServer::open(target.clone())?;
    add_own(own, other.about.connection_id);
    let locks: Box<dyn RowLocks> = match other.innodb() {
        Some(innodb) => Box::new(TargetLocks {
            reader: BlockReader::of_server(innodb),
            own: own.cloned(),
        }),
        None => Box::new(NoRowLocks),
    };
    let pid = match other.find_threads() {
        Ok(pid) => pid,
        Err(QueryError::Refused(why) | QueryError::Lost(why)) => Err(why),
    };
    let session = SessionClient(other.into_session());
    Ok(Box::new(ServerSource::new(session, locks, pid)))
}

/// Opens a target of the command line, also again after it was lost. A process that has ended does not come
/// back: another one may have its id. `exact` has the rule of exact windows, if there is one.
pub fn reopening(target: Target, exact: Option<ExactOptions>) -> Open {
    let mut process = None;
    Box::new(move || {
        if let Some(name) = &process {
            return Err(format!("{name} has ended"));
        }
        let opened = open(&target, exact.as_ref())?;
        process = opened.server.is_none().then(|| opened.name.clone());
        Ok(opened)
    })
}

/// Opens a target of the command line.
fn open(target: &Target, exact: Option<&ExactOptions>) -> Result<WatchTarget, String> {
    let message = |failure: Failure| failure.message;
    if let Some(source) = process_source(target).map_err(message)? {
        let (pid, _) = source.tree().root();
        return Ok(WatchTarget {
            pid: Some(pid),
            is_tare: false,
            name: processes::name(source.tree()),
            version: process::version(pid).unwrap_or_default(),
            source: Box::new(source),
            windows: None,
            server: None,
        });
    }
    let source = source(target, None).map_err(message)?;
    let mut observed = ObservedServer::open(target.clone()).map_err(message)?;
    let pid = observed.find_process().ok().and_then(Result::ok);
    // A segment's VERSION() is Tare's, even if another server writes the segment.
    let server = pid
        .filter(|_| target.is_segment())
        .and_then(process::version);
    let windows = match exact {
        Some(exact) => exact.windows(target, &*source).map_err(message)?,
        None => None,
    };
    Ok(WatchTarget {
        windows: windows.map(|(windows, _)| windows),
        source,
        pid,
        is_tare: observed.about.product == Product::Tare,
        name: observed.about.name.clone(),
        version: server.unwrap_or_else(|| observed.about.version.clone()),
        server: Some(Box::new(SessionClient(observed.into_session()))),
    })
}

/// Opens an attached segment.
pub fn open_segment(segment: Option<Arc<Segment>>) -> Result<WatchTarget, String> {
    let segment =
        segment.ok_or("this server is not instrumented: start it with --performance-schema=ON")?;
    let pid = segment.pid();
    let source = segment_source(Arc::clone(&segment));
    let session = Local::new(segment).map_err(|failure| failure.message)?;
    let mut server = SessionClient(SqlSession::Local(Box::new(session)));
    let mut text = |sql| {
        let rows = server.query(sql).unwrap_or_default();
        let first = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next()?);
        first.unwrap_or_default()
    };
    Ok(WatchTarget {
        name: format!("{} ({pid})", text("SELECT program FROM tare.segments")),
        version: text("SELECT VERSION()"),
        source,
        windows: None,
        pid: Some(pid),
        is_tare: true,
        server: Some(Box::new(server)),
    })
}

/// Options of commands that export metrics.
#[derive(clap::Args, Clone, Debug)]
pub struct MetricsOptions {
    /// Answer Prometheus at http://ADDRESS/metrics, such as 127.0.0.1:9150; port 0 takes a free one and
    /// prints it. Whoever can reach the address can read them
    #[arg(long, value_name = "ADDRESS", help_heading = "Metrics")]
    metrics: Option<SocketAddr>,

    /// Digests that have metrics of their own: those that took most time
    #[arg(
        long, value_name = "K", default_value_t = 50, value_parser = clap::value_parser!(u16).range(0..=1000),
        help_heading = "Metrics"
    )]
    metrics_digests: u16,
}

impl MetricsOptions {
    /// Whether metrics are exported.
    pub fn is_given(&self) -> bool {
        self.metrics.is_some()
    }

    /// Starts the exporter if --metrics is given, and prints its address.
    pub fn start(&self, open: Open, figures: Option<Arc<Figures>>) -> Result<(), Failure> {
        let Some(address) = self.metrics else {
            return Ok(());
        };
        let web = Metrics::start(address, open, self.metrics_digests.into(), figures);
        let web = web.map_err(|error| {
            let advice = "give another address with --metrics";
            Failure::new(
                FAILED,
                format!("cannot listen on {address}: {error}; {advice}"),
            )
        })?;
        eprintln!("tare: metrics at http://{}/metrics", web.address());
        Ok(())
    }
}
