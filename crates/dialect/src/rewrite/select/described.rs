//! The columns of a result, as a client gets them.

use crate::plan::ResultColumn;
use crate::rewrite::Rewriter;
use crate::scope::Column;

impl Rewriter<'_> {
    /// Stores the result's columns, if they are known.
    pub(super) fn describe_result(&mut self, columns: Option<Vec<Column>>) {
        let of = |columns: Option<Vec<Column>>| {
            let columns = columns.unwrap_or_default().into_iter();
            let column = |column: Column| ResultColumn {
                wire: column.wire,
                origin: column.origin,
                own_scale: column.own_scale,
            };
            columns.map(column).collect()
        };
        self.sql.columns = of(columns);
        self.sql.prepared_columns = of(self.names.ungrouped.take());
    }
}
