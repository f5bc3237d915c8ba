//! performance_schema.host_cache: the addresses that connected by TCP, and their errors.
//!
//! It has an entry for each of the last 256 addresses. The server resolves no names and blocks no
//! hosts, so that many of MySQL's counters stay zero.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::SystemTime;

use tare::sync::PlainMutex;
use tare_rows::server::CachedHost;

/// MySQL's host_cache_size grows with max_connections; this server listens on one address.
pub const MAX_HOSTS: usize = 256;

/// How a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The client's first packet could not be read or understood.
    Handshake,
    /// Wrong user or password.
    Authentication,
    /// The default database does not exist or is not for this user.
    DefaultDatabase,
    /// The client requested an authentication plugin that the server does not have.
    NoAuthPlugin,
    /// The server failed.
    Local,
}

/// The entries.
#[derive(Debug, Default)]
pub struct HostCache {
    hosts: PlainMutex<HashMap<IpAddr, CachedHost>>,
}

impl HostCache {
    /// Records a connection and how it failed, if it did.
    pub fn record(&self, ip: IpAddr, failure: Option<Failure>) {
        let now = SystemTime::now();
        let mut hosts = self.hosts.lock();
        if !hosts.contains_key(&ip) && hosts.len() >= MAX_HOSTS {
            let oldest = hosts.values().min_by_key(|h| h.last_seen).map(|h| h.ip);
            if let Some(oldest) = oldest {
                hosts.remove(&oldest);
            }
        }
        let host = hosts.entry(ip).or_insert_with(|| CachedHost {
            ip,
            handshake_errors: 0,
            authentication_errors: 0,
            default_database_errors: 0,
            no_auth_plugin_errors: 0,
            local_errors: 0,
            sum_connect_errors: 0,
            first_seen: now,
            last_seen: now,
            first_error_seen: None,
            last_error_seen: None,
        });
        host.last_seen = now;
        let Some(failure) = failure else {
            host.sum_connect_errors = 0;
            return;
        };
        host.first_error_seen.get_or_insert(now);
        host.last_error_seen = Some(now);
        match failure {
            Failure::Handshake => {
                host.handshake_errors += 1;
                host.sum_connect_errors += 1;
            }
            Failure::Authentication => host.authentication_errors += 1,
            Failure::DefaultDatabase => host.default_database_errors += 1,
            Failure::NoAuthPlugin => host.no_auth_plugin_errors += 1,
            Failure::Local => host.local_errors += 1,
        }
    }

    /// The entries, the latest first.
    pub fn list(&self) -> Vec<CachedHost> {
        let mut list: Vec<CachedHost> = self.hosts.lock().values().cloned().collect();
        list.sort_by_key(|h| std::cmp::Reverse(h.last_seen));
        list
    }

    /// FLUSH HOSTS, and TRUNCATE of the table.
    pub fn flush(&self) {
        self.hosts.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_kind_and_the_oldest_entry_gives_way() {
        let cache = HostCache::default();
        let ip = |n: u32| IpAddr::from(n.to_be_bytes());
        cache.record(ip(1), Some(Failure::Handshake));
        cache.record(ip(1), Some(Failure::Authentication));
        let host = &cache.list()[0];
        assert_eq!(
            (
                host.handshake_errors,
                host.authentication_errors,
                host.sum_connect_errors
            ),
            (1, 1, 1)
        );
        assert!(host.first_error_seen <= host.last_error_seen);
        cache.record(ip(1), None);
        assert_eq!(cache.list()[0].sum_connect_errors, 0);
        for n in 0..MAX_HOSTS as u32 + 10 {
            cache.record(ip(n + 100), None);
        }
        assert_eq!(cache.list().len(), MAX_HOSTS);
        assert!(cache.list().iter().all(|h| h.ip != ip(1)));
    }
}
