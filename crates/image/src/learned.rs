//! A MariaDB's table of functions, learned once from a running one and kept by its build-id.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// First line of the file; a change of what follows changes the number.
const HEADING: &str = "tare-learned 1";

/// The last line: a number before it cannot have been cut.
const ENDING: &str = "end\n";

/// Where the files are, if not below the user's cache directory.
const DIRECTORY_VARIABLE: &str = "TARE_CACHE";

/// For servers that are started without a home.
const SHARED_DIRECTORY: &str = "/var/cache/tare";

/// Why what was learned cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LearnedError {
    /// There is nothing yet.
    #[error("nothing was learned about this build yet; `tare run` does it at its first start")]
    Missing,
    /// The file is there, and damaged or another version's.
    #[error("{path} is damaged; remove it, and the next `tare run` learns anew")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Addresses as linked, of one build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Of which build.
    pub build_id: String,
    /// Where the table is.
    pub table: u64,
    /// The functions in its slots, in order.
    pub functions: Vec<u64>,
}

impl Learned {
    /// What is kept about a build.
    pub fn load(build_id: &str) -> Result<Self, LearnedError> {
        for directory in directories() {
            match fs::read_to_string(path(&directory, build_id)) {
                Ok(text) => {
                    return Self::parse(&text)
                        .filter(|learned| learned.build_id == build_id)
                        .ok_or_else(|| LearnedError::Damaged {
                            path: path(&directory, build_id),
                        });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(LearnedError::Io {
                        path: path(&directory, build_id),
                        error,
                    });
                }
            }
        }
        Err(LearnedError::Missing)
    }

    /// Keeps it, whole or not at all.
    pub fn save(&self) -> Result<PathBuf, LearnedError> {
        let directory = directories().remove(0);
        let path = path(&directory, &self.build_id);
        let failed = |error| LearnedError::Io {
            path: path.clone(),
            error,
        };
        fs::create_dir_all(&directory).map_err(failed)?;
        let new = path.with_extension(format!("new-{}", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .open(&new)
            .map_err(failed)?;
        file.write_all(self.print().as_bytes())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(failed)?;
        Ok(path)
    }

    fn print(&self) -> String {
        let mut text = format!(
            "{HEADING}\nbuild-id {}\ntable {:x}\nslots {}\n",
            self.build_id,
            self.table,
            self.functions.len()
        );
        for function in &self.functions {
            text += &format!("{function:x}\n");
        }
        text + ENDING
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix(ENDING)?.lines();
        let hexadecimal = |digits: &str| u64::from_str_radix(digits, 16).ok();
        (lines.next()? == HEADING).then_some(())?;
        let build_id = lines.next()?.strip_prefix("build-id ")?.to_owned();
        let table = hexadecimal(lines.next()?.strip_prefix("table ")?)?;
        let slots: usize = lines.next()?.strip_prefix("slots ")?.parse().ok()?;
        let functions: Vec<u64> = lines.map(hexadecimal).collect::<Option<_>>()?;
        (functions.len() == slots).then_some(Self {
            build_id,
            table,
            functions,
        })
    }
}

/// Where to look, the place to write first.
fn directories() -> Vec<PathBuf> {
    let named = |variable: &str| {
        std::env::var_os(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(directory) = named(DIRECTORY_VARIABLE) {
        return vec![directory];
    }
    let user = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    user.map(|cache| cache.join("tare"))
        .into_iter()
        .chain([PathBuf::from(SHARED_DIRECTORY)])
        .collect()
}

fn path(directory: &Path, build_id: &str) -> PathBuf {
    directory.join(format!("psi-{build_id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned() -> Learned {
        Learned {
            build_id: "ab12".into(),
            table: 0x18_381e0,
            functions: vec![0x68_4470, 0x68_4480],
        }
    }

    #[test]
    fn what_is_printed_is_read_again() {
        assert_eq!(Learned::parse(&learned().print()), Some(learned()));
    }

    #[test]
    fn a_cut_or_changed_file_is_refused() {
        let text = learned().print();
        for end in 0..text.len() {
            assert_eq!(Learned::parse(&text[..end]), None, "cut at {end}");
        }
        assert_eq!(Learned::parse(&text.replace("slots 2", "slots 3")), None);
        assert_eq!(
            Learned::parse(&text.replace("learned 1", "learned 2")),
            None
        );
        assert_eq!(Learned::parse(&text.replace("684470", "x")), None);
    }
}
