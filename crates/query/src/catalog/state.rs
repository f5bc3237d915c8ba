//! The state of a connection while a statement runs: the snapshot that all its tables share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_rows::describe::Table;
use tare_rows::extension::Extension;
use tare_rows::registry;
use tare_rows::source::Source;
use tare_rows::view::View;

/// A connection's state, shared by its virtual tables.
pub(super) struct State {
    source: Arc<dyn Source>,
    view: Mutex<StatementView>,
}

/// The view that the tables read, and what still uses it.
#[derive(Default)]
struct StatementView {
    view: Option<View>,
    /// Statements that `Catalog::statement` began and that have not ended.
    statements: u32,
    /// Open cursors, for callers without `Catalog::statement`.
    cursors: u32,
}

impl StatementView {
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
            view: Mutex::default(),
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

    fn lock_view(&self) -> MutexGuard<'_, StatementView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The statement's view; taken now if this is its first table.
    pub(super) fn view(&self) -> View {
        let mut shared = self.lock_view();
        if let Some(view) = &shared.view {
            return view.clone();
        }
        let view = self.new_view();
        shared.view = Some(view.clone());
        view
    }

    /// A new view that is not shared.
    pub(super) fn new_view(&self) -> View {
        registry::view(self.source.clone())
    }

    pub(super) fn begin_statement(&self) {
        let mut shared = self.lock_view();
        if shared.statements == 0 {
            shared.view = None;
        }
        shared.statements += 1;
    }

    pub(super) fn end_statement(&self) {
        let mut shared = self.lock_view();
        shared.statements = shared.statements.saturating_sub(1);
        shared.forget_unless_used();
    }

    pub(super) fn open_cursor(&self) {
        self.lock_view().cursors += 1;
    }

    pub(super) fn close_cursor(&self) {
        let mut shared = self.lock_view();
        shared.cursors = shared.cursors.saturating_sub(1);
        shared.forget_unless_used();
    }
}
