//! Functions on paths, lists and names.

/// A path with the variable in place of its beginning, where one of these variables has it.
pub fn format_path(path: &str, variables: &[(&str, String)]) -> String {
    let longest = variables
        .iter()
        .filter(|(_, value)| value.trim_end_matches('/').len() > 1)
        .filter_map(|(name, value)| {
            let value = value.trim_end_matches('/');
            let rest = path.strip_prefix(value)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((value.len(), name, rest))
        })
        .max_by_key(|(length, ..)| *length);
    match longest {
        Some((_, name, rest)) => format!("@@{name}{rest}"),
        None => path.to_owned(),
    }
}

/// The endings of a database's files in SQLite.
const ENDINGS: [&str; 4] = [".db", ".db-wal", ".db-shm", ".db-journal"];

/// The database that a file belongs to: the file's own name for SQLite, where a database is a file; otherwise
/// the name of its directory, where a table is a file.
pub fn schema_of_file(path: &str) -> Option<&str> {
    let mut parts = path.rsplit(['/', '\\']);
    let file = parts.next()?;
    if let Some(database) = ENDINGS.iter().find_map(|e| file.strip_suffix(e)) {
        return Some(database);
    }
    parts.next().filter(|directory| !directory.is_empty())
}

/// The table that a file holds, where a table has a file of its own.
pub fn table_of_file(path: &str) -> Option<&str> {
    let file = path.rsplit(['/', '\\']).next()?;
    if ENDINGS.iter().any(|e| file.ends_with(e)) {
        return None;
    }
    file.split(['.', '#'])
        .next()
        .filter(|name| !name.is_empty())
}

/// A list with one more value at its end.
pub fn list_add(list: Option<&str>, value: &str) -> String {
    match list {
        None | Some("") => value.to_owned(),
        Some(list) => format!("{},{value}", list.trim_matches(' ').trim_end_matches(',')),
    }
}

/// A list without a value.
pub fn list_drop(list: &str, value: &str) -> String {
    let left: Vec<&str> = list
        .split(',')
        .filter(|item| !item.trim().eq_ignore_ascii_case(value.trim()))
        .collect();
    left.join(",")
}

/// A name in backticks.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_with_their_variable() {
        let variables = [
            ("datadir", "/var/data/".to_owned()),
            ("tmpdir", "/".to_owned()),
        ];
        assert_eq!(format_path("/var/data/x.db", &variables), "@@datadir/x.db");
        assert_eq!(format_path("/var/database", &variables), "/var/database");
    }

    #[test]
    fn the_database_of_a_file_is_in_its_path() {
        assert_eq!(schema_of_file("/d/test.db-wal"), Some("test"));
        assert_eq!(table_of_file("/d/test.db-wal"), None);
        assert_eq!(
            schema_of_file("/var/lib/mysql/shop/orders.ibd"),
            Some("shop")
        );
        assert_eq!(
            table_of_file("/var/lib/mysql/shop/orders#P#p1.ibd"),
            Some("orders")
        );
        assert_eq!(schema_of_file("nothing"), None);
    }

    #[test]
    fn lists_grow_and_shrink() {
        assert_eq!(list_add(None, "a"), "a");
        assert_eq!(list_add(Some("a,b"), "c"), "a,b,c");
        assert_eq!(list_add(Some("a, "), "b"), "a,b");
        assert_eq!(list_drop("a,b, B,c", "b"), "a,c");
        assert_eq!(quote_identifier("a`b"), "`a``b`");
    }
}
