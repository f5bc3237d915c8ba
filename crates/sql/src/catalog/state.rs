//! What one connection remembers while a statement runs: the snapshot that all its tables share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_rows::registry;
use tare_rows::source::Source;
use tare_rows::view::View;

/// A connection's state, shared by its virtual tables.
pub(super) struct State {
    source: Arc<dyn Source>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    view: Option<View>,
    /// Statements announced by `Catalog::statement` and not yet ended.
    statements: u32,
    /// Cursors open now, for callers that announce nothing.
    cursors: u32,
}

impl Held {
    fn release(&mut self) {
        if self.statements == 0 && self.cursors == 0 {
            self.view = None;
        }
    }
}

impl State {
    pub(super) fn new(source: Arc<dyn Source>) -> Self {
        State {
            source,
            held: Mutex::default(),
        }
    }

    pub(super) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The statement's view; taken now if this is its first table.
    pub(super) fn view(&self) -> View {
        let mut held = self.held();
        if let Some(view) = &held.view {
            return view.clone();
        }
        let view = self.fresh();
        held.view = Some(view.clone());
        view
    }

    /// A view of this instant, shared with nobody.
    pub(super) fn fresh(&self) -> View {
        registry::view(self.source.clone())
    }

    pub(super) fn begin_statement(&self) {
        let mut held = self.held();
        if held.statements == 0 {
            held.view = None;
        }
        held.statements += 1;
    }

    pub(super) fn end_statement(&self) {
        let mut held = self.held();
        held.statements = held.statements.saturating_sub(1);
        held.release();
    }

    pub(super) fn open_cursor(&self) {
        self.held().cursors += 1;
    }

    pub(super) fn close_cursor(&self) {
        let mut held = self.held();
        held.cursors = held.cursors.saturating_sub(1);
        held.release();
    }
}
