//! The history of `tare live`, by host and server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tare_history::{Origin, Past};
use tare_live::{Compare, CompareStatement, LiveServer};

use super::Args;
use crate::diff;
use crate::exit::{FAILED, Failure};

/// Reads the end of a history: the servers that have samples, in the order of their hosts and names.
pub fn read(args: &Args, directory: &Path) -> Result<Vec<LiveServer>, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis() as i64;
    let past = Past {
        from: now - args.past.as_millis() as i64,
        to: now,
        host: args.host_name.clone(),
        server: args.server.clone(),
        directory: directory.to_owned(),
    };
    let mut servers: BTreeMap<Origin, LiveServer> = BTreeMap::new();
    let mut samples = 0;
    past.read(&mut |origin, record| {
        samples += u64::from(matches!(record, tare_history::Record::Sample { .. }));
        let add = |server: &mut LiveServer| server.add(record);
        match servers.get_mut(origin) {
            Some(server) => add(server),
            None => {
                let new = LiveServer::of_history(origin.clone());
                add(servers.entry(origin.clone()).or_insert(new));
            }
        }
    })
    .map_err(|error| Failure::new(FAILED, format!("the history cannot be read: {error}")))?;
    let directory = directory.display();
    match samples {
        0 => eprintln!(
            "tare: {directory} has no samples of this time; --past 24h includes older ones"
        ),
        samples => eprintln!("tare: {samples} samples of {directory}"),
    }
    // Texts and plans stay for longer than moments.
    let servers = servers.into_values();
    Ok(servers.filter(LiveServer::has_moments).collect())
}

/// Adds the servers of a history: the only one to the only target, others to the targets of their names. What is
/// left is on the page by itself.
pub fn add(servers: &mut Vec<LiveServer>, past: Vec<LiveServer>) {
    let are_single = servers.len() == 1 && past.len() == 1;
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for server in &past {
        *names.entry(server.title().to_owned()).or_default() += 1;
    }
    let targets = servers.len();
    for server in past {
        let is_unique = names[server.title()] == 1;
        let mut targets = servers[..targets].iter_mut();
        let target =
            targets.find(|target| are_single || is_unique && target.title() == server.title());
        match target {
            Some(target) => target.merge(server),
            None => servers.push(server),
        }
    }
}

/// The host and the server that options select. They precede those of a request.
struct Selected {
    host: Option<String>,
    server: Option<String>,
}

impl Selected {
    fn new(args: &Args) -> Self {
        Self {
            host: args.host_name.clone(),
            server: args.server.clone(),
        }
    }

    fn apply(&self, host: &mut Option<String>, server: &mut Option<String>) {
        for (selected, requested) in [(&self.host, host), (&self.server, server)] {
            if selected.is_some() {
                requested.clone_from(selected);
            }
        }
    }
}

/// Compares windows of the history of the host and the server that are selected.
pub fn comparisons(args: &Args, directory: PathBuf) -> Compare {
    let selected = Selected::new(args);
    Box::new(move |request| {
        let mut request = request.clone();
        selected.apply(&mut request.host, &mut request.server);
        diff::compare_for_page(&directory, &request)
    })
}

/// Compares the last hour of a statement with earlier ones, of the same host and server.
pub fn statement_comparisons(args: &Args, directory: PathBuf) -> CompareStatement {
    let selected = Selected::new(args);
    Box::new(move |request| {
        let mut request = request.clone();
        selected.apply(&mut request.host, &mut request.server);
        diff::compare_statement(&directory, &request)
    })
}
