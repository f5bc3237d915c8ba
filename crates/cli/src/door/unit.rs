//! Reads and writes systemd's unit files: the program that a unit starts, and the variables that it sets.

use std::path::Path;

use tare_image::has_server_name;

/// The server that a unit starts, directly or by a shell command.
pub fn server_program(unit: &str) -> Option<&str> {
    let joined = unit
        .lines()
        .skip_while(|line| !line.starts_with("ExecStart="));
    let mut words = joined
        .take_while(|line| {
            !line.is_empty() && (line.starts_with("ExecStart=") || !line.contains("Exec"))
        })
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || "\"'=;`".contains(c)));
    words.find(|word| word.starts_with('/') && has_server_name(Path::new(word)))
}

/// The value of a variable in the lines `Environment=` of a unit and its drop-ins, in the order in which
/// systemd reads them (systemd.exec(5)). Specifiers (`%`) are not replaced.
pub fn variable(texts: &[String], name: &str) -> Option<String> {
    let mut value = None;
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some(list) = line.trim().strip_prefix("Environment=") else {
            continue;
        };
        // An empty list resets all variables.
        if list.is_empty() {
            value = None;
        }
        for word in words(list) {
            if let Some((_, text)) = word.split_once('=').filter(|(key, _)| *key == name) {
                value = Some(text.to_owned());
            }
        }
    }
    value
}

/// A line that sets a variable. `value` has its specifiers escaped.
pub fn environment_line(name: &str, value: &str) -> String {
    let mut text = String::new();
    for sign in value.chars() {
        match sign {
            '\n' => text.push_str("\\n"),
            '"' | '\\' => text.extend(['\\', sign]),
            _ => text.push(sign),
        }
    }
    format!("Environment=\"{name}={text}\"\n")
}

/// Splits a line at blanks outside of quotes, and replaces escape sequences (systemd.syntax(7)).
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            _ if quote == Some(sign) => quote = None,
            '"' | '\'' if word.is_none() => {
                (quote, word) = (Some(sign), Some(String::new()));
            }
            ' ' | '\t' if quote.is_none() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(match signs.next() {
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                Some('s') => Some(' '),
                other => other,
            }),
            _ => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_names_its_server() {
        let debian = "[Service]\nType=notify\nExecStartPre=/usr/bin/install -d /run/mysqld\nExecStart=/bin/sh -c \"set -f; \
                      VAR= || \\\n exec /usr/sbin/mariadbd $MYSQLD_OPTS $VAR\"\nExecStartPost=/etc/mysql/debian-start\n";
        assert_eq!(server_program(debian), Some("/usr/sbin/mariadbd"));
        let oracle = "[Service]\nExecStart=/usr/sbin/mysqld $MYSQLD_OPTS\nRestart=on-failure\n";
        assert_eq!(server_program(oracle), Some("/usr/sbin/mysqld"));
        assert_eq!(
            server_program("[Service]\nExecStart=/usr/sbin/nginx\n"),
            None
        );
        assert_eq!(
            server_program("[Service]\nExecStart=/bin/true\nExecStop=/usr/sbin/mysqld --stop\n"),
            None
        );
    }

    #[test]
    fn the_last_assignment_of_a_variable_applies() {
        let value = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            variable(&texts, "A")
        };
        let text = |value: &str| Some(value.to_owned());
        assert_eq!(value(&["[Service]\nType=notify\n"]), None);
        assert_eq!(
            value(&["Environment=A=1 B=2\nEnvironment=BA=3\n"]),
            text("1")
        );
        assert_eq!(
            value(&["Environment=A=1\n", "Environment=B=2 A=3\n"]),
            text("3")
        );
        assert_eq!(value(&["Environment=A=1\n", "Environment=\n"]), None);
        assert_eq!(
            value(&["Environment=\"B=x A=y\" 'A=b 5 %%'\n"]),
            text("b 5 %%")
        );
        assert_eq!(value(&["Environment=A=\n"]), text(""));
    }

    #[test]
    fn a_written_variable_is_read_again() {
        for value in ["", "1/16", "a\nb", "it's \"quoted\" \\ at 5 %%\t"] {
            let line = environment_line("A", value);
            assert_eq!(line.lines().count(), 1, "{line}");
            assert_eq!(variable(&[line], "A").as_deref(), Some(value));
        }
    }
}
