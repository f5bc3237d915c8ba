//! What one connection remembers while a statement runs: the snapshot that all its tables share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_rows::describe::Table;
use tare_rows::extension::Extension;
use tare_rows::registry;
use tare_rows::source::Source;
use tare_rows::view::View;

/// A connection's state, shared by its virtual tables.
pub(super) struct State {
    source: Arc<dyn Source>,
    shown: Mutex<Shown>,
}

/// What the tables show, and how long they go on to.
#[derive(Default)]
struct Shown {
    view: Option<View>,
    /// Statements announced by `Catalog::statement` and not yet ended.
    statements: u32,
    /// Cursors open now, for callers that announce nothing.
    cursors: u32,
}

impl Shown {
    fn forget_unless_used(&mut self) {
        if self.statements == 0 && self.cursors == 0 {
            self.view = None;
        }
    }
}

impl State {
    pub(super) fn new(source: Arc<dyn Source>) -> Self {
        State {
            source,
            shown: Mutex::default(),
        }
    }

    pub(super) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// A table by names without case.
    pub(super) fn find(&self, schema: &str, name: &str) -> Option<&'static dyn Table> {
        let extension = self.source.extension();
        let extension = extension.map(|extension| extension as &dyn Extension);
        registry::find_with(extension, self.source.series(), schema, name)
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The statement's view; taken now if this is its first table.
    pub(super) fn view(&self) -> View {
        let mut shown = self.shown();
        if let Some(view) = &shown.view {
            return view.clone();
        }
        let view = self.fresh();
        shown.view = Some(view.clone());
        view
    }

    /// A view of this instant, shared with nobody.
    pub(super) fn fresh(&self) -> View {
        registry::view(self.source.clone())
    }

    pub(super) fn begin_statement(&self) {
        let mut shown = self.shown();
        if shown.statements == 0 {
            shown.view = None;
        }
        shown.statements += 1;
    }

    pub(super) fn end_statement(&self) {
        let mut shown = self.shown();
        shown.statements = shown.statements.saturating_sub(1);
        shown.forget_unless_used();
    }

    pub(super) fn open_cursor(&self) {
        self.shown().cursors += 1;
    }

    pub(super) fn close_cursor(&self) {
        let mut shown = self.shown();
        shown.cursors = shown.cursors.saturating_sub(1);
        shown.forget_unless_used();
    }
}
