//! Parameters, quoted names and literals of bits.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::place::is;
use crate::error::{Result, near};
use crate::mode::Mode;

/// Numbers the `?`, makes MOD an operator after an operand, and applies ANSI_QUOTES.
pub fn parameters(tokens: &mut [TokenWithSpan], mode: Mode) -> Result<usize> {
    let mut params = 0;
    let mut after_operand = false;
    for token in tokens.iter_mut() {
        if mode.ansi_quotes
            && let Token::DoubleQuotedString(name) = &token.token
        {
            token.token = Token::Word(Word {
                value: name.clone(),
                quote_style: Some('`'),
                keyword: Keyword::NoKeyword,
            });
        }
        if let Token::Word(w) = &token.token
            && w.quote_style.is_none()
            && let Some(bits) = w.value.strip_prefix("0b")
            && !bits.is_empty()
            && bits.bytes().all(|b| matches!(b, b'0' | b'1'))
        {
            token.token = Token::HexStringLiteral(hex_digits(bits));
        }
        if let Token::SingleQuotedByteStringLiteral(bits) = &token.token {
            if !bits.bytes().all(|b| matches!(b, b'0' | b'1')) {
                return Err(near(&token.token));
            }
            token.token = Token::HexStringLiteral(hex_digits(bits));
        }
        // sqlparser parses MOD only as a function; after an operand it is an operator.
        if after_operand && is(&token.token, "MOD") {
            token.token = Token::Mod;
        }
        match &token.token {
            Token::Number(..)
            | Token::RParen
            | Token::Placeholder(_)
            | Token::SingleQuotedString(_) => after_operand = true,
            Token::Word(w) => after_operand = w.keyword == Keyword::NoKeyword,
            _ => after_operand = false,
        }
        // Without quotes, SQLite would take the name for a parameter.
        if let Token::Word(word) = &mut token.token
            && word.quote_style.is_none()
            && word.value.starts_with('$')
        {
            word.quote_style = Some('`');
        }
        if let Token::Placeholder(name) = &mut token.token {
            if name != "?" {
                return Err(near(&token.token));
            }
            params += 1;
            *name = format!("?{params}");
        }
    }
    Ok(params)
}

/// The hexadecimal digits of the bytes that a bit literal has.
fn hex_digits(bits: &str) -> String {
    let missing = bits.len().next_multiple_of(8) - bits.len();
    let all: Vec<u8> = std::iter::repeat_n(b'0', missing)
        .chain(bits.bytes())
        .collect();
    all.chunks(4)
        .map(|four| four.iter().fold(0, |n, bit| n << 1 | u32::from(bit - b'0')))
        .filter_map(|n| char::from_digit(n, 16))
        .collect()
}
