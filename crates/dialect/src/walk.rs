//! Visits every expression of a tree. sqlparser's visitors are generic: each closure instantiates the code
//! that walks all of its types, a third of a megabyte. Here it is instantiated once.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, visit_expressions, visit_expressions_mut};

type Visit<'a> = &'a mut dyn FnMut(&Expr) -> ControlFlow<()>;
type Change<'a> = &'a mut dyn FnMut(&mut Expr) -> ControlFlow<()>;

/// Visits an expression and all below it, subqueries included; parents first.
pub fn expressions(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    let visit: Visit<'_> = &mut |e| {
        visit(e);
        ControlFlow::Continue(())
    };
    let _ = visit_expressions(expr, visit);
}

/// Changes an expression and all below it, subqueries included; children first.
pub fn change(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    let change: Change<'_> = &mut |e| {
        change(e);
        ControlFlow::Continue(())
    };
    let _ = visit_expressions_mut(expr, change);
}

/// Changes every expression of a query; children first.
pub fn change_all(query: &mut Query, change: &mut dyn FnMut(&mut Expr)) {
    let change: Change<'_> = &mut |e| {
        change(e);
        ControlFlow::Continue(())
    };
    let _ = visit_expressions_mut(query, change);
}
