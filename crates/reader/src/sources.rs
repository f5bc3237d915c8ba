//! Lines of the host's source, which events and metadata locks name by number.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tare_layout::View;
use tare_layout::source::SOURCES;

use crate::classes::text;

/// Column SOURCE by number. Each is formatted once, however many events name it.
#[derive(Debug, Default)]
pub struct Sources {
    cache: Mutex<HashMap<usize, Arc<str>>>,
}

impl Sources {
    /// `file:line` of this number; `None` for 0, and for a number that the host never gave.
    pub fn get(&self, view: View<'_>, number: usize) -> Option<Arc<str>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = cache.get(&number) {
            return Some(place.clone());
        }
        // Acquire: pairs with the store of the thread that gave the number.
        let used = view.shared().sources_used.0.load(Ordering::Acquire) as usize;
        if number == 0 || number >= used.min(SOURCES) {
            return None;
        }
        let source = view.source(number);
        let line = source.line.load(Ordering::Relaxed);
        let place: Arc<str> = format!("{}:{line}", text(&source.file)).into();
        cache.insert(number, place.clone());
        Some(place)
    }
}
