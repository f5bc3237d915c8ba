//! Builders of SQLite's queries.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, CteAsMaterialized, Expr, GroupByExpr, Ident, ObjectName, OrderBy, OrderByExpr,
    OrderByKind, Parens, Query, Select, SelectFlavor, SelectItem, SetExpr, SetOperator,
    SetQuantifier, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins, Values,
    WildcardAdditionalOptions, With,
};

/// `SELECT items`.
pub(crate) fn select(projection: Vec<SelectItem>) -> Select {
    Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from: Vec::new(),
        lateral_views: Vec::new(),
        prewhere: None,
        selection: None,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}

/// `SELECT items FROM table`.
pub(crate) fn select_from(projection: Vec<SelectItem>, table: TableFactor) -> Select {
    Select {
        from: vec![TableWithJoins {
            relation: table,
            joins: Vec::new(),
        }],
        ..select(projection)
    }
}

/// `SELECT items FROM (query)`.
pub fn select_of(items: Vec<SelectItem>, query: Query) -> Query {
    of_body(SetExpr::Select(Box::new(select_from(
        items,
        derived(query, Some(Ident::new("q"))),
    ))))
}

/// `expr AS alias`.
pub(crate) fn aliased(expr: Expr, alias: Ident) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias }
}

/// An expression without a name.
pub(crate) fn unnamed(expr: Expr) -> SelectItem {
    SelectItem::UnnamedExpr(expr)
}

/// `*`.
pub(crate) fn all() -> SelectItem {
    SelectItem::Wildcard(WildcardAdditionalOptions::default())
}

/// `(query) AS alias`, as FROM has it.
pub(crate) fn derived(query: Query, alias: Option<Ident>) -> TableFactor {
    TableFactor::Derived {
        lateral: false,
        subquery: Box::new(query),
        alias: alias.map(|name| table_alias(name, Vec::new())),
        sample: None,
    }
}

/// `name (columns)`, as AS has it.
pub(crate) fn table_alias(name: Ident, columns: Vec<Ident>) -> TableAlias {
    TableAlias {
        explicit: true,
        name,
        columns: columns
            .into_iter()
            .map(|name| TableAliasColumnDef {
                name,
                data_type: None,
            })
            .collect(),
        at: None,
    }
}

/// A table by its name, as FROM has it.
pub(crate) fn table(name: ObjectName) -> TableFactor {
    TableFactor::Table {
        name,
        alias: None,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

/// `WITH alias AS (query)`.
pub(crate) fn with(alias: TableAlias, query: Query) -> With {
    let alias = TableAlias {
        explicit: false,
        ..alias
    };
    With {
        with_token: AttachedToken::empty(),
        recursive: false,
        cte_tables: vec![Cte {
            alias,
            query: Box::new(query),
            from: None,
            materialized: None,
            closing_paren_token: AttachedToken::empty(),
        }],
    }
}

/// Makes a query `WITH q AS MATERIALIZED (query) SELECT * FROM q`: every column of every row is computed,
/// whether it is used or not.
pub(crate) fn materialize(query: &mut Query) {
    let name = Ident::new("tare_kept");
    let rows = table(ObjectName::from(name.clone()));
    let outer = of_body(SetExpr::Select(Box::new(select_from(vec![all()], rows))));
    let inner = std::mem::replace(query, outer);
    let mut with = with(table_alias(name, Vec::new()), inner);
    for cte in &mut with.cte_tables {
        cte.materialized = Some(CteAsMaterialized::Materialized);
    }
    query.with = Some(with);
}

/// `ORDER BY columns`.
pub(crate) fn order_by(columns: impl Iterator<Item = Ident>) -> OrderBy {
    OrderBy {
        kind: OrderByKind::Expressions(columns.map(OrderByExpr::from).collect()),
        interpolate: None,
    }
}

/// A query of a SELECT.
pub(crate) fn query(select: Select) -> Query {
    of_body(SetExpr::Select(Box::new(select)))
}

/// `VALUES (row), (row)`.
pub(crate) fn values(rows: Vec<Vec<Expr>>) -> Query {
    of_body(SetExpr::Values(Values {
        explicit_row: false,
        value_keyword: false,
        rows: rows.into_iter().map(Parens::with_empty_span).collect(),
    }))
}

/// A query that has only a body: no WITH, ORDER BY or LIMIT.
pub(crate) fn of_body(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// `left UNION ALL right`, or only the right one.
pub(crate) fn union_all(left: Option<SetExpr>, right: SetExpr) -> SetExpr {
    match left {
        None => right,
        Some(left) => SetExpr::SetOperation {
            op: SetOperator::Union,
            set_quantifier: SetQuantifier::All,
            left: Box::new(left),
            right: Box::new(right),
        },
    }
}
