//! The environment of a PostgreSQL cluster of Debian's. pg_ctlcluster starts the server with the variables of a
//! file and no others; the unit's do not reach it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

use super::{HEADING, failed, write};

/// Ends what Tare wrote.
const END: &str = "# The end of what `tare door install` wrote.";

/// A cluster's file `environment`.
pub struct Environment {
    path: PathBuf,
    /// Without what Tare wrote.
    text: String,
    /// Whether Tare wrote anything.
    is_installed: bool,
}

/// The server's program.
pub fn program(root: &Path, version: &str) -> PathBuf {
    let directory = root.join("usr/lib/postgresql").join(version);
    directory.join("bin/postgres")
}

impl Environment {
    pub fn read(root: &Path, version: &str, name: &str) -> Result<Self, Failure> {
        let path = root.join(format!("etc/postgresql/{version}/{name}/environment"));
        let complete = fs::read_to_string(&path)
            .map_err(|error| failed(format!("{}: {error}", path.display())))?;
        let text = without_own(&complete);
        Ok(Self {
            path,
            is_installed: text != complete,
            text,
        })
    }

    /// The last value of a variable.
    pub fn variable(&self, name: &str) -> Option<String> {
        let mut values = self.text.lines().filter_map(|line| value(line, name));
        values.next_back()
    }

    /// Writes Tare's variables behind the others, so that they apply.
    pub fn install(&self, variables: &[(&str, String)]) -> Result<(), Failure> {
        let mut text = self.text.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(HEADING);
        for (name, value) in variables {
            if value.contains('\n') {
                return Err(failed(format!(
                    "{} sets {name}, and a second option does not fit into a line; take it out and repeat the command",
                    self.path.display()
                )));
            }
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            text += &format!("{name} = '{value}'\n");
        }
        write(&self.path, &format!("{text}{END}\n"))
    }

    /// Takes Tare's variables out; false if there are none.
    pub fn remove(&self) -> Result<bool, Failure> {
        if self.is_installed {
            write(&self.path, &self.text)?;
        }
        Ok(self.is_installed)
    }
}

/// A text without the lines that Tare wrote.
fn without_own(text: &str) -> String {
    let mut is_own = false;
    let lines = text.split_inclusive('\n').filter(|line| {
        is_own |= *line == HEADING;
        let is_theirs = !is_own;
        is_own &= line.trim_end() != END;
        is_theirs
    });
    lines.collect()
}

/// The value that a line gives a variable: `NAME = value` or `NAME 'any value'`.
fn value(line: &str, name: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix(name)?;
    let rest = match rest.trim_start().strip_prefix('=') {
        Some(rest) => rest,
        None if rest.starts_with([' ', '\t']) => rest,
        None => return None,
    };
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('\'') else {
        return rest.split([' ', '\t', '#']).next().map(str::to_owned);
    };
    let mut value = String::new();
    let mut signs = quoted.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => value.extend(signs.next()),
            '\'' if signs.next_if_eq(&'\'').is_some() => value.push('\''),
            '\'' => break,
            _ => value.push(sign),
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_postgresqls_scripts_read_them() {
        let read = |line| value(line, "A");
        let text = |value: &str| Some(value.to_owned());
        assert_eq!(read("A = '/lib/a b.so'"), text("/lib/a b.so"));
        assert_eq!(read("  A=1 # one"), text("1"));
        assert_eq!(read("A 2"), text("2"));
        assert_eq!(read(r"A = 'it''s \' \\'"), text(r"it's ' \"));
        assert_eq!(read("AB = 1"), None);
        assert_eq!(read("# A = 1"), None);
    }

    #[test]
    fn what_tare_wrote_is_taken_out() {
        let users = "# mine\nTZ = 'UTC'\n";
        let both = format!("{users}{HEADING}LD_PRELOAD = '/x'\n{END}\nB = 2\n");
        assert_eq!(without_own(&both), format!("{users}B = 2\n"));
        assert_eq!(without_own(users), users);
    }
}
