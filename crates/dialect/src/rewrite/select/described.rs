//! The columns of a result, as a client gets them.

use crate::plan::ResultColumn;
use crate::rewrite::Rewriter;
use crate::scope::Column;

impl Rewriter<'_> {
    /// Stores the result's columns, if they are known.
    pub(super) fn describe_result(&mut self, columns: Option<Vec<Column>>) {
        let columns = columns.unwrap_or_default().into_iter();
        self.sql.columns = columns
            .map(|column| ResultColumn {
                wire: column.wire,
                origin: column.origin,
            })
            .collect();
    }
}
