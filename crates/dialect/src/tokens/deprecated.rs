//! Syntax that a series reads with a warning.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::place::{TokenContext, in_cast, is, is_after_text_type};
use crate::deprecation::Deprecated;
use crate::mode::Mode;

const AND: Deprecated = Deprecated {
    code: 1287,
    message: "'&&' is deprecated and will be removed in a future release. Please use AND instead",
};
const OR: Deprecated = Deprecated {
    code: 1287,
    message: "'|| as a synonym for OR' is deprecated and will be removed in a future release. Please use OR instead",
};
const NOT: Deprecated = Deprecated {
    code: 1287,
    message: "'!' is deprecated and will be removed in a future release. Please use NOT instead",
};
const BINARY: Deprecated = Deprecated {
    code: 1287,
    message: "'BINARY expr' is deprecated and will be removed in a future release. Please use CAST instead",
};
const VALUES: Deprecated = Deprecated {
    code: 1287,
    message: "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead",
};
const CALC_FOUND_ROWS: Deprecated = Deprecated {
    code: 1287,
    message: "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate queries instead.",
};
const FOUND_ROWS: Deprecated = Deprecated {
    code: 1287,
    message: "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.",
};
const UTF8: Deprecated = Deprecated {
    code: 3719,
    message: "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future release. Please consider using UTF8MB4 in order to be unambiguous.",
};

const BINARY_ATTRIBUTE: Deprecated = Deprecated {
    code: 1287,
    message: "'BINARY as attribute of a type' is deprecated and will be removed in a future release. Please use a CHARACTER SET clause with _bin collation instead",
};
const DISPLAY_WIDTH: Deprecated = Deprecated {
    code: 1681,
    message: "Integer display width is deprecated and will be removed in a future release.",
};
const UNSIGNED: Deprecated = Deprecated {
    code: 1681,
    message: "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a future release.",
};

const INTEGERS: [&str; 6] = [
    "BIGINT",
    "INT",
    "INTEGER",
    "MEDIUMINT",
    "SMALLINT",
    "TINYINT",
];
const INEXACT: [&str; 8] = [
    "DEC",
    "DECIMAL",
    "DOUBLE",
    "FIXED",
    "FLOAT",
    "NUMERIC",
    "PRECISION",
    "REAL",
];

/// Words behind which an expression begins.
const BEFORE_EXPRESSION: [&str; 21] = [
    "ALL", "AND", "BETWEEN", "BY", "CASE", "DISTINCT", "DIV", "DO", "ELSE", "HAVING", "LIKE",
    "MOD", "NOT", "ON", "OR", "REGEXP", "RLIKE", "SELECT", "THEN", "WHEN", "WHERE",
];

/// The deprecated syntax of a statement, in its order.
pub(super) fn deprecated(tokens: &[TokenWithSpan], mode: Mode) -> Vec<&'static Deprecated> {
    if !mode.series.warns_of_deprecated() {
        return Vec::new();
    }
    let mut context = TokenContext::new(tokens);
    let alters = tokens.first().is_some_and(|t| is(&t.token, "ALTER"));
    let of = |i| {
        context.go_to(tokens, i);
        let of_column = (context.in_columns() || alters)
            .then(|| of_column(tokens, i))
            .flatten();
        of_column.or_else(|| at(tokens, i, mode))
    };
    (0..tokens.len()).filter_map(of).collect()
}

/// That of a column's definition.
fn of_column(tokens: &[TokenWithSpan], i: usize) -> Option<&'static Deprecated> {
    let one_of = |token: &Token, words: &[&str]| words.iter().any(|word| is(token, word));
    let token = &tokens[i].token;
    let has_digits = matches!(tokens.get(i + 1..i + 3), Some([open, number])
        if open.token == Token::LParen && matches!(number.token, Token::Number(..)));
    if one_of(token, &INTEGERS) && has_digits {
        return Some(&DISPLAY_WIDTH);
    }
    if is(token, "BINARY") && is_after_text_type(tokens, i) {
        return Some(&BINARY_ATTRIBUTE);
    }
    if !is(token, "UNSIGNED") {
        return None;
    }
    // The type is before its digits.
    let mut before = i.checked_sub(1)?;
    if tokens[before].token == Token::RParen {
        let open = tokens[..before]
            .iter()
            .rposition(|t| t.token == Token::LParen)?;
        before = open.checked_sub(1)?;
    }
    one_of(&tokens[before].token, &INEXACT).then_some(&UNSIGNED)
}

fn at(tokens: &[TokenWithSpan], i: usize, mode: Mode) -> Option<&'static Deprecated> {
    let next = tokens.get(i + 1).map_or(&Token::EOF, |t| &t.token);
    let before = |n| i.checked_sub(n).map_or(&Token::EOF, |i| &tokens[i].token);
    let token = &tokens[i].token;
    let word = match token {
        Token::Overlap => return Some(&AND),
        Token::StringConcat if !mode.pipes_concat => return Some(&OR),
        Token::ExclamationMark => return Some(&NOT),
        Token::SingleQuotedString(text) if text.eq_ignore_ascii_case("utf8") => "UTF8",
        Token::Word(w) if w.quote_style.is_none() && *before(1) != Token::Period => &w.value,
        _ => return None,
    };
    let named = match before(1) {
        Token::Eq => before(2),
        other => other,
    };
    let names_charset = || is(named, "CHARSET") || is(named, "SET");
    let in_expression = || match before(1) {
        Token::Word(w) => BEFORE_EXPRESSION
            .iter()
            .any(|word| w.value.eq_ignore_ascii_case(word)),
        Token::EOF | Token::RParen | Token::Number(..) | Token::SingleQuotedString(_) => false,
        _ => !names_charset(),
    };
    let is_called = *next == Token::LParen;
    match word.to_ascii_uppercase().as_str() {
        "BINARY"
            if in_expression()
                && !(in_cast(tokens, i) && (is_called || *next == Token::RParen)) =>
        {
            Some(&BINARY)
        }
        "VALUES" if is_called && in_expression() => Some(&VALUES),
        "SQL_CALC_FOUND_ROWS" => Some(&CALC_FOUND_ROWS),
        "FOUND_ROWS" if is_called => Some(&FOUND_ROWS),
        "UTF8" if names_charset() || is(before(1), "USING") || is(before(1), "NAMES") => {
            Some(&UTF8)
        }
        "_UTF8" if matches!(next, Token::SingleQuotedString(_)) => Some(&UTF8),
        _ => None,
    }
}
