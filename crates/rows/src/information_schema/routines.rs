//! ROUTINES and PARAMETERS: the functions and procedures of schema sys, the only ones there are.

use tare_mysql::types::{Parts, parts};

use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::extension::Routine;
use crate::filter::Filter;
use crate::time::datetime;
use crate::view::View;

/// A parameter: mode, name and type. What a function gives has no name.
type Parameter = (Option<&'static str>, Option<&'static str>, &'static str);

struct Row {
    routine: Routine,
    parameters: Vec<Parameter>,
    created: String,
}

impl Row {
    /// An attribute of the type that a function returns.
    fn of_type<T: Into<Cell<'static>>>(&self, attribute: fn(&Parts) -> Option<T>) -> Cell<'_> {
        let returned = self.routine.returns.map(parts);
        Cell::opt(returned.as_ref().and_then(attribute))
    }

    fn base_type(&self) -> Cell<'_> {
        let returned = self.routine.returns.map(parts);
        Cell::owned(returned.map_or_else(String::new, |parts| parts.base))
    }

    fn data_access(&self) -> &'static str {
        match (self.routine.kind.name(), self.routine.text) {
            ("PROCEDURE", _) => "MODIFIES SQL DATA",
            (_, Some(_)) => "READS SQL DATA",
            _ => "NO SQL",
        }
    }
}

/// MySQL's type of SQL_DATA_ACCESS.
const ACCESS: &str = "enum('CONTAINS SQL','NO SQL','READS SQL DATA','MODIFIES SQL DATA')";

fn row(routine: Routine, created: &str) -> Row {
    let mode = |out| if out { "OUT" } else { "IN" };
    let result = routine.returns.map(|returns| (None, None, returns));
    let named = routine
        .parameters
        .iter()
        .map(|p| (Some(mode(p.out)), Some(p.name), p.column_type));
    Row {
        parameters: result.into_iter().chain(named).collect(),
        routine,
        created: created.to_owned(),
    }
}

fn routines(view: &View, filter: &Filter) -> Vec<Row> {
    let created = datetime(view.snapshot.started());
    let Some(extension) = view.source.extension() else {
        return Vec::new();
    };
    let schema = filter.text("ROUTINE_SCHEMA");
    let all = extension.routines().into_iter().map(|r| row(r, &created));
    all.filter(|_| schema.admits_name("sys")).collect()
}

fn characters(type_: &Parts) -> Option<u64> {
    type_.characters()
}

fn octets(type_: &Parts) -> Option<u64> {
    // utf8mb4: four bytes a character; the lengths of texts are in bytes already.
    let each = if type_.base.ends_with("text") { 1 } else { 4 };
    type_.characters().map(|n| n * each)
}

fn precision(type_: &Parts) -> Option<u64> {
    type_.numeric().map(|(precision, _)| precision)
}

fn scale(type_: &Parts) -> Option<u64> {
    type_.numeric().and_then(|(_, scale)| scale)
}

fn charset(type_: &Parts) -> Option<&'static str> {
    type_.characters().map(|_| "utf8mb4")
}

fn collation(type_: &Parts) -> Option<&'static str> {
    type_.characters().map(|_| "utf8mb4_0900_ai_ci")
}

#[rustfmt::skip] // One column, one line.
const ROUTINE_COLUMNS: &[Column<Row>] = &[
    col("SPECIFIC_NAME", "varchar(64)", "The routine.", |r| r.routine.name.into()),
    col("ROUTINE_CATALOG", "varchar(64)", "Always def.", |_| "def".into()),
    col("ROUTINE_SCHEMA", "varchar(64)", "Always sys.", |_| "sys".into()),
    col("ROUTINE_NAME", "varchar(64)", "The routine.", |r| r.routine.name.into()),
    col("ROUTINE_TYPE", "enum('FUNCTION','PROCEDURE')", "FUNCTION or PROCEDURE.", |r| r.routine.kind.name().into()),
    null("DATA_TYPE", "longtext", "The type that a function returns.", |r| r.base_type()),
    null("CHARACTER_MAXIMUM_LENGTH", "bigint(21)", "The maximum length of a string, in characters.", |r| r.of_type(characters)),
    null("CHARACTER_OCTET_LENGTH", "bigint(21)", "The maximum length of a string, in bytes.", |r| r.of_type(octets)),
    null("NUMERIC_PRECISION", "int(10) unsigned", "The numeric precision, in digits.", |r| r.of_type(precision)),
    null("NUMERIC_SCALE", "int(10) unsigned", "Digits after the decimal point.", |r| r.of_type(scale)),
    null("DATETIME_PRECISION", "int(10) unsigned", "Always NULL: no function returns a time.", |_| Cell::Null),
    null("CHARACTER_SET_NAME", "varchar(64)", "The character set of a string.", |r| r.of_type(charset)),
    null("COLLATION_NAME", "varchar(64)", "The collation of a string.", |r| r.of_type(collation)),
    null("DTD_IDENTIFIER", "longtext", "The data type with length and attributes.", |r| Cell::opt(r.routine.returns)),
    col("ROUTINE_BODY", "varchar(8)", "Always SQL, as in MySQL.", |_| "SQL".into()),
    null("ROUTINE_DEFINITION", "longtext", "The SELECT of a function that is written in SQL, else NULL.", |r| Cell::opt(r.routine.text)),
    null("EXTERNAL_NAME", "binary(0)", "Always NULL.", |_| Cell::Null),
    col("EXTERNAL_LANGUAGE", "varchar(64)", "Always SQL, as in MySQL.", |_| "SQL".into()),
    col("PARAMETER_STYLE", "varchar(3)", "Always SQL.", |_| "SQL".into()),
    col("IS_DETERMINISTIC", "varchar(3)", "YES if a function reads no tables, else NO.", |r| Cell::yes_no(r.data_access() == "NO SQL")),
    col("SQL_DATA_ACCESS", ACCESS, "How the routine uses tables.", |r| r.data_access().into()),
    null("SQL_PATH", "binary(0)", "Always NULL.", |_| Cell::Null),
    col("SECURITY_TYPE", "enum('DEFAULT','INVOKER','DEFINER')", "Always INVOKER.", |_| "INVOKER".into()),
    col("CREATED", "timestamp", "When recording began.", |r| r.created.as_str().into()),
    col("LAST_ALTERED", "timestamp", "When recording began.", |r| r.created.as_str().into()),
    col("SQL_MODE", "text", "Always empty.", |_| "".into()),
    col("ROUTINE_COMMENT", "text", "What the routine does.", |r| r.routine.doc.into()),
    col("DEFINER", "varchar(93)", "Always mysql.sys@localhost.", |_| "mysql.sys@localhost".into()),
    col("CHARACTER_SET_CLIENT", "varchar(64)", "Always utf8mb4.", |_| "utf8mb4".into()),
    col("COLLATION_CONNECTION", "varchar(64)", "Always utf8mb4_0900_ai_ci.", |_| "utf8mb4_0900_ai_ci".into()),
    col("DATABASE_COLLATION", "varchar(64)", "Always utf8mb4_0900_ai_ci.", |_| "utf8mb4_0900_ai_ci".into()),
];

static ROUTINES: Spec<Row> = Spec::new(
    "information_schema",
    "ROUTINES",
    "The functions and procedures of schema sys.",
    &[ROUTINE_COLUMNS],
    |view, filter| Ok(Box::new(routines(view, filter).into_iter())),
)
.filters(&["ROUTINE_SCHEMA"])
.expect(48);

struct RoutineParameter {
    routine: &'static str,
    kind: &'static str,
    position: u64,
    parameter: Parameter,
}

impl RoutineParameter {
    fn type_(&self) -> Parts {
        parts(self.parameter.2)
    }
}

#[rustfmt::skip] // One column, one line.
const PARAMETER_COLUMNS: &[Column<RoutineParameter>] = &[
    col("SPECIFIC_CATALOG", "varchar(64)", "Always def.", |_| "def".into()),
    col("SPECIFIC_SCHEMA", "varchar(64)", "Always sys.", |_| "sys".into()),
    col("SPECIFIC_NAME", "varchar(64)", "The routine.", |r| r.routine.into()),
    col("ORDINAL_POSITION", "bigint(20) unsigned", "The position, from 1; 0 for a function's return value.", |r| r.position.into()),
    null("PARAMETER_MODE", "varchar(5)", "IN or OUT.", |r| Cell::opt(r.parameter.0)),
    null("PARAMETER_NAME", "varchar(64)", "The parameter.", |r| Cell::opt(r.parameter.1)),
    null("DATA_TYPE", "longtext", "The data type.", |r| r.type_().base.into()),
    null("CHARACTER_MAXIMUM_LENGTH", "bigint(21)", "The maximum length of a string, in characters.", |r| Cell::opt(characters(&r.type_()))),
    null("CHARACTER_OCTET_LENGTH", "bigint(21)", "The maximum length of a string, in bytes.", |r| Cell::opt(octets(&r.type_()))),
    null("NUMERIC_PRECISION", "int(10) unsigned", "The numeric precision, in digits.", |r| Cell::opt(precision(&r.type_()))),
    null("NUMERIC_SCALE", "bigint(21)", "Digits after the decimal point.", |r| Cell::opt(scale(&r.type_()))),
    null("DATETIME_PRECISION", "int(10) unsigned", "Always NULL: no parameter is a time.", |_| Cell::Null),
    null("CHARACTER_SET_NAME", "varchar(64)", "The character set of a string.", |r| Cell::opt(charset(&r.type_()))),
    null("COLLATION_NAME", "varchar(64)", "The collation of a string.", |r| Cell::opt(collation(&r.type_()))),
    col("DTD_IDENTIFIER", "mediumtext", "The data type with length and attributes.", |r| r.parameter.2.into()),
    col("ROUTINE_TYPE", "enum('FUNCTION','PROCEDURE')", "FUNCTION or PROCEDURE.", |r| r.kind.into()),
];

static PARAMETERS: Spec<RoutineParameter> = Spec::new(
    "information_schema",
    "PARAMETERS",
    "The parameters and return values of the functions and procedures of schema sys.",
    &[PARAMETER_COLUMNS],
    |view, _| {
        let all = routines(view, &Filter::all());
        let rows: Vec<RoutineParameter> = all
            .into_iter()
            .flat_map(|r| {
                // A function's first is what it gives.
                let first = u64::from(r.routine.kind.name() == "PROCEDURE");
                let numbered = (first..).zip(r.parameters);
                numbered.map(move |(position, parameter)| RoutineParameter {
                    routine: r.routine.name,
                    kind: r.routine.kind.name(),
                    position,
                    parameter,
                })
            })
            .collect();
        Ok(Box::new(rows.into_iter()))
    },
)
.expect(90);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&ROUTINES, &PARAMETERS];
