//! Statements of MySQL that this server does not have. Without this list they would be syntax errors.

/// Their first words. An object that CREATE, ALTER or DROP names may have other words before it.
const STATEMENTS: &[&str] = &[
    "ALTER DATABASE",
    "ALTER EVENT",
    "ALTER FUNCTION",
    "ALTER INSTANCE",
    "ALTER JSON RELATIONAL DUALITY VIEW",
    "ALTER LIBRARY",
    "ALTER LOGFILE GROUP",
    "ALTER MATERIALIZED VIEW",
    "ALTER PROCEDURE",
    "ALTER RESOURCE GROUP",
    "ALTER SCHEMA",
    "ALTER SERVER",
    "ALTER TABLESPACE",
    "ALTER UNDO TABLESPACE",
    "ALTER VIEW",
    "BINLOG",
    "CACHE INDEX",
    "CHANGE REPLICATION FILTER",
    "CHANGE REPLICATION SOURCE",
    "CHECKSUM TABLE",
    "CHECKSUM TABLES",
    "CLONE INSTANCE",
    "CLONE LOCAL",
    "CREATE EVENT",
    "CREATE FUNCTION",
    "CREATE JSON RELATIONAL DUALITY VIEW",
    "CREATE LIBRARY",
    "CREATE LOGFILE GROUP",
    "CREATE MATERIALIZED VIEW",
    "CREATE PROCEDURE",
    "CREATE RESOURCE GROUP",
    "CREATE ROLE",
    "CREATE SERVER",
    "CREATE SPATIAL REFERENCE SYSTEM",
    "CREATE TABLESPACE",
    "CREATE TRIGGER",
    "CREATE UNDO TABLESPACE",
    "DROP LIBRARY",
    "DROP LOGFILE GROUP",
    "DROP RESOURCE GROUP",
    "DROP ROLE",
    "DROP SERVER",
    "DROP SPATIAL REFERENCE SYSTEM",
    "DROP TABLESPACE",
    "DROP UNDO TABLESPACE",
    "GET CURRENT DIAGNOSTICS",
    "GET DIAGNOSTICS",
    "GET STACKED DIAGNOSTICS",
    "HANDLER",
    "IMPORT TABLE",
    "INSTALL COMPONENT",
    "INSTALL PLUGIN",
    "LOAD DATA",
    "LOAD INDEX INTO CACHE",
    "LOAD XML",
    "LOCK INSTANCE",
    "PURGE BINARY LOGS",
    "REPAIR LOCAL TABLE",
    "REPAIR NO_WRITE_TO_BINLOG TABLE",
    "REPAIR TABLE",
    "REPAIR TABLES",
    "RESET BINARY LOGS",
    "RESET PERSIST",
    "RESET REPLICA",
    "RESIGNAL",
    "RESTART",
    "SET DEFAULT ROLE",
    "SET RESOURCE GROUP",
    "SET ROLE",
    "SIGNAL",
    "START GROUP_REPLICATION",
    "START REPLICA",
    "STOP GROUP_REPLICATION",
    "STOP REPLICA",
    "UNINSTALL COMPONENT",
    "UNINSTALL PLUGIN",
    "UNLOCK INSTANCE",
    "XA BEGIN",
    "XA COMMIT",
    "XA END",
    "XA PREPARE",
    "XA RECOVER",
    "XA ROLLBACK",
    "XA START",
];

/// The first words of a statement that are read: a definer and other properties come before an object.
const MAX_WORDS: usize = 24;

/// The text behind the first words, if one of these statements begins with them: MySQL cannot read on there.
pub(crate) fn behind_first_words(text: &str) -> Option<&str> {
    let words = words(text);
    let shared = |name: &&str| {
        let both = name.split(' ').zip(&words);
        both.take_while(|(name, word)| name == word).count()
    };
    let last = STATEMENTS.iter().map(shared).max()?.checked_sub(1)?;
    // The words of the list are as long in lower case.
    let mut rest = text;
    for word in &words[..=last] {
        let at = rest.to_ascii_uppercase().find(word)?;
        rest = &rest[at + word.len()..];
    }
    Some(rest.trim_start())
}

/// The name of the statement that a text is, if this server does not have it.
pub(crate) fn statement(text: &str) -> Option<&'static str> {
    let words = words(text);
    let begins = |words: &[String], name: &str| {
        let mut names = name.split(' ');
        let all = names.by_ref().zip(words).all(|(name, word)| name == word);
        all && words.len() >= name.split(' ').count()
    };
    if let Some(name) = STATEMENTS.iter().find(|name| begins(&words, name)) {
        return Some(name);
    }
    // CREATE DEFINER = 'a'@'b' TRIGGER.
    let (verb, rest) = words.split_first()?;
    if !["CREATE", "ALTER"].contains(&verb.as_str()) {
        return None;
    }
    const PROPERTIES: [&str; 4] = ["OR", "DEFINER", "AGGREGATE", "ALGORITHM"];
    if !rest
        .first()
        .is_some_and(|word| PROPERTIES.contains(&word.as_str()))
    {
        return None;
    }
    let objects = ["EVENT", "FUNCTION", "PROCEDURE", "TRIGGER", "VIEW", "TABLE"];
    let object = rest.iter().find(|word| objects.contains(&word.as_str()))?;
    let name = format!("{verb} {object}");
    STATEMENTS
        .iter()
        .copied()
        .find(|statement| *statement == name)
}

/// The first words of a text in upper case, without comments, quoted texts and punctuation.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while words.len() < MAX_WORDS {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "=@();".contains(c));
        let Some(first) = rest.chars().next() else {
            break;
        };
        rest = match first {
            '#' => rest.split_once('\n').map_or("", |(_, rest)| rest),
            '-' if rest.starts_with("-- ") => rest.split_once('\n').map_or("", |(_, rest)| rest),
            '/' if rest.starts_with("/*") => rest.split_once("*/").map_or("", |(_, rest)| rest),
            quote @ ('\'' | '"' | '`') => rest[1..].split_once(quote).map_or("", |(_, rest)| rest),
            _ => {
                let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                if end == 0 {
                    &rest[first.len_utf8()..]
                } else {
                    words.push(rest[..end].to_uppercase());
                    &rest[end..]
                }
            }
        };
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_statement_has_its_name() {
        for (text, name) in [
            ("signal sqlstate '45000'", Some("SIGNAL")),
            (
                "/* a */ CREATE DEFINER = 'trigger'@'x' PROCEDURE p() SELECT 1",
                Some("CREATE PROCEDURE"),
            ),
            ("CREATE OR REPLACE DEFINER=a@b VIEW v AS SELECT 1", None),
            ("CREATE TABLE trigger_log (event INT)", None),
            ("CREATE DEFINER=CURRENT_USER VIEW v AS SELECT 1", None),
            ("GET DIAGNOSTICS @n = NUMBER", Some("GET DIAGNOSTICS")),
            ("GET", None),
            ("XA", None),
            ("SELECT 1", None),
        ] {
            assert_eq!(statement(text), name, "{text}");
        }
    }

    /// 9.7.4 quotes the text from there on.
    #[test]
    fn words_that_begin_no_statement_are_wrong() {
        for name in STATEMENTS {
            let words: Vec<&str> = name.split(' ').collect();
            for n in 1..words.len() {
                let text = format!("{} klingon x", words[..n].join(" ").to_lowercase());
                assert_eq!(behind_first_words(&text), Some("klingon x"), "{text}");
            }
        }
        for text in ["SELECT RESET", "KLINGON MASTER", ""] {
            assert_eq!(behind_first_words(text), None, "{text}");
        }
        assert_eq!(behind_first_words(" CHANGE\tMASTER é"), Some("MASTER é"));
    }

    #[test]
    fn statements_are_sorted() {
        assert!(STATEMENTS.is_sorted());
    }
}
