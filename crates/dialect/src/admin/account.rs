//! Statements about accounts: CREATE, ALTER, DROP and RENAME USER, SET PASSWORD, GRANT and REVOKE.

use crate::error::{Error, Result, at};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::words::{any, need, quoted, take, text, word};
use crate::read::expect_end;

/// An account by user and host; `None` is the session's own.
pub type Name = Option<(String, String)>;

/// How an account authenticates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// Its password.
    Password(String),
    /// The hash of its password.
    Hash(String),
}

/// An account of CREATE USER or ALTER USER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Which.
    pub name: Name,
    /// The authentication plugin, if it is named.
    pub plugin: Option<String>,
    /// The password, if it is given.
    pub secret: Option<Secret>,
}

/// The options of CREATE USER and ALTER USER, which hold for all accounts of the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// REQUIRE SSL or NONE.
    pub ssl: Option<bool>,
    /// ACCOUNT LOCK or UNLOCK.
    pub locked: Option<bool>,
}

/// A privilege and where it holds: a schema, or everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// In capitals; ALL without PRIVILEGES.
    pub privileges: Vec<String>,
    /// `None` is `*.*`.
    pub schema: Option<String>,
    /// To or from whom.
    pub accounts: Vec<Name>,
}

/// A statement about accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    /// CREATE USER, and whether IF NOT EXISTS.
    Create(Vec<User>, Options, bool),
    /// ALTER USER, and whether IF EXISTS.
    Alter(Vec<User>, Options, bool),
    /// DROP USER, and whether IF EXISTS.
    Drop(Vec<Name>, bool),
    /// RENAME USER.
    Rename(Vec<(Name, Name)>),
    /// SET PASSWORD.
    Password(Name, String),
    /// GRANT.
    Grant(Grant),
    /// REVOKE.
    Revoke(Grant),
    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    RevokeAll(Vec<Name>),
}

/// Reads the statement if it is one of these.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Option<AccountChange>> {
    let second = match &parser.peek_nth_token(1).token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
        _ => String::new(),
    };
    let first = word(parser);
    let change = match (first.as_str(), second.as_str()) {
        ("CREATE" | "ALTER" | "DROP" | "RENAME", "USER") => {
            parser.next_token();
            parser.next_token();
            let conditional = match first.as_str() {
                "CREATE" => condition(parser, &["IF", "NOT", "EXISTS"])?,
                "RENAME" => false,
                _ => condition(parser, &["IF", "EXISTS"])?,
            };
            match first.as_str() {
                "CREATE" => {
                    let users = list(parser, user)?;
                    AccountChange::Create(users, options(parser)?, conditional)
                }
                "ALTER" => {
                    let users = list(parser, user)?;
                    AccountChange::Alter(users, options(parser)?, conditional)
                }
                "DROP" => AccountChange::Drop(list(parser, name)?, conditional),
                _ => AccountChange::Rename(list(parser, |parser| {
                    let old = name(parser)?;
                    need(parser, "TO")?;
                    Ok((old, name(parser)?))
                })?),
            }
        }
        ("SET", "PASSWORD") => {
            parser.next_token();
            parser.next_token();
            let of = match take(parser, "FOR") {
                true => name(parser)?,
                false => None,
            };
            parser.expect_token(&Token::Eq)?;
            AccountChange::Password(of, quoted(parser)?)
        }
        ("GRANT", _) => {
            parser.next_token();
            AccountChange::Grant(granted(parser, "TO")?)
        }
        ("REVOKE", _) => {
            parser.next_token();
            revoke(parser)?
        }
        _ => return Ok(None),
    };
    expect_end(parser)?;
    Ok(Some(change))
}

fn condition(parser: &mut Parser<'_>, words: &[&str]) -> Result<bool> {
    if word(parser) != "IF" {
        return Ok(false);
    }
    words.iter().try_for_each(|word| need(parser, word))?;
    Ok(true)
}

fn list<T>(parser: &mut Parser<'_>, one: impl Fn(&mut Parser<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut all = vec![one(parser)?];
    while parser.consume_token(&Token::Comma) {
        all.push(one(parser)?);
    }
    Ok(all)
}

/// An account: `'user'@'host'`, `user@host`, `user`, CURRENT_USER or USER().
pub(super) fn name(parser: &mut Parser<'_>) -> Result<Name> {
    let function = matches!(parser.peek_nth_token(1).token, Token::LParen);
    let first = word(parser);
    if first == "CURRENT_USER" || (first == "USER" && function) {
        parser.next_token();
        if parser.consume_token(&Token::LParen) {
            parser.expect_token(&Token::RParen)?;
        }
        return Ok(None);
    }
    let bare = !first.is_empty();
    let user = text(parser)?;
    // `root@localhost` is one word, `'root'@'localhost'` three.
    if bare && let Some((user, host)) = user.split_once('@') {
        let host = match host.is_empty() {
            true => text(parser)?,
            false => host.to_owned(),
        };
        return Ok(Some((user.to_owned(), host)));
    }
    let host = match &parser.peek_token().token {
        Token::AtSign => {
            parser.next_token();
            text(parser)?
        }
        Token::Word(w) if w.quote_style.is_none() && w.value.starts_with('@') => {
            let host = w.value[1..].to_owned();
            parser.next_token();
            if host.is_empty() { text(parser)? } else { host }
        }
        _ => "%".to_owned(),
    };
    Ok(Some((user, host)))
}

fn user(parser: &mut Parser<'_>) -> Result<User> {
    let mut user = User {
        name: name(parser)?,
        plugin: None,
        secret: None,
    };
    if !take(parser, "IDENTIFIED") {
        return Ok(user);
    }
    if take(parser, "WITH") {
        user.plugin = Some(text(parser)?.to_ascii_lowercase());
        if take(parser, "AS") {
            user.secret = Some(Secret::Hash(quoted(parser)?));
            return Ok(user);
        }
        if !take(parser, "BY") {
            return Ok(user);
        }
    } else {
        need(parser, "BY")?;
    }
    if word(parser) == "RANDOM" {
        return Err(Error::unsupported("RANDOM PASSWORD"));
    }
    if take(parser, "PASSWORD") {
        // MySQL 5's syntax: a hash follows, not a password.
        user.secret = Some(Secret::Hash(quoted(parser)?));
    } else {
        user.secret = Some(Secret::Password(quoted(parser)?));
    }
    if word(parser) == "REPLACE" {
        return Err(Error::unsupported("REPLACE 'the password before'"));
    }
    Ok(user)
}

/// REQUIRE, ACCOUNT, and the PASSWORD options that require nothing.
fn options(parser: &mut Parser<'_>) -> Result<Options> {
    let mut options = Options::default();
    loop {
        match word(parser).as_str() {
            "REQUIRE" => {
                parser.next_token();
                options.ssl = match any(parser, &["NONE", "SSL"]) {
                    Some(what) => Some(what == "SSL"),
                    None => return Err(Error::unsupported("REQUIRE of a client's certificate")),
                };
            }
            "ACCOUNT" => {
                parser.next_token();
                options.locked = match any(parser, &["LOCK", "UNLOCK"]) {
                    Some(what) => Some(what == "LOCK"),
                    None => return Err(at(&parser.peek_token())),
                };
            }
            "PASSWORD" => {
                parser.next_token();
                if any(parser, &["EXPIRE", "HISTORY", "REUSE"]) == Some("REUSE") {
                    need(parser, "INTERVAL")?;
                }
                if any(parser, &["DEFAULT", "NEVER"]).is_none() {
                    return Err(Error::unsupported(
                        "passwords that expire or must not be used again",
                    ));
                }
            }
            "WITH" => return Err(Error::unsupported("limits of an account (WITH MAX_...)")),
            "DEFAULT" => return Err(Error::unsupported("roles")),
            _ => return Ok(options),
        }
    }
}

fn privilege(parser: &mut Parser<'_>) -> Result<String> {
    let mut words = Vec::new();
    loop {
        match word(parser).as_str() {
            "" | "ON" | "TO" | "FROM" => break,
            next => words.push(next.to_owned()),
        }
        parser.next_token();
    }
    if matches!(parser.peek_token().token, Token::LParen) {
        return Err(Error::unsupported("privileges on columns"));
    }
    match words.join(" ") {
        none if none.is_empty() => Err(at(&parser.peek_token())),
        all if all == "ALL PRIVILEGES" => Ok("ALL".into()),
        other => Ok(other),
    }
}

/// The rest of GRANT or REVOKE, after the first privilege.
fn granted(parser: &mut Parser<'_>, whom: &str) -> Result<Grant> {
    let privileges = list(parser, privilege)?;
    if word(parser) == whom {
        return Err(Error::unsupported("roles"));
    }
    need(parser, "ON")?;
    any(parser, &["TABLE"]);
    let schema = level(parser)?;
    need(parser, whom)?;
    let accounts = list(parser, name)?;
    if take(parser, "WITH") {
        need(parser, "GRANT")?;
        need(parser, "OPTION")?;
        if privileges != ["ALL"] {
            return Err(Error::unsupported("GRANT OPTION without ALL PRIVILEGES"));
        }
    }
    Ok(Grant {
        privileges,
        schema,
        accounts,
    })
}

/// Where privileges hold: `*.*` or `schema.*`.
fn level(parser: &mut Parser<'_>) -> Result<Option<String>> {
    let schema = match parser.consume_token(&Token::Mul) {
        true => None,
        false => Some(text(parser)?),
    };
    if !parser.consume_token(&Token::Period) {
        return Err(Error::unsupported(
            "privileges on the default database or a table",
        ));
    }
    if !parser.consume_token(&Token::Mul) {
        return Err(Error::unsupported("privileges on tables"));
    }
    Ok(schema)
}

fn revoke(parser: &mut Parser<'_>) -> Result<AccountChange> {
    if word(parser) == "ALL" {
        // REVOKE ALL [PRIVILEGES], GRANT OPTION FROM: from everywhere.
        let index = parser.index();
        privilege(parser)?;
        if parser.consume_token(&Token::Comma) {
            need(parser, "GRANT")?;
            need(parser, "OPTION")?;
            need(parser, "FROM")?;
            return Ok(AccountChange::RevokeAll(list(parser, name)?));
        }
        while parser.index() > index {
            parser.prev_token();
        }
    }
    Ok(AccountChange::Revoke(granted(parser, "FROM")?))
}
