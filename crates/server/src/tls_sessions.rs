//! The TLS sessions that clients may resume, and their counters for SHOW STATUS.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustls::server::StoresServerSessions;
use tare::sync::PlainMutex;

/// The most sessions that are cached, as many as rustls caches by default.
pub const MAX_SESSIONS: usize = 256;

/// The cache of TLS sessions, with its counters.
#[derive(Debug, Default)]
pub struct Sessions {
    cache: PlainMutex<Cache>,
    /// Lookups that found a session.
    pub hits: AtomicU64,
    /// Lookups that found none.
    pub misses: AtomicU64,
    /// Sessions that newer ones have replaced.
    pub overflows: AtomicU64,
}

#[derive(Debug, Default)]
struct Cache {
    by_key: HashMap<Vec<u8>, Vec<u8>>,
    /// The keys, the oldest first. Some sessions may have been taken out since.
    order: VecDeque<Vec<u8>>,
}

impl Sessions {
    /// The number of cached sessions.
    pub fn len(&self) -> usize {
        self.cache.lock().by_key.len()
    }

    fn count_lookup(&self, session: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let counter = match session {
            Some(_) => &self.hits,
            None => &self.misses,
        };
        counter.fetch_add(1, Relaxed);
        session
    }
}

impl StoresServerSessions for Sessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let mut cache = self.cache.lock();
        if cache.by_key.insert(key.clone(), value).is_none() {
            cache.order.push_back(key);
        }
        while cache.by_key.len() > MAX_SESSIONS {
            let Some(oldest) = cache.order.pop_front() else {
                break;
            };
            if cache.by_key.remove(&oldest).is_some() {
                self.overflows.fetch_add(1, Relaxed);
            }
        }
        // Drops the keys of sessions that were taken out.
        if cache.order.len() > 2 * MAX_SESSIONS {
            let Cache { by_key, order } = &mut *cache;
            order.retain(|key| by_key.contains_key(key));
        }
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let session = self.cache.lock().by_key.get(key).cloned();
        self.count_lookup(session)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let session = self.cache.lock().by_key.remove(key);
        self.count_lookup(session)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_sessions_are_evicted_and_taken_ones_removed() {
        let sessions = Sessions::default();
        let key = |i: usize| i.to_le_bytes().to_vec();
        for i in 0..MAX_SESSIONS + 3 {
            assert!(sessions.put(key(i), vec![1]));
        }
        assert_eq!(
            (sessions.len(), sessions.overflows.load(Relaxed)),
            (MAX_SESSIONS, 3)
        );
        assert_eq!(sessions.get(&key(2)), None);
        assert_eq!(sessions.get(&key(3)), Some(vec![1]));
        assert_eq!(sessions.take(&key(3)), Some(vec![1]));
        assert_eq!(sessions.take(&key(3)), None);
        assert_eq!(
            (sessions.hits.load(Relaxed), sessions.misses.load(Relaxed)),
            (2, 2)
        );
        // Keys of sessions that are taken out do not accumulate.
        for i in 0..10 * MAX_SESSIONS {
            sessions.put(key(i), vec![1]);
            assert!(sessions.take(&key(i)).is_some());
        }
        assert!(sessions.cache.lock().order.len() <= 2 * MAX_SESSIONS + 1);
    }
}
