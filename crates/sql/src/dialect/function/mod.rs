//! MySQL's functions: which there are, what they return, and how SQLite is told.

mod list;
mod made;
mod result;

use sqlparser::ast::{DuplicateTreatment, Expr, Function, FunctionArgumentList, FunctionArguments};
use tare_mysql::error::{Result, SqlError};

use self::list::{ANY, Kind};
pub use self::list::{Function as Record, find};
pub use self::result::result;
use super::near;
use super::rewrite::raw;
use super::schema::Schema;
use crate::dialect::name::last_name;

/// How SQLite is told of a call.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// SQLite knows it by its name, or `storage::functions` has given it to it.
    Itself,
    /// It has another name there.
    To(&'static str),
    /// An expression, in which `?` is the arguments.
    Text(&'static str),
    /// What only code can tell.
    Made(fn(&Call<'_>) -> Result<Option<Expr>>),
}

/// A call, once its arguments have been rewritten.
#[derive(Debug)]
pub struct Call<'a> {
    /// The arguments as they were parsed.
    args: &'a FunctionArgumentList,
    /// And as SQLite reads them.
    texts: Vec<String>,
    around: Around<'a>,
}

impl Call<'_> {
    fn all(&self) -> String {
        self.texts.join(", ")
    }

    fn text(&self, i: usize) -> &str {
        self.texts.get(i).map_or("", String::as_str)
    }

    fn distinct(&self) -> bool {
        self.args.duplicate_treatment == Some(DuplicateTreatment::Distinct)
    }

    /// Whether the first argument is a column.
    fn is_column(&self) -> bool {
        matches!(
            self.args.args.first().and_then(super::types::plain),
            Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        )
    }
}

/// A function's name in lower case.
pub fn name_of(f: &Function) -> String {
    last_name(&f.name).to_ascii_lowercase()
}

/// A call's arguments; `*` is none.
pub fn arguments(list: &FunctionArgumentList) -> Vec<&Expr> {
    list.args.iter().filter_map(super::types::plain).collect()
}

/// How a statement is rewritten: what a function has to know of it.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    /// Sums are exact beyond 64 bits.
    pub exact: bool,
    /// Which functions there are.
    pub schema: &'a dyn Schema,
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Around").finish_non_exhaustive()
    }
}

/// Whether a function is one of a group of rows.
pub fn is_aggregate(schema: &dyn Schema, name: &str) -> bool {
    schema.function(name).is_some_and(|f| f.kind == Kind::Group)
}

/// Whether a call with the same arguments gives the same again while a statement runs.
pub fn is_certain(schema: &dyn Schema, name: &str) -> bool {
    schema
        .function(name)
        .is_none_or(|f| f.kind != Kind::Uncertain)
}

/// The function as SQLite knows it; `None` when it knows it as it is.
pub fn rewrite(f: &mut Function, around: Around<'_>) -> Result<Option<Expr>> {
    let written = last_name(&f.name);
    let name = name_of(f);
    if f.name.0.len() > 1 {
        let whole = f.name.to_string().replace(['`', '"'], "");
        return Err(unknown(&whole, None));
    }
    let empty = FunctionArgumentList {
        duplicate_treatment: None,
        args: Vec::new(),
        clauses: Vec::new(),
    };
    let args = match &f.args {
        FunctionArguments::None => &empty,
        FunctionArguments::Subquery(_) => return Err(near(&written)),
        FunctionArguments::List(list) => list,
    };
    let Some(function) = around.schema.function(&name) else {
        // What schema sys is written in may use SQLite's own.
        let sqlites = ["json", "json_group_array", "json_group_object"];
        if around.database == Some("sys") && sqlites.contains(&name.as_str()) {
            return Ok(None);
        }
        return Err(unknown(&written, around.database));
    };
    let n = args.args.len();
    if n < function.fewest.into() || function.most != ANY && n > function.most.into() {
        return Err(SqlError::new(
            1582,
            format!("Incorrect parameter count in the call to native function '{written}'"),
        ));
    }
    if f.over.is_some() {
        return Ok(None);
    }
    let call = Call {
        args,
        texts: args.args.iter().map(ToString::to_string).collect(),
        around,
    };
    match function.form {
        // In quotes, or without parentheses, SQLite does not know it.
        Form::Itself
            if f.name.0[0]
                .as_ident()
                .is_some_and(|i| i.quote_style.is_some())
                || matches!(f.args, FunctionArguments::None) =>
        {
            Ok(Some(raw(format!("{name}({})", call.all()))))
        }
        Form::Itself => Ok(None),
        Form::To(to) => Ok(Some(raw(format!("{to}({})", call.all())))),
        Form::Text(text) => Ok(Some(raw(text.replacen('?', &call.all(), 1)))),
        Form::Made(make) => make(&call),
    }
}

fn unknown(name: &str, database: Option<&str>) -> SqlError {
    let database = database.map_or(String::new(), |database| format!("{database}."));
    SqlError::new(1305, format!("FUNCTION {database}{name} does not exist"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use super::Form;
    use super::list::{ANY, FUNCTIONS};
    use crate::server::Config;
    use crate::server::socket::{Socket, Stream};
    use crate::server::state::SessionState;
    use crate::server::variables::Globals;
    use crate::storage::{Control, functions};

    #[test]
    fn functions_are_sorted() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    }

    /// What the list promises, SQLite has: itself, or from `storage::functions`.
    #[test]
    fn sqlite_knows_every_function() {
        let (stream, _other) = UnixStream::pair().expect("a pair of sockets");
        let control = Arc::new(Control::new(Arc::new(Stream::new(Socket::Unix(stream)))));
        let globals = Arc::new(Globals::new(&Config::new("/nowhere"), "", 0));
        let session = Arc::new(SessionState::new(1, globals, control));
        let db = rusqlite::Connection::open_in_memory().expect("a database");
        functions::register(&db, &session).expect("functions");
        // -1 is as many as one likes; below that, at least two fewer (sqlite3_create_function).
        let mut known = db
            .prepare(
                "SELECT count(*) FROM pragma_function_list
                 WHERE name = ?1 AND (narg IN (?2, -1) OR narg < -2 AND -2 - narg <= ?2)",
            )
            .expect("a list of functions");
        let mut missing = Vec::new();
        for function in FUNCTIONS {
            let name = match function.form {
                Form::Itself => function.name,
                Form::To(name) => name,
                Form::Text(_) | Form::Made(_) => continue,
            };
            let most = match function.most {
                ANY => function.fewest + 2,
                most => most,
            };
            for n in function.fewest..=most {
                let found: i64 = known
                    .query_row((name, n), |row| row.get(0))
                    .expect("a number");
                if found == 0 {
                    missing.push(format!("{} with {n} arguments: {name}", function.name));
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
