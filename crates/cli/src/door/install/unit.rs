//! Reads and writes systemd's unit files: the program that a unit starts, and the variables that it sets.

use std::fs;
use std::path::{Path, PathBuf};

use tare_image::{has_server_name, is_launcher};

/// Directories of units; the first wins (systemd.unit(5)).
const DIRECTORIES: [&str; 4] = [
    "etc/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];
/// The directory for the administrator's drop-ins.
const ADMINISTRATOR_UNITS: &str = DIRECTORIES[0];
/// Tare's drop-in.
const DROP_IN: &str = "tare.conf";

/// Debian's script that starts a cluster of PostgreSQL. It replaces the environment.
const CLUSTER_SCRIPT: &str = "pg_ctlcluster";
/// Debian's script that starts memcached, and the program that it executes.
const MEMCACHED_SCRIPT: (&str, &str) = ("systemd-memcached-wrapper", "/usr/bin/memcached");

/// A unit, with the texts of its files.
#[derive(Debug)]
pub struct Unit {
    /// Its name, with `.service`.
    pub name: String,
    /// The directory of the administrator's drop-ins.
    pub drop_ins: PathBuf,
    /// The unit's file, and its drop-ins without Tare's, in the order in which systemd reads them.
    pub texts: Vec<String>,
}

/// How a unit starts its server.
#[derive(Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// This program inherits the unit's environment.
    Program(&'a str),
    /// Debian's script starts a cluster of PostgreSQL with the environment of the cluster's file.
    Cluster { version: &'a str, name: &'a str },
}

impl Unit {
    /// Finds a server's unit in the system below `root`: `mysql`, `redis-server`, `postgresql@15-main`, with or
    /// without `.service`.
    ///
    /// # Errors
    /// There is none.
    pub fn find(root: &Path, server: &str) -> Result<Self, String> {
        let server = server.strip_suffix(".service").unwrap_or(server);
        let mut names = vec![format!("{server}.service")];
        match server {
            "mysql" => names.push("mysqld.service".into()),
            _ => names.push(format!("{server}-server.service")),
        }
        let unit = names.iter().find_map(|name| read(root, name));
        let (name, text) =
            unit.ok_or_else(|| format!("there is no unit {}", names.join(" or ")))?;
        let drop_ins = root.join(ADMINISTRATOR_UNITS).join(format!("{name}.d"));
        let mut files: Vec<PathBuf> = fs::read_dir(&drop_ins)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.retain(|file| file.file_name().is_some_and(|name| name != DROP_IN));
        files.sort();
        let others = files
            .iter()
            .filter_map(|file| fs::read_to_string(file).ok());
        let texts = [text].into_iter().chain(others).collect();
        Ok(Self {
            name,
            drop_ins,
            texts,
        })
    }

    /// The path of Tare's drop-in.
    pub fn drop_in(&self) -> PathBuf {
        self.drop_ins.join(DROP_IN)
    }

    /// The name as administrators write it.
    pub fn short_name(&self) -> &str {
        self.name.trim_end_matches(".service")
    }

    /// The programs and other paths in the command that starts the server.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let mut texts = self.texts.iter();
        // A drop-in may replace the command.
        let text = texts.rfind(|text| exec_words(text).next().is_some());
        text.into_iter()
            .flat_map(|text| exec_words(text))
            // Special prefixes of the command (systemd.service(5)).
            .map(|word| word.trim_start_matches(['-', '@', ':', '+', '!', '|']))
            .filter(|word| word.starts_with('/'))
    }

    /// How the unit starts its server: directly, by a shell command, or by a script of Debian's.
    pub fn start(&self) -> Option<Start<'_>> {
        let paths: Vec<&str> = self.paths().collect();
        if let Some(server) = paths.iter().find(|path| has_server_name(Path::new(path))) {
            return Some(Start::Program(server));
        }
        let program = paths
            .iter()
            .find(|path| !is_launcher(Path::new(path)))
            .copied()?;
        let file = Path::new(program).file_name()?.to_str()?;
        if file == CLUSTER_SCRIPT {
            let (_, instance) = self.short_name().split_once('@')?;
            let (version, name) = instance.split_once('-')?;
            return Some(Start::Cluster { version, name });
        }
        Some(Start::Program(match file == MEMCACHED_SCRIPT.0 {
            true => MEMCACHED_SCRIPT.1,
            false => program,
        }))
    }

    /// The last value of a variable that the unit sets.
    pub fn variable(&self, name: &str) -> Option<String> {
        variable(&self.texts, name)
    }

    /// Whether root starts the server (systemd.exec(5)).
    pub fn is_of_root(&self) -> bool {
        let user = self.settings("User").last().unwrap_or_default();
        let is_dynamic = self.settings("DynamicUser").last();
        matches!(user, "" | "root" | "0") && is_dynamic.is_none_or(|word| word == "no")
    }

    /// The values of a setting, such as `ExecPaths`.
    pub fn settings<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.texts.iter().flat_map(|text| text.lines());
        lines.filter_map(move |line| line.trim().strip_prefix(name)?.strip_prefix('='))
    }
}

/// The unit's name and the text of its file. An alias has the name of the unit that it links to, and an instance
/// the text of its template.
fn read(root: &Path, name: &str) -> Option<(String, String)> {
    let template = name
        .split_once('@')
        .map(|(template, _)| format!("{template}@.service"));
    for file in [Some(name), template.as_deref()].into_iter().flatten() {
        for path in DIRECTORIES.map(|directory| root.join(directory).join(file)) {
            let Ok(target) = fs::read_link(&path) else {
                if let Ok(text) = fs::read_to_string(&path) {
                    return Some((name.to_owned(), text));
                }
                continue;
            };
            let own = target.file_name().and_then(|file| file.to_str());
            if let Some(own) = own.filter(|own| own.ends_with(".service") && *own != file) {
                return read(root, own);
            }
        }
    }
    None
}

/// The words of a unit's commands, without quotes. Specifiers are not replaced.
fn exec_words(unit: &str) -> impl Iterator<Item = &str> {
    let mut is_continued = false;
    let lines = unit.lines().map(str::trim).filter(move |line| {
        let is_command = is_continued || line.starts_with("ExecStart=");
        is_continued = is_command && line.ends_with('\\');
        is_command
    });
    lines
        .map(|line| line.strip_prefix("ExecStart=").unwrap_or(line))
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || "\"'=;`\\".contains(c)))
        .filter(|word| !word.is_empty())
}

/// The value of a variable in the lines `Environment=` of a unit and its drop-ins, in the order in which
/// systemd reads them (systemd.exec(5)). Specifiers (`%`) are not replaced.
fn variable(texts: &[String], name: &str) -> Option<String> {
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

    fn unit(name: &str, texts: &[&str]) -> Unit {
        Unit {
            name: name.to_owned(),
            drop_ins: PathBuf::new(),
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    #[test]
    fn the_unit_names_its_server() {
        let program = |texts: &[&str]| match unit("x.service", texts).start()? {
            Start::Program(program) => Some(program.to_owned()),
            other @ Start::Cluster { .. } => panic!("{other:?}"),
        };
        let path = |path: &str| Some(path.to_owned());
        let debian = "[Service]\nType=notify\nExecStartPre=/usr/bin/install -d /run/mysqld\nExecStart=/bin/sh -c \"set -f; \
                      VAR= || \\\n exec /usr/sbin/mariadbd $MYSQLD_OPTS $VAR\"\nExecStartPost=/etc/mysql/debian-start\n";
        assert_eq!(program(&[debian]), path("/usr/sbin/mariadbd"));
        let oracle = "[Service]\nExecStart=/usr/sbin/mysqld $MYSQLD_OPTS\nRestart=on-failure\n";
        assert_eq!(program(&[oracle]), path("/usr/sbin/mysqld"));
        let nginx =
            "[Service]\nExecStartPre=/bin/true\nExecStart=-/usr/sbin/nginx -g 'daemon on;'\n";
        assert_eq!(program(&[nginx]), path("/usr/sbin/nginx"));
        let memcached = "ExecStart=/usr/share/memcached/scripts/systemd-memcached-wrapper /etc/memcached.conf\n";
        assert_eq!(program(&[memcached]), path("/usr/bin/memcached"));
        let stop = "[Service]\nExecStart=/bin/true\nExecStop=/usr/sbin/mysqld --stop\n";
        assert_eq!(program(&[stop]), path("/bin/true"));
        // A drop-in replaces the command; one without a command does not.
        let override_ = "[Service]\nExecStart=\nExecStart=/opt/nginx\n";
        assert_eq!(
            program(&[nginx, override_, "[Service]\nNice=5\n"]),
            path("/opt/nginx")
        );
        assert_eq!(program(&["[Service]\nType=oneshot\n"]), None);
    }

    #[test]
    fn a_cluster_of_postgresql_is_named_by_the_instance() {
        let text =
            "[Service]\nExecStart=-/usr/bin/pg_ctlcluster --skip-systemctl-redirect %i start\n";
        let cluster = unit("postgresql@15-main-2.service", &[text]);
        let (version, name) = ("15", "main-2");
        assert_eq!(cluster.start(), Some(Start::Cluster { version, name }));
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
