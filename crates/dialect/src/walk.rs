//! Every expression of a tree. The parser's visitors are generic: each closure that is given to them
//! makes a copy of the code that walks all of its types, a third of a megabyte. Here it is made once.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, visit_expressions, visit_expressions_mut};
use tare_mysql::watch;

type Look<'a> = &'a mut dyn FnMut(&Expr) -> ControlFlow<()>;
type Change<'a> = &'a mut dyn FnMut(&mut Expr) -> ControlFlow<()>;

/// Shows an expression and all below it, subqueries included; what is above comes first. Not all of them,
/// where the statement must end: whoever rewrites it sees that next.
pub fn expressions(expr: &Expr, look: &mut dyn FnMut(&Expr)) {
    let look: Look<'_> = &mut |e| {
        look(e);
        match watch::pace() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let _ = visit_expressions(expr, look);
}

/// Changes an expression and all below it, subqueries included; what is below comes first.
pub fn change(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    let change: Change<'_> = &mut |e| {
        change(e);
        match watch::pace() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let _ = visit_expressions_mut(expr, change);
}

/// Changes every expression of a query; what is below comes first.
pub fn change_all(query: &mut Query, change: &mut dyn FnMut(&mut Expr)) {
    let change: Change<'_> = &mut |e| {
        change(e);
        ControlFlow::Continue(())
    };
    let _ = visit_expressions_mut(query, change);
}
