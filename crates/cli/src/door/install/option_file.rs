//! The option file that switches the instruments of a MySQL or MariaDB server on.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tare_image::{Release, options::UserOptions};

use super::super::options;
use super::{HEADING, failed, write};
use crate::exit::Failure;

/// The last one of its directory, in the order in which servers read option files.
const OPTION_FILE: &str = "zz-tare.cnf";
/// The default option files of distributions' packages.
const OPTION_FILES: [&str; 2] = ["etc/my.cnf", "etc/mysql/my.cnf"];

/// The path of Tare's file: in the last directory of option files that the server reads.
pub fn path(root: &Path) -> Result<PathBuf, Failure> {
    let texts = OPTION_FILES
        .iter()
        .filter_map(|file| fs::read_to_string(root.join(file)).ok());
    let named: Vec<PathBuf> = texts
        .flat_map(|text| included_directories(&text))
        .map(|directory| root.join(directory.trim_start_matches('/')))
        .filter(|directory| directory.is_dir())
        .collect();
    let directory = named.last().ok_or_else(|| {
        failed(format!(
            "no !includedir of /{} names a directory; add one to the server's option file",
            OPTION_FILES.join(" or /")
        ))
    })?;
    Ok(directory.join(OPTION_FILE))
}

/// Writes it.
pub fn install(path: &Path, release: Release, users: &UserOptions) -> Result<(), Failure> {
    let mut options: Vec<OsString> = Vec::new();
    options::insert(&mut options, release, users);
    let lines = options
        .iter()
        .map(|option| option.to_string_lossy().trim_start_matches('-').to_owned() + "\n");
    let lines: String = lines.collect();
    write(path, &format!("{HEADING}[mysqld]\n{lines}"))
}

/// The directories that an option file includes.
fn included_directories(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("!includedir"));
    lines.map(|directory| directory.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_directories_are_listed() {
        let text = "[client-server]\nsocket = /run/s\n!includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n";
        assert_eq!(
            included_directories(text),
            ["/etc/mysql/conf.d/", "/etc/mysql/mariadb.conf.d/"]
        );
    }
}
