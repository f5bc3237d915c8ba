//! Types that are known already. Each operator of a chain such as `1+1+...` asks for the type of all that
//! stands left of it: without these, a statement's time would grow with the square of its length.

use std::collections::HashMap;

use sqlparser::ast::Expr;
use tare_mysql::wire::column::WireType;

/// Where an operator's operands are. They stay there while what is around them changes.
type Operands = (*const Expr, *const Expr);

/// Types of operators' results, by their operands. They hold until the tree is changed.
#[derive(Debug, Default)]
pub struct TypeCache {
    /// Of the tree; what was found in another one is forgotten.
    version: u64,
    of: HashMap<Operands, (u64, Option<WireType>)>,
}

impl TypeCache {
    /// The tree changes, or other names come into sight.
    pub fn forget(&mut self) {
        self.version += 1;
    }

    /// The type of what an operator makes of two operands, where it has been found.
    pub(super) fn get(&self, left: &Expr, right: &Expr) -> Option<Option<WireType>> {
        let entry = self.of.get(&(&raw const *left, &raw const *right));
        entry
            .filter(|(version, _)| *version == self.version)
            .map(|(_, wire)| *wire)
    }

    /// Keeps it.
    pub(super) fn put(&mut self, left: &Expr, right: &Expr, wire: Option<WireType>) {
        let place = (&raw const *left, &raw const *right);
        self.of.insert(place, (self.version, wire));
    }
}
