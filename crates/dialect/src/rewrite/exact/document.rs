//! The arguments of JSON functions that must be documents: dates, times and members of ENUM and SET are none.

use mysql_common::constants::ColumnFlags;
use sqlparser::ast::{DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::rewrite::Rewriter;
use crate::{node, types};

impl Rewriter<'_> {
    /// Makes numbers of what cannot be a document and is a text in SQLite: the function refuses numbers.
    pub(super) fn refuse_documents(&mut self, call: &mut Expr, name: &str) {
        let Expr::Function(f) = call else { return };
        let FunctionArguments::List(list) = &mut f.args else {
            return;
        };
        let documents = match name {
            "json_array" | "json_arrayagg" | "json_object" | "json_objectagg" | "json_quote"
            | "json_unquote" => 0,
            "json_contains" => 2,
            _ if name.starts_with("json_merge_") => list.args.len(),
            _ => 1,
        };
        for argument in list.args.iter_mut().take(documents) {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                continue;
            };
            let members = ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG;
            let wire = types::of(e, &mut self.names);
            if wire.is_some_and(|t| types::is_temporal(&t) || t.flags.intersects(members)) {
                node::replace(e, |e| node::cast(e, DataType::DoublePrecision));
            }
        }
    }
}
