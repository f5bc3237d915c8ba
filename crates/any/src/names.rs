//! Classes of instruments. Their names contain the program's name, so they are created at start.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Mutex, OnceLock, PoisonError};

use engine::{Class, Kind, host_lock, thread};

/// The classes of a program.
pub struct Classes {
    program: String,
    /// Files, by [`FileKind`].
    files: Vec<&'static Class>,
    /// Files of a server that has kinds of its own.
    server_files: Option<ServerFiles>,
    pub tcp_listener: &'static Class,
    pub unix_listener: &'static Class,
    pub client: &'static Class,
    pub outgoing: &'static Class,
    pub idle: &'static Class,
    pub sleep: &'static Class,
    pub semaphore: &'static Class,
    pub session: &'static Class,
    main: &'static Class,
    worker: &'static Class,
    /// Classes of threads that the program has named.
    threads: Mutex<HashMap<String, &'static Class>>,
    /// Classes of connections to upstream servers, by their names.
    upstreams: Mutex<HashMap<String, &'static Class>>,
}

/// The most names of threads that get a class of their own.
const MAX_THREAD_CLASSES: usize = 64;
/// The most upstream servers that get a class of their own, and the longest name of one in its class's.
const MAX_UPSTREAM_CLASSES: usize = 64;
const MAX_UPSTREAM_BYTES: usize = 80;

/// What PostgreSQL calls a process that serves a client.
const CLIENT_BACKEND: &str = "client backend";

static CLASSES: OnceLock<Classes> = OnceLock::new();

thread_local! {
    /// The calling thread's class while it is no session. Without a destructor, so that it can be used at any
    /// time in a thread's life.
    static OWN: Cell<Option<&'static Class>> = const { Cell::new(None) };
    /// Whether the calling thread is a session.
    static IS_SESSION: Cell<bool> = const { Cell::new(false) };
}

/// Gives the calling thread a class of its own, which it has while it is no session.
pub fn set_own_class(class: &'static Class, parent: Option<u64>) {
    OWN.set(Some(class));
    match (parent, IS_SESSION.get()) {
        (Some(parent), _) => thread::register_child(class, parent),
        (None, false) => thread::register(class),
        (None, true) => {}
    }
}

/// The calling thread is a client's session from now on, or no more.
pub fn set_session(is_session: bool) {
    let Some(classes) = classes() else { return };
    IS_SESSION.set(is_session);
    thread::register(match (is_session, OWN.get()) {
        (true, _) => classes.session,
        (false, Some(class)) => class,
        (false, None) => classes.main,
    });
}

/// Whether the calling thread is a session.
pub fn is_session() -> bool {
    IS_SESSION.get()
}

/// The program's classes; `None` before the start.
#[inline]
pub fn classes() -> Option<&'static Classes> {
    CLASSES.get()
}

/// Kinds of files that only one server has, and which of them the file of a path is.
pub type ServerKinds = (&'static [FileKind], fn(&str) -> Option<usize>);

/// The classes of these, and which of them is that of a path.
struct ServerFiles {
    classes: Vec<&'static Class>,
    kind_of: fn(&str) -> Option<usize>,
}

/// Creates the classes of a program of this name.
pub fn create(program: &str, server: Option<ServerKinds>) -> &'static Classes {
    CLASSES.get_or_init(|| Classes::new(program, server))
}

/// A class that lives as long as the process.
pub fn create_class(kind: Kind, name: String, documentation: &'static str) -> &'static Class {
    leak(Class::new(
        kind,
        Box::leak(name.into_boxed_str()),
        documentation,
    ))
}

/// The same, of a class that is on at the start, whatever its kind is.
pub fn create_enabled(kind: Kind, name: String, documentation: &'static str) -> &'static Class {
    let class = Class::new(kind, Box::leak(name.into_boxed_str()), documentation);
    leak(class.enabled())
}

fn leak(class: Class) -> &'static Class {
    Box::leak(Box::new(class))
}

/// What a file is for: the last part of its instrument's name, its documentation, and the ends of the names
/// of such files.
pub struct FileKind {
    pub name: &'static str,
    pub documentation: &'static str,
    pub ends: &'static [&'static str],
}

/// The first one whose end fits applies. The last one has all other files.
const FILE_KINDS: [FileKind; 9] = [
    FileKind {
        name: "appendonly",
        documentation: "Files with a log of all changes.",
        ends: &[".aof"],
    },
    FileKind {
        name: "manifest",
        documentation: "Lists of the files of a log of all changes.",
        ends: &[".manifest"],
    },
    FileKind {
        name: "snapshot",
        documentation: "Snapshots of all data.",
        ends: &[".rdb"],
    },
    FileKind {
        name: "config",
        documentation: "Configuration files.",
        ends: &[".conf", ".cnf", ".ini", ".acl", ".yaml", ".yml", ".toml"],
    },
    FileKind {
        name: "log",
        documentation: "Logs.",
        ends: &[".log", ".err"],
    },
    FileKind {
        name: "pid",
        documentation: "Files with the number of the process.",
        ends: &[".pid"],
    },
    FileKind {
        name: "library",
        documentation: "Shared libraries.",
        ends: &[".so"],
    },
    FileKind {
        name: "system",
        documentation: "Files of /proc, /sys and /dev.",
        ends: &[],
    },
    FileKind {
        name: "data",
        documentation: "All other files.",
        ends: &[],
    },
];
const SYSTEM: usize = FILE_KINDS.len() - 2;
const DATA: usize = FILE_KINDS.len() - 1;

/// Index in [`FILE_KINDS`] of the file with this path.
fn file_kind(path: &[u8]) -> usize {
    let tops = [&b"/proc/"[..], b"/sys/", b"/dev/"];
    if tops.iter().any(|top| path.starts_with(top)) {
        return SYSTEM;
    }
    let name = match memchr::memrchr(b'/', path) {
        Some(at) => &path[at + 1..],
        None => path,
    };
    // All ends begin with a dot.
    if !name.contains(&b'.') {
        return DATA;
    }
    let ends_so = |kind: &FileKind| kind.ends.iter().any(|end| name.ends_with(end.as_bytes()));
    match FILE_KINDS.iter().position(ends_so) {
        Some(kind) => kind,
        // Shared libraries with a version.
        None if name.windows(4).any(|part| part == b".so.") => FILE_KINDS
            .iter()
            .position(|kind| kind.name == "library")
            .unwrap_or(DATA),
        None => DATA,
    }
}

impl Classes {
    fn new(program: &str, server: Option<ServerKinds>) -> Self {
        let wait = |kind, path: &str, documentation| {
            create_class(kind, format!("wait/io/{path}"), documentation)
        };
        let socket = |name: &str, documentation| {
            wait(
                Kind::Socket,
                &format!("socket/{program}/{name}"),
                documentation,
            )
        };
        let thread = |name: &str, documentation| {
            create_class(
                Kind::Thread,
                format!("thread/{program}/{name}"),
                documentation,
            )
        };
        let file = |kind: &FileKind| {
            wait(
                Kind::File,
                &format!("file/{program}/{}", kind.name),
                kind.documentation,
            )
        };
        let server_files = server.map(|(kinds, kind_of)| ServerFiles {
            classes: kinds.iter().map(file).collect(),
            kind_of,
        });
        // A thread of its own may be a session.
        let session_name = match server {
            Some(_) => CLIENT_BACKEND,
            None => "client",
        };
        let session = Class::new(
            Kind::Thread,
            Box::leak(format!("thread/{program}/{session_name}").into_boxed_str()),
            "Sessions of clients.",
        );
        Self {
            files: FILE_KINDS.iter().map(file).collect(),
            server_files,
            tcp_listener: socket(
                "server_tcpip_socket",
                "Sockets on which the program listens.",
            ),
            unix_listener: socket(
                "server_unix_socket",
                "Unix sockets on which the program listens.",
            ),
            client: socket("client_connection", "Connections of clients."),
            outgoing: socket(
                "outgoing_connection",
                "Connections that the program opened.",
            ),
            idle: create_class(
                Kind::Idle,
                "idle".into(),
                "Threads that wait for something to do.",
            ),
            sleep: create_enabled(
                Kind::Cond,
                format!("wait/synch/cond/{program}/sleep"),
                "Sleeps.",
            ),
            semaphore: create_enabled(
                Kind::Cond,
                format!("wait/synch/cond/{program}/semaphore"),
                "Waits for semaphores.",
            ),
            session: Box::leak(Box::new(session.user())),
            main: thread("main", "The first thread."),
            worker: thread("worker", "Threads without a name."),
            threads: Mutex::default(),
            upstreams: Mutex::default(),
            program: program.to_owned(),
        }
    }

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The class of the file with this path.
    pub fn file(&self, path: &str) -> &'static Class {
        let server = self.server_files.as_ref();
        let of_server = server.and_then(|files| Some(files.classes[(files.kind_of)(path)?]));
        of_server.unwrap_or_else(|| self.files[file_kind(path.as_bytes())])
    }

    /// The class of the file with this path, which may be no UTF-8.
    pub fn file_at(&self, path: &CStr) -> &'static Class {
        match self.server_files {
            None => self.files[file_kind(path.to_bytes())],
            Some(_) => self.file(&path.to_string_lossy()),
        }
    }

    /// Registers all classes, so that setup_instruments lists them before their first event.
    pub fn register(&self) {
        let of_server = self.server_files.iter().flat_map(|files| &files.classes);
        for class in self.files.iter().chain(of_server) {
            class.register();
        }
        for class in [
            self.tcp_listener,
            self.unix_listener,
            self.client,
            self.outgoing,
            self.idle,
            self.sleep,
            self.semaphore,
        ] {
            class.register();
        }
        for class in [self.session, self.main, self.worker] {
            class.register();
        }
    }

    /// The class of the program's first thread.
    pub fn main(&self) -> &'static Class {
        self.main
    }

    /// The class of threads that have no name yet.
    pub fn worker(&self) -> &'static Class {
        self.worker
    }

    /// The class of connections to the upstream server of this name. If that of other outgoing connections is on, so is
    /// a new one.
    pub fn upstream(&self, name: &str) -> &'static Class {
        let mut upstreams = self
            .upstreams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(class) = upstreams.get(name) {
            return class;
        }
        if upstreams.len() >= MAX_UPSTREAM_CLASSES {
            return self.outgoing;
        }
        let sign = |char: char| match char.is_control() || char.is_whitespace() {
            true => '_',
            false => char,
        };
        let end = name.floor_char_boundary(MAX_UPSTREAM_BYTES);
        let part: String = name[..end].chars().map(sign).collect();
        let path = format!("wait/io/socket/{}/upstream/{part}", self.program);
        let documentation = "Connections to this upstream server.";
        let create = match host_lock::is_observed(host_lock::class_number(self.outgoing)) {
            true => create_enabled,
            false => create_class,
        };
        let class = create(Kind::Socket, path, documentation);
        upstreams.insert(name.to_owned(), class);
        class
    }

    /// The class of threads with this name.
    pub fn thread(&self, name: &str) -> &'static Class {
        if self.server_files.is_some() && name == CLIENT_BACKEND {
            return self.session;
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(class) = threads.get(name) {
            return class;
        }
        if name.is_empty() || threads.len() >= MAX_THREAD_CLASSES {
            return self.worker;
        }
        let class = create_class(
            Kind::Thread,
            format!("thread/{}/{name}", self.program),
            "Threads of this name.",
        );
        threads.insert(name.to_owned(), class);
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_classified_by_their_names() {
        let kind = |path: &str| FILE_KINDS[file_kind(path.as_bytes())].name;
        assert_eq!(
            kind("/var/lib/redis/appendonlydir/appendonly.aof.1.incr.aof"),
            "appendonly"
        );
        assert_eq!(
            kind("/var/lib/redis/appendonlydir/appendonly.aof.manifest"),
            "manifest"
        );
        assert_eq!(kind("/var/lib/redis/temp-17.rdb"), "snapshot");
        assert_eq!(kind("/usr/lib/libssl.so.3"), "library");
        assert_eq!(kind("/proc/self/smaps"), "system");
        assert_eq!(kind("/var/lib/app/table.42"), "data");
        assert_eq!(kind(""), "data");
    }
}
