//! How the tools connect to a server: MySQL's options, option files, TLS, and the errors.

mod support;

use std::path::Path;

use support::server::Server;
use support::{CommandResult, Directory, Process, finish, finish_with_input};

/// A `tare serve` on TCP, with root's password `pass`.
struct TareServer {
    running: Process,
    directory: Directory,
    port: String,
}

fn serve(test: &str, options: &[&str]) -> TareServer {
    serve_in(Directory::new(test), options)
}

fn serve_in(directory: Directory, options: &[&str]) -> TareServer {
    std::fs::write(directory.path().join("secret"), "pass").expect("written");
    let arguments = [
        "serve",
        "--data",
        "data",
        "--port",
        "0",
        "--socket",
        "s",
        "--password-file",
        "secret",
    ];
    let mut command = directory.tare(arguments);
    command.args(options);
    let mut running = Process::start(&mut command);
    let port = loop {
        let line = running.line();
        if let Some((_, port)) = line.trim().rsplit_once("Listening on 127.0.0.1:") {
            break port.to_owned();
        }
    };
    TareServer {
        running,
        directory,
        port,
    }
}

impl TareServer {
    fn tare(&self, arguments: &[&str]) -> CommandResult {
        let mut command = self.directory.tare(arguments);
        command
            .env("HOME", self.directory.path())
            .env_remove("MYSQL_PWD")
            .env_remove("XDG_CONFIG_HOME");
        finish(&mut command)
    }

    /// `tare sql` with these options, which prints its connection's cipher.
    fn cipher(&self, options: &[&str]) -> CommandResult {
        let query = "SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Ssl_cipher'";
        let all = [&["sql", "-e", query][..], options].concat();
        self.tare(&all)
    }
}

fn assert_encrypted(finished: &CommandResult, what: &str) {
    assert_eq!(finished.code, Some(0), "{what}: {finished:?}");
    assert!(finished.stdout.contains("TLS_"), "{what}: {finished:?}");
}

fn assert_unencrypted(finished: &CommandResult, what: &str) {
    assert_eq!(finished.code, Some(0), "{what}: {finished:?}");
    assert!(!finished.stdout.contains("TLS_"), "{what}: {finished:?}");
}

fn assert_fails_with(finished: &CommandResult, code: i32, words: &[&str]) {
    assert_eq!(finished.code, Some(code), "{finished:?}");
    for word in words {
        assert!(
            finished.stderr.contains(word),
            "no {word:?} in {finished:?}"
        );
    }
    assert!(!finished.stderr.contains("Error {"), "{finished:?}");
}

#[test]
fn a_server_is_named_as_mysqls_clients_name_it() {
    let served = serve("named", &[]);
    let port = served.port.as_str();
    let tcp = ["-h", "127.0.0.1", "-P", port, "-u", "root", "-ppass"];
    assert_encrypted(&served.cipher(&tcp), "TCP");
    assert_encrypted(
        &served.cipher(&["-hlocalhost", "-P", port, "-ppass"]),
        "localhost with a port",
    );
    assert_unencrypted(&served.cipher(&["-S", "s"]), "the socket, from here");
    assert_unencrypted(&served.cipher(&["--dsn", "s"]), "the same");
    assert_unencrypted(
        &served.cipher(&[&tcp[..], &["--ssl-mode=DISABLED"]].concat()),
        "without",
    );
    let file = format!(
        "[client]\nhost=127.0.0.1\nport={port}\npassword=pass\n[tare-client]\nssl-mode=REQUIRED\n"
    );
    std::fs::write(served.directory.path().join("own.cnf"), &file).expect("written");
    assert_encrypted(
        &served.cipher(&["--defaults-file", "own.cnf"]),
        "an option file",
    );
    assert_fails_with(
        &served.cipher(&["-h", "127.0.0.1", "-P", port]),
        1,
        &["ERROR 1045"],
    );
    std::fs::write(served.directory.path().join(".my.cnf"), &file).expect("written");
    assert_encrypted(&served.cipher(&["-u", "root"]), "~/.my.cnf");
    assert_unencrypted(
        &served.cipher(&["-S", "s"]),
        "the command line overrides the file",
    );
    // The other tools take the same.
    for tool in [
        &["top", "--batch", "1", "-i", "0.2"][..],
        &["querystat", "-i", "0.2", "--for", "0.2"],
        &["explain", "-i", "0.2"],
        #[cfg(feature = "tools")]
        &["record", "--dir", "history", "--for", "0.2"],
    ] {
        let finished = served.tare(&[tool, &tcp[..]].concat());
        assert_eq!(finished.code, Some(0), "{tool:?}: {finished:?}");
    }
    let weigh = [
        "weigh",
        "own",
        "--seconds",
        "1",
        "-h",
        "127.0.0.1",
        "-P",
        port,
    ];
    let wrong = [&weigh[..], &["-u", "root", "-pwrong"]].concat();
    assert_fails_with(&served.tare(&wrong), 1, &["1045", "'root'@'localhost'"]);
    assert_unencrypted(
        &served.cipher(&["-h", "localhost", "-S", "s"]),
        "localhost by its socket",
    );
    assert_fails_with(&served.cipher(&["-S", "s", "--pid", "1"]), 2, &["or --pid"]);
    assert_fails_with(
        &served.cipher(&["-S", "nowhere"]),
        1,
        &["cannot connect", "No such file"],
    );
    assert_fails_with(
        &served.cipher(&["--dsn", "./nowhere"]),
        1,
        &["cannot connect to ./nowhere", "No such file"],
    );
    assert_unencrypted(&served.cipher(&["--dsn", "./s"]), "a relative path");
    assert_fails_with(
        &served.cipher(&["--dsn", "localhost:3306"]),
        2,
        &["mysql://USER@HOST:PORT"],
    );
    assert_fails_with(
        &served.cipher(&["--dsn", "mysql://h/?ssl-mode=perhaps"]),
        2,
        &["VERIFY_IDENTITY"],
    );
    assert_fails_with(&served.cipher(&["-p"]), 2, &["no terminal"]);
}

#[test]
fn certificates_are_verified_on_request() {
    let served = serve("certificates", &["--require-secure-transport"]);
    let other = serve("authority", &[]);
    let own = served
        .directory
        .path()
        .join("data/ca.pem")
        .display()
        .to_string();
    let wrong = other
        .directory
        .path()
        .join("data/ca.pem")
        .display()
        .to_string();
    let dsn = |query: &str| {
        let url = format!("mysql://root:pass@127.0.0.1:{}/?{query}", served.port);
        served.cipher(&["--dsn", &url])
    };
    assert_encrypted(&dsn("ssl-mode=PREFERRED"), "what it can");
    assert_encrypted(&dsn("ssl-mode=REQUIRED"), "what it must");
    for mode in ["VERIFY_CA", "VERIFY_IDENTITY"] {
        assert_encrypted(&dsn(&format!("ssl-mode={mode}&ssl-ca={own}")), mode);
        assert_fails_with(
            &dsn(&format!("ssl-mode={mode}&ssl-ca={wrong}")),
            1,
            &["cannot connect", "--ssl-ca"],
        );
        assert_fails_with(
            &dsn(&format!("ssl-mode={mode}")),
            1,
            &["cannot connect", "--ssl-ca"],
        );
    }
    assert_encrypted(
        &dsn(&format!("ssl-ca={own}")),
        "ssl-ca implies verification",
    );
    assert_fails_with(
        &dsn("ssl-mode=DISABLED"),
        1,
        &["3159", "--ssl-mode=REQUIRED"],
    );
    // `tare weigh` connects with another client library.
    let url = format!("mysql://root:pass@127.0.0.1:{}/", served.port);
    let weigh = |query: &str| {
        served.tare(&[
            "weigh",
            "own",
            "--dsn",
            &format!("{url}{query}"),
            "--seconds",
            "1",
        ])
    };
    assert_fails_with(
        &weigh("?ssl-mode=DISABLED"),
        1,
        &["3159", "--ssl-mode=REQUIRED"],
    );
    let none = serve("none", &["--ssl=OFF"]);
    let options = ["-h", "127.0.0.1", "-P", none.port.as_str(), "-ppass"];
    assert_unencrypted(&none.cipher(&options), "preferred");
    let required = none.cipher(&[&options[..], &["--ssl-mode=REQUIRED"]].concat());
    assert_fails_with(&required, 1, &["does not offer TLS", "--ssl-mode=DISABLED"]);
}

#[test]
fn a_mariadb_that_demands_tls_gets_it() {
    let certificates = serve("made", &[]);
    let file = |name: &str| {
        certificates
            .directory
            .path()
            .join("data")
            .join(name)
            .display()
            .to_string()
    };
    // A loopback address per test process, so that no two tests share a port.
    let pid = std::process::id();
    let host = format!("127.{}.{}.{}", 1 + (pid >> 16), (pid >> 8) & 255, pid & 255);
    let server = Server::mariadb(&[
        "--skip-networking=0",
        "--port=33061",
        &format!("--bind-address={host}"),
        &format!("--ssl-ca={}", file("ca.pem")),
        &format!("--ssl-cert={}", file("server-cert.pem")),
        &format!("--ssl-key={}", file("server-key.pem")),
    ]);
    let statements =
        "CREATE USER tls@'%' IDENTIFIED BY 'p' REQUIRE SSL; CREATE USER any@'%' IDENTIFIED BY 'p'";
    let socket = server.socket().to_str().expect("UTF-8").to_owned();
    let finished = certificates.tare(&["sql", "-S", &socket, "-e", statements]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let query = |user: &str, more: &[&str]| {
        let options = [
            "sql",
            "-h",
            &host,
            "-P",
            "33061",
            "-u",
            user,
            "-pp",
            "-e",
            "SHOW STATUS LIKE 'Ssl_cipher'",
        ];
        certificates.tare(&[&options[..], more].concat())
    };
    assert_encrypted(&query("tls", &[]), "demanded");
    let ca = file("ca.pem");
    assert_encrypted(
        &query("tls", &["--ssl-mode=VERIFY_CA", "--ssl-ca", &ca]),
        "checked",
    );
    let identity = query("tls", &["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca", &ca]);
    assert_fails_with(&identity, 1, &["cannot connect", "another host"]);
    assert_unencrypted(&query("any", &["--ssl-mode=DISABLED"]), "not demanded");
    assert_fails_with(
        &query("tls", &["--ssl-mode=DISABLED"]),
        1,
        &["ERROR 1045", "--ssl-mode=REQUIRED"],
    );
}

#[test]
fn the_message_about_a_lost_server_is_plain_text() {
    let served = serve("gone", &[]);
    for server in [
        vec!["-S", "s"],
        vec!["-h", "127.0.0.1", "-P", &served.port, "-ppass"],
    ] {
        let all = [
            &["sql", "-e", "KILL CONNECTION_ID(); SELECT 1"],
            &server[..],
        ]
        .concat();
        let finished = served.tare(&all);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(!finished.stderr.contains("CodecError"), "{finished:?}");
        assert!(!finished.stderr.contains("IoError"), "{finished:?}");
    }
    // The first sleep may still be answered when the shutdown interrupts it; those after it are not.
    let mariadb = Server::mariadb(&[]);
    let socket = mariadb.socket().to_str().expect("UTF-8").to_owned();
    let finished = served.tare(&[
        "sql",
        "-S",
        &socket,
        "-e",
        "SELECT 1; SHUTDOWN; SELECT SLEEP(100); SELECT SLEEP(100); SELECT SLEEP(100)",
    ]);
    assert_fails_with(&finished, 1, &["ERROR"]);
    drop(mariadb);
    assert_fails_with(
        &served.tare(&["sql", "-S", &socket, "-e", "SELECT 1"]),
        1,
        &["cannot connect"],
    );
}

#[test]
fn users_survive_a_kill() {
    let mut directory = Directory::new("users");
    for round in 0..4 {
        let mut served = serve_in(directory, &[]);
        for earlier in 0..round {
            let user = format!("u{earlier}");
            let tcp = ["-h", "127.0.0.1", "-P", &served.port, "-u", &user, "-pword"];
            assert_encrypted(&served.cipher(&tcp), &user);
        }
        let create = format!("CREATE USER u{round} IDENTIFIED BY 'word'");
        let finished = served.tare(&["sql", "-S", "s", "-e", &create]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        served.running.signal("KILL");
        served.running.wait();
        directory = served.directory;
    }
}

#[test]
fn a_password_does_not_stay_on_the_command_line() {
    let served = serve("hidden", &[]);
    let url = format!("mysql://root:pass@127.0.0.1:{}/", served.port);
    let port = served.port.as_str();
    for server in [
        &["--dsn", &url][..],
        &["-h", "127.0.0.1", "-P", port, "-ppass"],
        &["-h", "127.0.0.1", "-P", port, "--password=pass"],
    ] {
        let batch = ["top", "--batch", "1000000", "-i", "0.2"];
        let mut top = Process::start(&mut served.directory.tare([&batch[..], server].concat()));
        top.line();
        let words = std::fs::read_to_string(format!("/proc/{}/cmdline", top.pid()));
        let words = words.expect("it runs");
        assert!(
            words.contains("--batch") && !words.contains("pass\0") && !words.contains(":pass"),
            "{words:?}"
        );
    }
}

#[test]
fn a_server_is_reached_by_the_name_that_config_toml_gives_it() {
    use std::os::unix::fs::PermissionsExt;

    let served = serve("named", &[]);
    let folder = served.directory.path().join(".config/tare");
    std::fs::create_dir_all(&folder).expect("made");
    let path = folder.join("config.toml");
    let port = &served.port;
    let text = format!(
        "[servers.address]\ndsn = 'mysql://root@127.0.0.1:{port}'\n\
         [servers.parts]\nhost = '127.0.0.1'\nport = {port}\nuser = 'root'\npassword = 'pass'\nssl-mode = 'REQUIRED'\n\
         [servers.file]\ndefaults-file = '~/own.cnf'\n"
    );
    std::fs::write(&path, text).expect("written");
    let own = format!("[client]\nhost=127.0.0.1\nport={port}\npassword=pass\n");
    std::fs::write(served.directory.path().join("own.cnf"), own).expect("written");
    let mode = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, mode).expect("set");
    };
    mode(0o600);
    assert_encrypted(&served.cipher(&["--dsn", "parts"]), "its parts");
    assert_encrypted(&served.cipher(&["--dsn", "file"]), "an option file");
    // No password is needed in it.
    assert_fails_with(&served.cipher(&["--dsn", "address"]), 1, &["ERROR 1045"]);
    let mut command = served
        .directory
        .tare(["sql", "--dsn", "address", "-e", "SELECT 1"]);
    command
        .env("HOME", served.directory.path())
        .env_remove("XDG_CONFIG_HOME")
        .env("MYSQL_PWD", "pass");
    let finished = finish(&mut command);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for tool in [
        &["top", "--batch", "1", "-i", "0.2"][..],
        &["querystat", "-i", "0.2", "--for", "0.2"],
        &["explain", "-i", "0.2"],
        #[cfg(feature = "tools")]
        &["record", "--dir", "history", "--for", "0.2"],
    ] {
        let finished = served.tare(&[tool, &["--dsn", "parts"]].concat());
        assert_eq!(finished.code, Some(0), "{tool:?}: {finished:?}");
    }
    let unknown = served.cipher(&["--dsn", "prod9"]);
    assert_fails_with(
        &unknown,
        2,
        &["'prod9' is no server", "names address, file, parts"],
    );
    // A file that everybody may write is ignored.
    mode(0o606);
    let ignored = served.cipher(&["--dsn", "parts"]);
    assert_fails_with(
        &ignored,
        2,
        &["is ignored: everybody may write it", "names none"],
    );
    mode(0o600);
    std::fs::write(&path, "[servers.a]\nprot = 1\n").expect("written");
    assert_fails_with(
        &served.cipher(&["--dsn", "a"]),
        1,
        &["config.toml", "line 2", "unknown field"],
    );
}

/// The first steps of README.
#[test]
fn the_example_of_a_shop_runs() {
    let mut server = serve("shop", &[]);
    let tare = |arguments: &[&str]| {
        server
            .directory
            .tare([&["sql", "--dsn", "s"], arguments].concat())
    };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop.sql");
    let filled = finish_with_input(
        &mut tare(&[]),
        &std::fs::read_to_string(example).expect("the example"),
    );
    assert_eq!(
        (filled.code, filled.stderr.as_str()),
        (Some(0), ""),
        "{filled:?}"
    );
    let query = "SELECT query, total_latency FROM sys.statement_analysis WHERE db = 'shop' LIMIT 4";
    let read = finish(&mut tare(&["-e", query]));
    assert_eq!(
        (read.code, read.stdout.lines().count()),
        (Some(0), 5),
        "{read:?}"
    );
    server.running.signal("TERM");
    assert!(server.running.wait().success());
}
