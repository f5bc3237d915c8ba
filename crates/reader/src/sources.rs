//! Places in the host's source, which events and metadata locks name by number.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tare_layout::View;
use tare_layout::source::SOURCES;

use crate::classes::text;

/// Column SOURCE by number: each is written once, however many events name it.
#[derive(Debug, Default)]
pub struct Sources {
    known: Mutex<HashMap<usize, Arc<str>>>,
}

impl Sources {
    /// `file:line` of the place with this number; of number 0, and of one that was never given, none.
    pub fn get(&self, view: View<'_>, number: usize) -> Option<Arc<str>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = known.get(&number) {
            return Some(shown.clone());
        }
        // Acquire: pairs with the store of whoever gave the number.
        let used = view.shared().sources_used.0.load(Ordering::Acquire) as usize;
        if number == 0 || number >= used.min(SOURCES) {
            return None;
        }
        let source = view.source(number);
        let line = source.line.load(Ordering::Relaxed);
        let shown: Arc<str> = format!("{}:{line}", text(&source.file)).into();
        known.insert(number, shown.clone());
        Some(shown)
    }
}
