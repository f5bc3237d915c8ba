//! `open.tsv` lists eligible tests that do not pass, each with its class and the reason; `door.txt`
//! lists the tests that run through the door.
//!
//! ```text
//! perfschema.name<TAB>class<TAB>One sentence that says why.
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Why a test does not pass.
pub const CLASSES: [(&str, &str); 3] = [
    (
        "server",
        "about a part of mysqld that Tare has not, such as stored programs, InnoDB or logs",
    ),
    ("design", "Tare answers otherwise on purpose"),
    ("gap", "Tare should answer as MySQL, and does not yet"),
];

/// Reads open.tsv: the class of each test. Panics at a malformed line.
pub fn read_open(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut entries = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [key, class, reason] = fields[..] else {
            panic!("{}: {line:?} is not: test, class, reason", path.display());
        };
        assert!(
            CLASSES.iter().any(|(name, _)| *name == class),
            "{key}: there is no class {class}"
        );
        assert!(!reason.trim().is_empty(), "{key}: no reason");
        let former = entries.insert(key.to_owned(), class.to_owned());
        assert!(former.is_none(), "{key} is listed twice");
    }
    entries
}

/// Reads door.txt.
pub fn read_door(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let keys = text.lines().filter(|line| !line.starts_with('#'));
    let mut tests = BTreeSet::new();
    for key in keys {
        assert!(tests.insert(key.to_owned()), "{key} is listed twice");
    }
    tests
}
