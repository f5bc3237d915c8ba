//! ALTER TABLE, with the operations of MySQL's that sqlparser does not read.

use sqlparser::ast::{AlterTableOperation, ObjectName, RenameTableNameKind};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::admin::words::{any, identifier, need, take, word};
use crate::ddl::AlterOperation;
use crate::error::{Error, Result, at};
use crate::read::{expect_end, with_interruption};

/// Operations that MySQL has and this server does not have.
const MISSING: &[&str] = &[
    "ADD PARTITION",
    "ALTER INDEX",
    "ANALYZE PARTITION",
    "CHECK PARTITION",
    "COALESCE PARTITION",
    "DISCARD PARTITION",
    "DISCARD TABLESPACE",
    "DROP PARTITION",
    "EXCHANGE PARTITION",
    "IMPORT PARTITION",
    "IMPORT TABLESPACE",
    "OPTIMIZE PARTITION",
    "ORDER BY",
    "PARTITION BY",
    "REBUILD PARTITION",
    "REMOVE PARTITIONING",
    "REORGANIZE PARTITION",
    "REPAIR PARTITION",
    "TRUNCATE PARTITION",
    "UPGRADE PARTITIONING",
];

/// The first words of operations that sqlparser reads.
const PARSED: &[&str] = &[
    "ADD",
    "DROP",
    "MODIFY",
    "CHANGE",
    "ALTER",
    "RENAME",
    "ALGORITHM",
    "LOCK",
];

/// Reads ALTER TABLE. `None`: it is another statement.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Option<(ObjectName, Vec<AlterOperation>)>> {
    if word(parser) != "ALTER" || nth_word(parser, 1) != "TABLE" {
        return Ok(None);
    }
    parser.next_token();
    parser.next_token();
    let name = parser.parse_object_name(false)?;
    let mut operations = Vec::new();
    let mut continues = !is_end(parser);
    while continues {
        continues = operation(parser, &mut operations)? || parser.consume_token(&Token::Comma);
        // Partitioning follows the other operations without a comma.
        check_missing(parser)?;
    }
    expect_end(parser)?;
    Ok(Some((name, operations)))
}

fn is_end(parser: &Parser<'_>) -> bool {
    matches!(parser.peek_token().token, Token::EOF | Token::SemiColon)
}

fn nth_word(parser: &Parser<'_>, n: usize) -> String {
    match parser.peek_nth_token(n).token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
        _ => String::new(),
    }
}

fn check_missing(parser: &Parser<'_>) -> Result<()> {
    let words = format!("{} {}", word(parser), nth_word(parser, 1));
    match MISSING.contains(&words.as_str()) {
        true => Err(Error::unsupported(format!("ALTER TABLE ... {words}"))),
        false => Ok(()),
    }
}

/// Reads one operation, or a list of options. Returns whether another one must follow, because the comma is read.
fn operation(parser: &mut Parser<'_>, operations: &mut Vec<AlterOperation>) -> Result<bool> {
    check_missing(parser)?;
    let (first, second) = (word(parser), nth_word(parser, 1));
    let skip = |parser: &mut Parser<'_>, words: usize| {
        for _ in 0..words {
            parser.next_token();
        }
    };
    let operation = match (first.as_str(), second.as_str()) {
        ("ADD", _) => return add(parser, operations).map(|()| false),
        ("RENAME", "INDEX" | "KEY") => {
            skip(parser, 2);
            let from = key_name(parser)?;
            need(parser, "TO")?;
            let to = key_name(parser)?;
            AlterOperation::RenameIndex { from, to }
        }
        ("RENAME", "COLUMN") => parsed(parser)?,
        ("RENAME", _) => {
            skip(parser, 1);
            if any(parser, &["TO", "AS"]).is_none() {
                let _ = parser.consume_token(&Token::Eq);
            }
            let table_name = RenameTableNameKind::To(parser.parse_object_name(false)?);
            AlterTableOperation::RenameTable { table_name }.into()
        }
        ("DROP", "KEY") => {
            skip(parser, 2);
            let name = identifier(parser)?;
            AlterTableOperation::DropIndex { name }.into()
        }
        ("DROP", "CHECK") => {
            skip(parser, 2);
            AlterOperation::DropCheck(identifier(parser)?.value)
        }
        ("DROP", "CONSTRAINT") => {
            skip(parser, 2);
            AlterOperation::DropConstraint(key_name(parser)?)
        }
        ("ALTER", "CHECK" | "CONSTRAINT") => {
            skip(parser, 2);
            let name = identifier(parser)?.value;
            let is_enforced = !take(parser, "NOT");
            need(parser, "ENFORCED")?;
            AlterOperation::EnforceCheck { name, is_enforced }
        }
        ("CONVERT", "TO") => {
            skip(parser, 2);
            AlterOperation::Convert(parser.parse_plain_options()?)
        }
        ("ENABLE" | "DISABLE", "KEYS") => {
            skip(parser, 2);
            AlterOperation::SwitchKeys
        }
        ("FORCE", _) => {
            skip(parser, 1);
            AlterOperation::Nothing
        }
        ("WITH" | "WITHOUT", "VALIDATION") => {
            skip(parser, 2);
            AlterOperation::Nothing
        }
        (first, _) if PARSED.contains(&first) => parsed(parser)?,
        _ => {
            let options = parser.parse_plain_options()?;
            if options.is_empty() {
                return Err(at(&parser.peek_token()));
            }
            operations.push(AlterOperation::Options(options));
            return Ok(parser.get_current_token().token == Token::Comma);
        }
    };
    operations.push(operation);
    Ok(false)
}

fn parsed(parser: &mut Parser<'_>) -> Result<AlterOperation> {
    Ok(with_interruption(parser.parse_alter_table_operation())?.into())
}

/// ADD of a column, an index or a constraint, or of several in parentheses.
fn add(parser: &mut Parser<'_>, operations: &mut Vec<AlterOperation>) -> Result<()> {
    let has_word = nth_word(parser, 1) == "COLUMN";
    if parser.peek_nth_token(1 + usize::from(has_word)).token != Token::LParen {
        operations.push(parsed(parser)?);
        return Ok(());
    }
    parser.next_token();
    take(parser, "COLUMN");
    let (columns, constraints) = with_interruption(parser.parse_columns())?;
    let columns = columns
        .into_iter()
        .map(|column_def| AlterTableOperation::AddColumn {
            column_keyword: true,
            if_not_exists: false,
            column_def,
            column_position: None,
        });
    let constraints =
        constraints
            .into_iter()
            .map(|constraint| AlterTableOperation::AddConstraint {
                constraint,
                not_valid: false,
            });
    operations.extend(columns.chain(constraints).map(AlterOperation::from));
    Ok(())
}

/// The name of a key, which is PRIMARY only in quotes.
fn key_name(parser: &mut Parser<'_>) -> Result<String> {
    match word(parser).as_str() {
        "PRIMARY" => Err(at(&parser.peek_token())),
        _ => Ok(identifier(parser)?.value),
    }
}
