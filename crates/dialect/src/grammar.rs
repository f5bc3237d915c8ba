//! MySQL's dialect as sqlparser has it, and the operators of MySQL's that it does not read.

use std::any::TypeId;

use sqlparser::ast::{
    ColumnOption, DateTimeField, Expr, Ident, Interval, ObjectName, UnaryOperator,
};
use sqlparser::dialect::{Dialect, MySqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use tare_mysql::{interrupt, keyword};

use super::tokens::COMPOSITE_UNITS;

/// What [`sqlparser::ast::BinaryOperator::Custom`] holds for `a SOUNDS LIKE b`.
pub const SOUNDS_LIKE: &str = "SOUNDS LIKE";

/// What it holds for `a DIV b`, as read: sqlparser's own operator copies its left operand, and a chain of
/// them would take quadratic time.
pub const DIV: &str = "DIV";

/// MySQL's dialect.
#[derive(Debug, Clone, Copy)]
pub struct Grammar;

/// The dialect that all other methods delegate to.
const BASE: MySqlDialect = MySqlDialect {};

macro_rules! as_base {
    ($($method:ident)*) => {
        $(fn $method(&self) -> bool {
            BASE.$method()
        })*
    };
}

impl Dialect for Grammar {
    /// The parser checks in places whether the dialect is MySQL's.
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        BASE.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        BASE.is_identifier_part(ch)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        BASE.is_delimited_identifier_start(ch)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        BASE.identifier_quote_style(identifier)
    }

    fn is_table_factor_alias(&self, explicit: bool, kw: &Keyword, parser: &mut Parser) -> bool {
        BASE.is_table_factor_alias(explicit, kw, parser)
    }

    /// A word that MySQL reserves is no alias: `SELECT 1 ON DUPLICATE KEY UPDATE`.
    fn is_column_alias(&self, kw: &Keyword, parser: &mut Parser) -> bool {
        BASE.is_column_alias(kw, parser) && !is_reserved(*kw)
    }

    fn is_select_item_alias(&self, explicit: bool, kw: &Keyword, parser: &mut Parser) -> bool {
        match explicit {
            true => !is_reserved(*kw),
            false => self.is_column_alias(kw, parser),
        }
    }

    fn parse_statement(
        &self,
        parser: &mut Parser,
    ) -> Option<Result<sqlparser::ast::Statement, ParserError>> {
        BASE.parse_statement(parser)
    }

    as_base! {
        ignores_wildcard_escapes
        require_interval_qualifier
        requires_single_line_comment_whitespace
        supports_binary_kw_as_cast
        supports_bitwise_shift_operators
        supports_comma_separated_set_assignments
        supports_comment_optimizer_hint
        supports_constraint_keyword_without_name
        supports_create_table_select
        supports_cross_join_constraint
        supports_data_type_signed_suffix
        supports_double_ampersand_operator
        supports_group_by_with_modifier
        supports_insert_set
        supports_key_column_option
        supports_left_associative_joins_without_parens
        supports_limit_comma
        supports_match_against
        supports_multiline_comment_hints
        supports_numeric_prefix
        supports_select_modifiers
        supports_set_names
        supports_string_literal_backslash_escape
        supports_string_literal_concatenation
        supports_table_hints
        supports_update_order_by
        supports_user_host_grantee
    }

    /// EXTRACT(MINUTE_SECOND FROM x).
    fn allow_extract_custom(&self) -> bool {
        true
    }

    /// ZEROFILL, which may be before UNSIGNED. Definitions refuse it by its name.
    fn parse_column_option(
        &self,
        parser: &mut Parser,
    ) -> Result<Option<Result<Option<ColumnOption>, ParserError>>, ParserError> {
        let token = match &parser.peek_token_ref().token {
            Token::Word(word)
                if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("ZEROFILL") =>
            {
                Token::Word(word.clone())
            }
            _ => return Ok(None),
        };
        parser.advance_token();
        let _ = parser.parse_one_of_keywords(&[Keyword::SIGNED, Keyword::UNSIGNED]);
        Ok(Some(Ok(Some(ColumnOption::DialectSpecific(vec![token])))))
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        if let Err(error) = check_interrupt() {
            return Some(Err(error));
        }
        let precedence = match &parser.peek_token_ref().token {
            Token::CustomBinaryOperator(op) if op == DIV => Precedence::MulDivModOp,
            Token::CustomBinaryOperator(op) if op == SOUNDS_LIKE => Precedence::Eq,
            _ => return None,
        };
        Some(Ok(self.prec_value(precedence)))
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        if let Err(error) = check_interrupt() {
            return Some(Err(error));
        }
        match &parser.peek_token_ref().token {
            Token::ExclamationMark => {
                parser.advance_token();
                Some(self.operand(parser).map(|expr| Expr::UnaryOp {
                    op: UnaryOperator::BangNot,
                    expr: Box::new(expr),
                }))
            }
            Token::Word(word) if word.quote_style.is_none() => match word.keyword {
                Keyword::BINARY => {
                    parser.advance_token();
                    Some(self.operand(parser).map(|expr| Expr::Collate {
                        expr: Box::new(expr),
                        collation: ObjectName::from(vec![Ident::new("binary")]),
                    }))
                }
                Keyword::INTERVAL => {
                    parser.advance_token();
                    Some(interval(parser))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether MySQL reserves a word.
fn is_reserved(kw: Keyword) -> bool {
    kw != Keyword::NoKeyword && keyword::is_reserved(&format!("{kw:?}"))
}

/// Checks whether the statement may continue. Returns a parser's error, because the parser accepts no other.
fn check_interrupt() -> Result<(), ParserError> {
    interrupt::check_step().map_err(|error| ParserError::ParserError(error.message))
}

impl Grammar {
    /// The operand of `!` and BINARY, which bind closer than all other operators.
    fn operand(&self, parser: &mut Parser) -> Result<Expr, ParserError> {
        let expr = parser.parse_subexpr(self.prec_value(Precedence::Period))?;
        Ok(Expr::Nested(Box::new(expr)))
    }
}

/// Value and unit of an INTERVAL.
fn interval(parser: &mut Parser) -> Result<Expr, ParserError> {
    let value = parser.parse_expr()?;
    let composite = match &parser.peek_token_ref().token {
        Token::Word(w) if w.quote_style.is_none() => COMPOSITE_UNITS
            .iter()
            .find(|unit| unit.eq_ignore_ascii_case(&w.value)),
        _ => None,
    };
    let unit = match composite {
        Some(unit) => {
            parser.advance_token();
            DateTimeField::Custom(Ident::new(*unit))
        }
        None if parser.next_token_is_temporal_unit() => parser.parse_date_time_field()?,
        None => return parser.expected_ref("a unit", parser.peek_token_ref()),
    };
    Ok(Expr::Interval(Interval {
        value: Box::new(value),
        leading_field: Some(unit),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    }))
}
