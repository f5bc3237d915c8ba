//! What of MySQL's grammar sqlparser does not read is said in other words, token by token, before
//! it parses: `CURRENT_USER`, `INTERVAL '1:30' MINUTE_SECOND`, `LOCK IN SHARE MODE` and the like.

mod place;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use self::place::{
    after_table, closing, composite, in_cast, is, is_call, is_name, operand, unit, unit_follows,
    upper,
};
use super::Mode;

/// Variables of SELECT ... INTO.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Into {
    /// Their names, in lower case, without `@`.
    pub variables: Vec<String>,
    /// INTO OUTFILE or DUMPFILE.
    pub file: bool,
    /// DO: nothing is returned.
    pub nowhere: bool,
}

/// A function's name that no statement can spell: what this pass writes is told apart from what
/// clients write.
pub const OWN: char = '\u{1}';

/// Functions whose names sqlparser takes for something else when they are called.
const CALLED: [&str; 4] = ["INSERT", "TIMESTAMP", "TIME", "DATE"];

/// Functions of MySQL that need no parentheses.
const BARE: [&str; 5] = [
    "CURRENT_USER",
    "CURRENT_ROLE",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
];

fn plain(value: impl std::convert::Into<String>) -> Token {
    Token::Word(Word {
        value: value.into(),
        quote_style: None,
        keyword: Keyword::NoKeyword,
    })
}

fn own(name: &str) -> Token {
    plain(format!("{OWN}{name}"))
}

/// Rewrites the tokens, from which space and comments have been taken. Returns them, how many
/// parameters there are, and the variables of INTO.
pub fn prepare(
    tokens: Vec<TokenWithSpan>,
    mode: Mode,
) -> Result<(Vec<TokenWithSpan>, usize, Into), Token> {
    let mut tokens: Vec<TokenWithSpan> = tokens
        .into_iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .collect();
    let params = parameters(&mut tokens, mode)?;
    let mut into = into(&mut tokens);
    first_words(&mut tokens);
    if let Some(first) = tokens
        .first_mut()
        .filter(|t| !mode.counted && is(&t.token, "DO"))
    {
        first.token = Token::make_keyword("SELECT");
        into.nowhere = true;
    }
    if !mode.counted {
        several_tables(&mut tokens);
    }
    let counted = Mode {
        counted: true,
        ..mode
    };
    let again = |inner| prepare(inner, counted).map(|(tokens, ..)| tokens);
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 8);
    let mut i = 0;
    while i < tokens.len() {
        let at = |n: usize| tokens.get(i + n).map_or(&Token::EOF, |t| &t.token);
        let span = tokens[i].span;
        let mut put = |token: Token| out.push(TokenWithSpan { token, span });
        let after_dot = i > 0 && tokens[i - 1].token == Token::Period;
        if tokens[i].token == Token::ExclamationMark && *at(1) != Token::Eq {
            // `!x` binds closer than NOT.
            put(own("not"));
            i += 1;
            out.extend(again(operand(&tokens, &mut i))?);
            continue;
        }
        let Some(word) = upper(&tokens[i].token).filter(|_| !after_dot) else {
            put(tokens[i].token.clone());
            i += 1;
            continue;
        };
        let called = *at(1) == Token::LParen;
        match word.as_str() {
            "LOCK" if is(at(1), "IN") && is(at(2), "SHARE") && is(at(3), "MODE") => i += 4,
            "FOR" if is(at(1), "SHARE") => {
                i += 2;
                while i < tokens.len()
                    && ["NOWAIT", "SKIP", "LOCKED"]
                        .iter()
                        .any(|w| is(&tokens[i].token, w))
                {
                    i += 1;
                }
            }
            "PARTITION"
                if called
                    && i > 0
                    && matches!(tokens[i - 1].token, Token::Word(_))
                    && !is(at(2), "BY")
                    && after_table(&tokens, i) =>
            {
                i = closing(&tokens, i + 1) + 1;
            }
            "SOUNDS" if is(at(1), "LIKE") => {
                // a SOUNDS LIKE b is a comparison of two names that sound.
                put(Token::Spaceship);
                put(own("sounds"));
                i += 2;
                out.extend(again(operand(&tokens, &mut i))?);
            }
            "BINARY"
                if is_call(&tokens, i)
                    && *at(1) != Token::RParen
                    && !(called
                        && matches!(at(2), Token::Number(..))
                        && *at(3) == Token::RParen
                        && *at(4) == Token::RParen) =>
            {
                put(own("binary"));
                i += 1;
                out.extend(again(operand(&tokens, &mut i))?);
            }
            "ASC" if !called => i += 1,
            bare if !called && BARE.contains(&bare) && !is_name(&tokens, i) => {
                put(plain(word.to_lowercase()));
                put(Token::LParen);
                put(Token::RParen);
                i += 1;
            }
            "EXTRACT" if called && is(at(3), "FROM") && unit(at(2)).is_some() => {
                put(own("extract"));
                put(Token::LParen);
                put(Token::SingleQuotedString(unit(at(2)).unwrap_or_default()));
                put(Token::Comma);
                i += 4;
            }
            "TIMESTAMPADD" | "TIMESTAMPDIFF" | "GET_FORMAT" if called && *at(3) == Token::Comma => {
                put(tokens[i].token.clone());
                put(Token::LParen);
                put(Token::SingleQuotedString(
                    at(2).to_string().to_uppercase().replace("SQL_TSI_", ""),
                ));
                i += 3;
            }
            "INTERVAL" if called && !unit_follows(&tokens, closing(&tokens, i + 1)) => {
                put(own("interval_of"));
                i += 1;
            }
            "INTERVAL" => {
                // A composite unit becomes a function of its text and one simple unit.
                match composite(&tokens, i) {
                    Some((at_unit, name)) => {
                        put(tokens[i].token.clone());
                        put(own("interval"));
                        put(Token::LParen);
                        put(Token::SingleQuotedString(name.clone()));
                        put(Token::Comma);
                        out.extend(again(tokens[i + 1..at_unit].to_vec())?);
                        out.push(TokenWithSpan {
                            token: Token::RParen,
                            span,
                        });
                        let simple = if name == "YEAR_MONTH" {
                            "MONTH"
                        } else {
                            "MICROSECOND"
                        };
                        out.push(TokenWithSpan {
                            token: Token::make_keyword(simple),
                            span,
                        });
                        i = at_unit + 1;
                    }
                    None => {
                        put(tokens[i].token.clone());
                        i += 1;
                    }
                }
            }
            "CHAR" if called && is_call(&tokens, i) => {
                // CHAR(65 USING utf8mb4)
                let end = closing(&tokens, i + 1);
                let using = (i + 2..end).find(|&j| is(&tokens[j].token, "USING"));
                put(own(if using.is_some() { "char_text" } else { "char" }));
                out.extend(again(tokens[i + 1..using.unwrap_or(end)].to_vec())?);
                i = end;
            }
            "CHAR" if is(at(1), "CHARACTER") && is(at(2), "SET") && in_cast(&tokens, i) => {
                put(tokens[i].token.clone());
                i += 4;
            }
            "CHAR" if is(at(1), "CHARSET") && in_cast(&tokens, i) => {
                put(tokens[i].token.clone());
                i += 3;
            }
            "UNSIGNED" | "SIGNED"
                if (is(at(1), "INTEGER") || is(at(1), "INT")) && *at(2) == Token::RParen =>
            {
                put(tokens[i].token.clone());
                i += 2;
            }
            "TRIM"
                if called
                    && ["LEADING", "TRAILING", "BOTH"].iter().any(|w| is(at(2), w))
                    && is(at(3), "FROM") =>
            {
                put(tokens[i].token.clone());
                put(Token::LParen);
                put(at(2).clone());
                put(Token::SingleQuotedString(" ".into()));
                i += 3;
            }
            "ROW" if called && is_call(&tokens, i) => i += 1,
            name if called && CALLED.contains(&name) && is_call(&tokens, i) => {
                put(own(&name.to_lowercase()));
                i += 1;
            }
            "MEMBER" if is(at(1), "OF") && *at(2) == Token::LParen => {
                put(Token::Spaceship);
                put(own("member_of"));
                i += 2;
            }
            _ => {
                put(tokens[i].token.clone());
                i += 1;
            }
        }
    }
    Ok((out, params, into))
}

/// Numbers the `?`, makes MOD an operator where it is one, and reads quotes as the mode says.
fn parameters(tokens: &mut [TokenWithSpan], mode: Mode) -> Result<usize, Token> {
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
            token.token = Token::SingleQuotedByteStringLiteral(bits.to_owned());
        }
        // sqlparser knows MOD as a function only; after an operand it is an operator.
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
        if mode.counted {
            continue;
        }
        if let Token::Placeholder(name) = &mut token.token {
            if name != "?" {
                return Err(token.token.clone());
            }
            params += 1;
            *name = format!("?{params}");
        }
    }
    Ok(params)
}

/// Takes INTO @a, @b out of a SELECT.
fn into(tokens: &mut Vec<TokenWithSpan>) -> Into {
    let mut found = Into::default();
    let selects = tokens
        .iter()
        .find(|t| t.token != Token::LParen)
        .is_some_and(|t| is(&t.token, "SELECT") || is(&t.token, "WITH") || is(&t.token, "TABLE"));
    if !selects {
        return found;
    }
    let Some(at) = tokens.iter().position(|t| is(&t.token, "INTO")) else {
        return found;
    };
    let next = |n: usize| tokens.get(at + n).map(|t| &t.token);
    if next(1).is_some_and(|t| is(t, "OUTFILE") || is(t, "DUMPFILE")) {
        found.file = true;
        return found;
    }
    let mut end = at + 1;
    while let Some(Token::Word(w)) = tokens.get(end).map(|t| &t.token)
        && let Some(name) = w.value.strip_prefix('@')
        && !name.starts_with('@')
    {
        found.variables.push(name.to_lowercase());
        end += 1;
        if tokens.get(end).map(|t| &t.token) != Some(&Token::Comma) {
            break;
        }
        end += 1;
    }
    if !found.variables.is_empty() {
        tokens.drain(at..end);
    }
    found
}

/// TABLE t is SELECT * FROM t.
fn first_words(tokens: &mut Vec<TokenWithSpan>) {
    let Some(first) = tokens.iter().position(|t| t.token != Token::LParen) else {
        return;
    };
    if !is(&tokens[first].token, "TABLE") {
        return;
    }
    let span = tokens[first].span;
    let new = [
        Token::make_keyword("SELECT"),
        Token::Mul,
        Token::make_keyword("FROM"),
    ];
    tokens.splice(
        first..=first,
        new.map(|token| TokenWithSpan { token, span }),
    );
}

/// `UPDATE a, b SET`: the comma is a join.
fn several_tables(tokens: &mut Vec<TokenWithSpan>) {
    if !tokens.first().is_some_and(|t| is(&t.token, "UPDATE")) {
        return;
    }
    let mut depth = 0;
    let mut i = 1;
    while i < tokens.len() && !(depth == 0 && is(&tokens[i].token, "SET")) {
        match tokens[i].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => {
                let span = tokens[i].span;
                let join = ["CROSS", "JOIN"].map(|w| TokenWithSpan {
                    token: Token::make_keyword(w),
                    span,
                });
                tokens.splice(i..=i, join);
            }
            _ => {}
        }
        i += 1;
    }
}
