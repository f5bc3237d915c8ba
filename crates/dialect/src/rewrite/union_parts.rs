//! The parts of UNION, EXCEPT and INTERSECT: their columns become values of their common types.

use sqlparser::ast::{Expr, Query, Select, SelectItem, SetExpr};

use super::exact::Class;
use super::rewriter::{Conversion, PartConversions, Rewriter};
use super::unify::{compares_bytes, conversion, is_bit, is_bytes};
use crate::function::Parameter;
use crate::name::ident;
use crate::node::query;
use crate::scope::Column;
use crate::types;

impl Rewriter<'_> {
    /// Plans the conversions of the columns of a UNION, whose parts are visited later.
    pub(super) fn plan_parts(&mut self, query: &Query) {
        let SetExpr::SetOperation { .. } = query.body.as_ref() else {
            return;
        };
        let mut parts = Vec::new();
        selects(&query.body, &mut parts);
        let Some(columns) = self.names.body(&query.body) else {
            return;
        };
        for part in parts {
            let is_listed = part.projection.iter().all(|item| {
                matches!(
                    item,
                    SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. }
                )
            });
            if !is_listed || part.projection.len() != columns.len() {
                continue;
            }
            let scope = self.names.scope(part);
            self.names.scopes.push(scope);
            let mut conversions = Vec::new();
            for (i, (item, column)) in part.projection.iter().zip(&columns).enumerate() {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                {
                    self.plan_part_column(i, expr, column, &mut conversions);
                }
            }
            self.names.scopes.pop();
            if !conversions.is_empty() {
                self.parts_of_union
                    .insert(std::ptr::from_ref(part), conversions);
            }
        }
    }

    fn plan_part_column(
        &mut self,
        i: usize,
        expr: &Expr,
        column: &Column,
        conversions: &mut PartConversions,
    ) {
        let own = types::of_operand(expr, &mut self.names);
        let (Some(own), Some(to)) = (own, column.wire) else {
            return;
        };
        let class = Class::of(Some(own));
        let is_stored = self.names.column_of(expr).is_some_and(|c| c.stored);
        let converted = conversion(&own, &to, true);
        if class == Class::Real && types::is_text(&to) || is_bit(&own) && types::is_text(&to) {
            let mut copy = expr.clone();
            self.read_argument(Parameter::Text, i, &mut copy, conversions);
        }
        conversions.extend(converted.map(|c| (i, c)));
        let is_same = is_stored && converted.is_none() && class == Class::of(Some(to));
        let needs_collation = !is_same || compares_bytes(&own) != compares_bytes(&to);
        match Class::of(Some(to)) {
            Class::Decimal if needs_collation => conversions.push((i, Conversion::Exact)),
            Class::Text if !types::is_text(&to) || is_bytes(&to) || column.system => {}
            Class::Text if compares_bytes(&to) => conversions.push((i, Conversion::CompareBytes)),
            Class::Text if needs_collation => {
                conversions.push((i, Conversion::IgnoreCase));
            }
            _ => {}
        }
    }

    /// Converts the columns of a part of a UNION that has been rewritten.
    pub(super) fn convert_part(&mut self, select: &mut Select) {
        let Some(conversions) = self.parts_of_union.remove(&std::ptr::from_ref(select)) else {
            return;
        };
        for (i, conversion) in conversions {
            let Some(item) = select.projection.get_mut(i) else {
                continue;
            };
            if let SelectItem::UnnamedExpr(expr) = item {
                // The column keeps its name.
                let name = match &*expr {
                    Expr::Identifier(name) => Some(name.value.clone()),
                    Expr::CompoundIdentifier(parts) => parts.last().map(|p| p.value.clone()),
                    _ => None,
                };
                if let Some(name) = name {
                    *item = query::aliased(expr.clone(), ident(&name));
                }
            }
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                conversion.apply(expr);
            }
        }
    }
}

/// The SELECTs of a set operation.
fn selects<'q>(body: &'q SetExpr, all: &mut Vec<&'q Select>) {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            selects(left, all);
            selects(right, all);
        }
        SetExpr::Select(select) => all.push(select),
        _ => {}
    }
}
