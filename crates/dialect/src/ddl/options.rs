//! The options of a table.

use sqlparser::ast::{CommentDef, Expr, SqlOption, Value};
use tare_mysql::charset;
use tare_mysql::error::SqlError;
use tare_mysql::table::TableDef;

use crate::error::{Error, Result, near};

/// The words of the option that names a character set.
const CHARSETS: &[&str] = &[
    "CHARSET",
    "DEFAULT CHARSET",
    "CHARACTER SET",
    "DEFAULT CHARACTER SET",
];

/// Applies options to a definition. Those that have no effect here are ignored.
pub(super) fn apply(def: &mut TableDef, options: &[SqlOption]) -> Result<()> {
    if let Some(binary) = collation(options)? {
        def.binary = binary;
    }
    for option in options {
        match option {
            SqlOption::Comment(CommentDef::WithEq(text) | CommentDef::WithoutEq(text)) => {
                def.comment.clone_from(text);
            }
            SqlOption::NamedParenthesizedList(list) if list.key.value == "ENGINE" => {
                let engine = list.name.as_ref().map(|name| name.value.clone());
                if engine.as_deref().is_some_and(is_performance_schema) {
                    return Err(SqlError::invalid_usage().into());
                }
                def.engine = engine;
            }
            SqlOption::KeyValue { key, value }
                if key.value == "ENCRYPTION" && !text_of(value).eq_ignore_ascii_case("n") =>
            {
                return Err(Error::unsupported("ENCRYPTION of a table"));
            }
            SqlOption::KeyValue { key, value } if key.value == "AUTO_INCREMENT" => {
                def.next_id = Some(text_of(value).parse().map_err(|_| near(value))?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the engine is performance_schema's, which has no tables of users. All others are SQLite.
fn is_performance_schema(engine: &str) -> bool {
    engine.eq_ignore_ascii_case("performance_schema")
}

/// Whether texts compare byte by byte by the character set and the collation of some options; `None` if they have
/// neither.
pub fn collation(options: &[SqlOption]) -> Result<Option<bool>> {
    let (mut binary, mut named) = (None, None);
    let value_of = |wanted: &'static [&'static str]| {
        options.iter().filter_map(move |option| match option {
            SqlOption::KeyValue { key, value } if wanted.contains(&key.value.as_str()) => {
                Some(text_of(value))
            }
            _ => None,
        })
    };
    for charset in value_of(CHARSETS) {
        charset::check_name(&charset)?;
        binary = Some(charset.eq_ignore_ascii_case("binary"));
        named = Some(charset);
    }
    for collation in value_of(&["COLLATE", "DEFAULT COLLATE"]) {
        charset::check_collation(&collation, named.as_deref())?;
        binary = Some(charset::compares_bytes(&collation));
    }
    Ok(binary)
}

fn text_of(value: &Expr) -> String {
    match value {
        Expr::Identifier(name) => name.value.clone(),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}
