//! A cache of types. Each operator of a chain such as `1+1+...` needs the type of its left operand: without
//! the cache, the time would grow with the square of the statement's length.

use std::collections::HashMap;

use sqlparser::ast::Expr;
use tare_mysql::wire::column::WireType;

/// The addresses of an operator's operands, which are stable while the rest of the tree changes.
type Operands = (*const Expr, *const Expr);

/// Types of operators' results, by their operands. They are valid until the tree changes.
#[derive(Debug, Default)]
pub struct TypeCache {
    /// The version of the tree: entries of other versions are invalid.
    version: u64,
    of: HashMap<Operands, (u64, Option<WireType>)>,
}

impl TypeCache {
    /// Invalidates all entries: the tree or the visible names change.
    pub fn forget(&mut self) {
        self.version += 1;
    }

    /// The cached type of an operator's result.
    pub(super) fn get(&self, left: &Expr, right: &Expr) -> Option<Option<WireType>> {
        let entry = self.of.get(&(&raw const *left, &raw const *right));
        entry
            .filter(|(version, _)| *version == self.version)
            .map(|(_, wire)| *wire)
    }

    /// Adds a type.
    pub(super) fn put(&mut self, left: &Expr, right: &Expr, wire: Option<WireType>) {
        let place = (&raw const *left, &raw const *right);
        self.of.insert(place, (self.version, wire));
    }
}
