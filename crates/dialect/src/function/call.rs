//! A call of a function, as it was parsed and as its parts were rewritten.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments,
};

use crate::error::{Result, near};
use crate::name::last_name;
use crate::node;

/// A call whose arguments have been rewritten.
#[derive(Debug)]
pub struct SqlCall {
    call: Function,
    /// Sums are exact beyond 64 bits.
    pub exact: bool,
}

impl SqlCall {
    /// A call, in a statement whose sums are exact or not.
    pub fn new(call: Function, exact: bool) -> Self {
        Self { call, exact }
    }

    fn list(&self) -> Option<&FunctionArgumentList> {
        match &self.call.args {
            FunctionArguments::List(list) => Some(list),
            _ => None,
        }
    }

    /// The arguments; `*` is none.
    pub fn arguments(&self) -> Vec<&Expr> {
        arguments(&self.call)
    }

    /// How many arguments there are; `*` is one.
    pub fn len(&self) -> usize {
        self.list().map_or(0, |list| list.args.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the call has DISTINCT.
    pub fn distinct(&self) -> bool {
        self.list()
            .is_some_and(|l| l.duplicate_treatment == Some(DuplicateTreatment::Distinct))
    }

    /// ORDER BY, SEPARATOR and other clauses after the arguments.
    pub fn clauses(&self) -> &[FunctionArgumentClause] {
        self.list().map_or(&[], |list| &list.clauses)
    }

    /// Whether the first argument is a column.
    pub fn is_column(&self) -> bool {
        matches!(
            self.arguments().first(),
            Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        )
    }

    /// Whether the name is quoted or has no parentheses: SQLite has no such calls.
    pub(super) fn is_odd(&self) -> bool {
        let quoted = self.call.name.0.first().and_then(|part| part.as_ident());
        quoted.is_some_and(|name| name.quote_style.is_some()) || self.list().is_none()
    }

    /// The call as it is.
    pub fn unchanged(self) -> Expr {
        Expr::Function(self.call)
    }

    /// The arguments; `*` is none.
    pub fn into_arguments(self) -> Vec<Expr> {
        let FunctionArguments::List(list) = self.call.args else {
            return Vec::new();
        };
        let expr = |argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        };
        list.args.into_iter().filter_map(expr).collect()
    }

    /// A call of another function with the same arguments; an error if the call has clauses.
    pub(super) fn renamed(self, to: &str) -> Result<Expr> {
        if self.distinct() {
            return Err(near("DISTINCT"));
        }
        if let Some(clause) = self.clauses().first() {
            return Err(near(clause));
        }
        if self.arguments().len() < self.len() {
            return Err(near("*"));
        }
        Ok(node::call(to, self.into_arguments()))
    }
}

/// A function's name in lower case.
pub fn name_of(f: &Function) -> String {
    last_name(&f.name).to_ascii_lowercase()
}

/// A call's arguments; `*` is none.
pub fn arguments(f: &Function) -> Vec<&Expr> {
    match &f.args {
        FunctionArguments::List(list) => list.args.iter().filter_map(plain).collect(),
        _ => Vec::new(),
    }
}

/// A call's nth argument, to be changed.
pub fn argument_mut(f: &mut Function, n: usize) -> Option<&mut Expr> {
    let FunctionArguments::List(list) = &mut f.args else {
        return None;
    };
    match list.args.get_mut(n)? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
        _ => None,
    }
}

fn plain(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
        _ => None,
    }
}
