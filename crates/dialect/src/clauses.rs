//! The column names of a statement, each with its clause. SQLite's error for an unknown column has only
//! the name; MySQL's has the clause, too.

use sqlparser::ast::{
    AssignmentTarget, Expr, GroupByExpr, JoinConstraint, OrderByKind, Query, Select, SelectItem,
    SetExpr, Statement, TableFactor,
};

use crate::error::{Clause, Error};
use crate::join::constraint;
use crate::name::full_name;
use crate::walk;

/// The column names of a statement, as written: `a`, `t.a`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<(Clause, String)>);

impl Names {
    /// The names of a statement that has not been rewritten yet.
    pub fn of(statement: &Statement) -> Self {
        let mut names = Self::default();
        names.statement(statement);
        names
    }

    /// 1054 for a column that SQLite does not know. The clause is the field list if the statement has no
    /// such name.
    pub fn unknown(&self, name: &str) -> Error {
        let lower = name.to_lowercase();
        let matched = self.0.iter().find(|(_, written)| {
            // SQLite's name may have more parts than the written one, or fewer.
            let written = written.to_lowercase();
            written == lower
                || lower.ends_with(&format!(".{written}"))
                || written.ends_with(&format!(".{lower}"))
        });
        let (clause, name) = match matched {
            Some((clause, written)) => (*clause, written.clone()),
            None => (Clause::FieldList, name.to_owned()),
        };
        Error::UnknownColumn { name, clause }
    }

    /// 1052 for a column that several tables have.
    pub fn ambiguous(&self, name: &str) -> Error {
        let mut written = self.0.iter();
        let matched = written.find(|(_, written)| written.to_lowercase() == name.to_lowercase());
        let (clause, name) = match matched {
            Some((clause, written)) => (*clause, written.clone()),
            None => (Clause::FieldList, name.to_owned()),
        };
        Error::AmbiguousColumn { name, clause }
    }

    fn add(&mut self, clause: Clause, name: String) {
        self.0.push((clause, name));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Explain { statement, .. } => self.statement(statement),
            Statement::Update(update) => {
                for assignment in &update.assignments {
                    if let AssignmentTarget::ColumnName(name) = &assignment.target {
                        self.add(Clause::FieldList, full_name(name));
                    }
                    self.within(Clause::FieldList, &assignment.value);
                }
                self.within_some(Clause::Where, update.selection.as_ref());
            }
            Statement::Delete(delete) => {
                self.within_some(Clause::Where, delete.selection.as_ref());
            }
            Statement::Insert(insert) => {
                for column in &insert.columns {
                    self.add(Clause::FieldList, full_name(column));
                }
                if let Some(source) = &insert.source {
                    self.query(source);
                }
            }
            _ => {}
        }
    }

    fn query(&mut self, query: &Query) {
        for cte in query.with.iter().flat_map(|w| &w.cte_tables) {
            self.query(&cte.query);
        }
        self.body(&query.body);
        if let Some(order) = &query.order_by
            && let OrderByKind::Expressions(by) = &order.kind
        {
            for item in by {
                self.within(Clause::Order, &item.expr);
            }
        }
    }

    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            _ => {}
        }
    }

    fn select(&mut self, select: &Select) {
        for table in &select.from {
            let joined = table.joins.iter().map(|j| &j.relation);
            for factor in std::iter::once(&table.relation).chain(joined) {
                if let TableFactor::Derived { subquery, .. } = factor {
                    self.query(subquery);
                }
            }
        }
        for item in &select.projection {
            if let SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } = item {
                self.within(Clause::FieldList, e);
            }
        }
        for join in select.from.iter().flat_map(|t| &t.joins) {
            match constraint(&join.join_operator) {
                Some(JoinConstraint::On(on)) => self.within(Clause::On, on),
                Some(JoinConstraint::Using(columns)) => {
                    for column in columns {
                        self.add(Clause::From, full_name(column));
                    }
                }
                _ => {}
            }
        }
        self.within_some(Clause::Where, select.selection.as_ref());
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            for expr in by {
                self.within(Clause::Group, expr);
            }
        }
        self.within_some(Clause::Having, select.having.as_ref());
    }

    fn within_some(&mut self, clause: Clause, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.within(clause, expr);
        }
    }

    /// Adds the names in an expression, its subqueries included, to the clause.
    fn within(&mut self, clause: Clause, expr: &Expr) {
        walk::expressions(expr, &mut |e| match e {
            Expr::Identifier(name) => self.add(clause, name.value.clone()),
            Expr::CompoundIdentifier(parts) => {
                let parts: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
                self.add(clause, parts.join("."));
            }
            _ => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sql: &str) -> Names {
        Names::of(&crate::read::parse_one(sql).expect(sql))
    }

    #[test]
    fn each_name_has_the_clause_that_it_is_in() {
        for (sql, clause) in [
            ("SELECT x FROM t", "field list"),
            ("SELECT 1 FROM t WHERE x = 1", "where clause"),
            ("SELECT 1 FROM t JOIN u ON t.x = u.a", "on clause"),
            ("SELECT 1 FROM t JOIN u USING (x)", "from clause"),
            ("SELECT 1 FROM t GROUP BY x", "group statement"),
            ("SELECT 1 FROM t ORDER BY x", "order clause"),
            ("SELECT a FROM t GROUP BY a HAVING x > 1", "having clause"),
            ("DELETE FROM t WHERE x = 1", "where clause"),
            ("UPDATE t SET x = 1", "field list"),
        ] {
            let message = names(sql).unknown("x").to_string();
            assert!(
                message.ends_with(&format!(" in '{clause}'")),
                "{sql}: {message}"
            );
        }
    }

    #[test]
    fn errors_have_names_as_they_are_written() {
        let names = names("SELECT a FROM t WHERE T.B = 1 AND c = 2");
        for (name_in_error, written) in [("t.b", "T.B"), ("d.t.b", "T.B"), ("t.c", "c"), ("e", "e")]
        {
            let Error::UnknownColumn { name, .. } = names.unknown(name_in_error) else {
                panic!("{name_in_error}");
            };
            assert_eq!(name, written);
        }
        let message = names.ambiguous("c").to_string();
        assert_eq!(message, "Column 'c' in where clause is ambiguous");
        let message = names.ambiguous("b").to_string();
        assert_eq!(message, "Column 'b' in field list is ambiguous");
    }
}
