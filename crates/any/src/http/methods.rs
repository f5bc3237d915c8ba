//! The methods that have an instrument.

use std::sync::OnceLock;

use engine::{Class, Kind};

use crate::names::create_class;

/// Those of RFC 9110, RFC 5789 and WebDAV, which nginx knows.
const METHODS: [&str; 16] = [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "CONNECT",
    "TRACE",
    "MKCOL",
    "COPY",
    "MOVE",
    "PROPFIND",
    "PROPPATCH",
    "LOCK",
    "UNLOCK",
];

/// A method.
#[derive(Debug)]
pub struct Method {
    pub name: &'static str,
    pub class: &'static Class,
}

impl Method {
    /// Whether it has an instrument of its own.
    pub fn is_listed(&self) -> bool {
        self.name != OTHER
    }
}

/// The name of other methods.
const OTHER: &str = "?";

struct Methods {
    listed: Vec<Method>,
    other: Method,
}

static TABLE: OnceLock<Methods> = OnceLock::new();

/// Creates and registers the classes of a program's requests.
pub fn create(program: &str) {
    let class = |name: &str, documentation| {
        let path = format!("statement/{program}/{name}");
        create_class(Kind::Statement, path, documentation)
    };
    let listed = |name: &'static str| Method {
        name,
        class: class(&name.to_ascii_lowercase(), "A request with this method."),
    };
    let table = TABLE.get_or_init(|| Methods {
        listed: METHODS.into_iter().map(listed).collect(),
        other: Method {
            name: OTHER,
            class: class(
                "other",
                "Requests with other methods, and what is no request.",
            ),
        },
    });
    for method in table.listed.iter().chain([&table.other]) {
        method.class.register();
    }
}

/// The method of this name, which is in upper case; `other` if it has no instrument. `None` before the start.
pub fn find(name: &[u8]) -> Option<&'static Method> {
    let table = TABLE.get()?;
    let mut listed = table.listed.iter();
    listed
        .find(|method| method.name.as_bytes() == name)
        .or(Some(&table.other))
}
