//! The record of a function.

use std::ffi::c_int;
use std::sync::Arc;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql};
use sqlparser::ast::Expr;
use tare_dialect::error::Result;
use tare_dialect::function::{ANY, Evaluation, Form, ReturnType, Signature, SqlCall};

use crate::call::{Answer, Call, check_long, raise};
use crate::evaluation::EvaluationContext;

/// Computes a call's value.
pub type Scalar = fn(&Call<'_>) -> Answer;

/// Registers an aggregate function with a connection, under a name and for a number of arguments.
pub type AddAggregate = fn(&Connection, &str, c_int) -> rusqlite::Result<()>;

/// The value of a call, for SQLite.
enum CallValue {
    Computed(Value),
    /// An argument, by its position.
    Argument(usize),
}

impl ToSql for CallValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Computed(value) => value.to_sql(),
            Self::Argument(i) => Ok(ToSqlOutput::Arg(*i)),
        }
    }
}

/// The code that SQLite runs.
#[derive(Debug, Clone, Copy)]
enum Body {
    Scalar(Scalar),
    Aggregate(AddAggregate),
}

/// A function that clients call.
#[derive(Debug)]
pub struct Function {
    /// Its signature, which the dialect reads.
    pub signature: Signature,
    /// `None`: SQLite has it, or another record has the body.
    body: Option<Body>,
    /// If an argument is bytes, it reads and returns bytes.
    handles_bytes: bool,
}

/// A function that only the dialect calls.
#[derive(Debug)]
pub struct Helper {
    name: &'static str,
    fewest: u8,
    most: u8,
    evaluation: Evaluation,
    body: Body,
    handles_bytes: bool,
}

const fn function(
    name: &'static str,
    fewest: u8,
    most: u8,
    out: ReturnType,
    form: Form,
    body: Option<Body>,
) -> Function {
    Function {
        signature: Signature {
            name,
            fewest,
            most,
            out,
            form,
            evaluation: Evaluation::Immutable,
        },
        body,
        handles_bytes: false,
    }
}

/// SQLite's own, under its own name.
pub const fn sqlites(name: &'static str, fewest: u8, most: u8, out: ReturnType) -> Function {
    function(name, fewest, most, out, Form::Itself, None)
}

/// One that is another one in SQLite: its own, or that of another record.
pub const fn renamed(
    name: &'static str,
    fewest: u8,
    most: u8,
    out: ReturnType,
    sqlites: &'static str,
) -> Function {
    function(name, fewest, most, out, Form::Renamed(sqlites), None)
}

/// With a body of ours.
pub const fn own(
    name: &'static str,
    fewest: u8,
    most: u8,
    out: ReturnType,
    body: Scalar,
) -> Function {
    function(
        name,
        fewest,
        most,
        out,
        Form::Itself,
        Some(Body::Scalar(body)),
    )
}

/// With a body of ours under another name: under this one SQLite has another function.
pub const fn hidden(
    name: &'static str,
    fewest: u8,
    most: u8,
    out: ReturnType,
    sqlites: &'static str,
    body: Scalar,
) -> Function {
    let body = Some(Body::Scalar(body));
    function(name, fewest, most, out, Form::Renamed(sqlites), body)
}

/// An aggregate of ours, under another name.
pub const fn aggregated(
    name: &'static str,
    fewest: u8,
    most: u8,
    out: ReturnType,
    sqlites: &'static str,
    body: AddAggregate,
) -> Function {
    let body = Some(Body::Aggregate(body));
    function(name, fewest, most, out, Form::Renamed(sqlites), body).aggregate()
}

/// A function that code rewrites into an expression of SQLite.
pub const fn code(
    name: &'static str,
    fewest: u8,
    most: u8,
    out: ReturnType,
    write: fn(SqlCall) -> Result<Expr>,
) -> Function {
    function(name, fewest, most, out, Form::Code(write), None)
}

/// A function that only the dialect calls.
pub const fn helper(name: &'static str, fewest: u8, most: u8, body: Scalar) -> Helper {
    Helper {
        name,
        fewest,
        most,
        evaluation: Evaluation::Immutable,
        body: Body::Scalar(body),
        handles_bytes: false,
    }
}

/// An aggregate that only the dialect calls.
pub const fn aggregated_helper(name: &'static str, arguments: u8, body: AddAggregate) -> Helper {
    Helper {
        name,
        fewest: arguments,
        most: arguments,
        evaluation: Evaluation::Aggregate,
        body: Body::Aggregate(body),
        handles_bytes: false,
    }
}

impl Function {
    const fn evaluated(mut self, evaluation: Evaluation) -> Self {
        self.signature.evaluation = evaluation;
        self
    }

    /// If an argument is bytes, it reads and returns bytes.
    pub const fn of_bytes(mut self) -> Self {
        self.handles_bytes = true;
        self
    }

    /// Its value stays while a statement runs.
    pub const fn stable(self) -> Self {
        self.evaluated(Evaluation::Stable)
    }

    /// The next call may give another value, or do something.
    pub const fn volatile(self) -> Self {
        self.evaluated(Evaluation::Volatile)
    }

    /// Its value is a group's.
    pub const fn aggregate(self) -> Self {
        self.evaluated(Evaluation::Aggregate)
    }

    /// What SQLite calls it; `None` where it has no function for it.
    pub fn name_in_sqlite(&self) -> Option<&'static str> {
        match self.signature.form {
            Form::Itself => Some(self.signature.name),
            Form::Renamed(name) => Some(name),
            Form::Code(_) => None,
        }
    }

    pub(crate) fn register(
        &self,
        db: &Connection,
        session: &Arc<dyn EvaluationContext>,
    ) -> rusqlite::Result<()> {
        let (Some(body), Some(name)) = (self.body, self.name_in_sqlite()) else {
            return Ok(());
        };
        let Signature {
            fewest,
            most,
            evaluation,
            ..
        } = self.signature;
        let traits = (evaluation, self.handles_bytes);
        body.register(db, session, name, (fewest, most), traits)
    }
}

impl Helper {
    /// If an argument is bytes, it reads and returns bytes.
    pub const fn of_bytes(mut self) -> Self {
        self.handles_bytes = true;
        self
    }

    /// The next call may give another value, or do something.
    pub const fn volatile(mut self) -> Self {
        self.evaluation = Evaluation::Volatile;
        self
    }

    pub(crate) fn register(
        &self,
        db: &Connection,
        session: &Arc<dyn EvaluationContext>,
    ) -> rusqlite::Result<()> {
        let arguments = (self.fewest, self.most);
        self.body.register(
            db,
            session,
            self.name,
            arguments,
            (self.evaluation, self.handles_bytes),
        )
    }
}

/// Gives a connection a function of ours, under a name and for a number of arguments.
pub fn scalar(
    db: &Connection,
    session: &Arc<dyn EvaluationContext>,
    name: &str,
    arguments: u8,
    evaluation: Evaluation,
    body: Scalar,
) -> rusqlite::Result<()> {
    let arguments = (arguments, arguments);
    Body::Scalar(body).register(db, session, name, arguments, (evaluation, false))
}

impl Body {
    fn register(
        self,
        db: &Connection,
        session: &Arc<dyn EvaluationContext>,
        name: &str,
        (fewest, most): (u8, u8),
        (evaluation, handles_bytes): (Evaluation, bool),
    ) -> rusqlite::Result<()> {
        let mut flags = FunctionFlags::SQLITE_UTF8;
        if evaluation == Evaluation::Immutable {
            flags |= FunctionFlags::SQLITE_DETERMINISTIC;
        }
        let arities = match most {
            ANY => -1..=-1,
            most => c_int::from(fewest)..=c_int::from(most),
        };
        for arguments in arities {
            match self {
                Self::Scalar(body) => {
                    let session = session.clone();
                    db.create_scalar_function(name, arguments, flags, move |ctx| {
                        let call = Call::new(ctx, &*session, handles_bytes);
                        call.check_arguments()?;
                        let value = body(&call)?;
                        if let Some(error) = session.refused_warning() {
                            return Err(raise(error));
                        }
                        check_long((&value).into())?;
                        Ok(match call.chosen.get() {
                            Some(i) => CallValue::Argument(i),
                            None => CallValue::Computed(call.finished(value)),
                        })
                    })?;
                }
                Self::Aggregate(body) => body(db, name, arguments)?,
            }
        }
        Ok(())
    }
}
