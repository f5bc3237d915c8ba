//! What others add to the system schemas: views, functions and procedures.

use tare_mysql::series::Series;

use crate::describe::Table;

/// Schema sys: another crate describes it, and information_schema and docs/tables.md list it.
pub trait Extension: Sync {
    /// The series whose tables it reads.
    fn series(&self) -> Series;

    /// Its views, and tables if it has any.
    fn tables(&self) -> Vec<&'static dyn Table>;

    /// The tables that a schema has in place of those that are described here; `None` where those are
    /// served.
    fn instead(&self, _schema: &str) -> Option<&[&'static dyn Table]> {
        None
    }

    /// Its functions, then its procedures.
    fn routines(&self) -> Vec<Routine>;
}

/// What a routine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutineKind {
    /// It is part of an expression.
    Function,
    /// It is called.
    Procedure,
}

impl RoutineKind {
    /// ROUTINE_TYPE.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "FUNCTION",
            Self::Procedure => "PROCEDURE",
        }
    }
}

/// A function or a procedure of schema sys.
#[derive(Debug, Clone)]
pub struct Routine {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: RoutineKind,
    /// What a function gives.
    pub returns: Option<&'static str>,
    /// One sentence.
    pub doc: &'static str,
    /// Its SQL, where it has one.
    pub text: Option<&'static str>,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Whether it is OUT.
    pub out: bool,
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub column_type: &'static str,
}
