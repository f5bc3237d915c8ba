//! How the tools reach a server: MySQL's options, option files, TLS; and what they say when they do not.

mod support;

use support::server::Server;
use support::{Directory, Finished, Running, finish};

/// A `tare serve` on TCP, with root's password `pass`.
struct Served {
    running: Running,
    directory: Directory,
    port: String,
}

fn serve(test: &str, options: &[&str]) -> Served {
    serve_in(Directory::new(test), options)
}

fn serve_in(directory: Directory, options: &[&str]) -> Served {
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
    let mut running = Running::start(&mut command);
    let port = loop {
        let line = running.line();
        if let Some((_, port)) = line.trim().rsplit_once("Listening on 127.0.0.1:") {
            break port.to_owned();
        }
    };
    Served {
        running,
        directory,
        port,
    }
}

impl Served {
    fn tare(&self, arguments: &[&str]) -> Finished {
        let mut command = self.directory.tare(arguments);
        command
            .env("HOME", self.directory.path())
            .env_remove("MYSQL_PWD")
            .env_remove("XDG_CONFIG_HOME");
        finish(&mut command)
    }

    /// `tare sql` with these options, asked which cipher its connection has.
    fn cipher(&self, options: &[&str]) -> Finished {
        let ask = "SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Ssl_cipher'";
        let all = [&["sql", "-e", ask][..], options].concat();
        self.tare(&all)
    }
}

fn is_encrypted(finished: &Finished, what: &str) {
    assert_eq!(finished.code, Some(0), "{what}: {finished:?}");
    assert!(finished.stdout.contains("TLS_"), "{what}: {finished:?}");
}

fn is_plain(finished: &Finished, what: &str) {
    assert_eq!(finished.code, Some(0), "{what}: {finished:?}");
    assert!(!finished.stdout.contains("TLS_"), "{what}: {finished:?}");
}

fn says(finished: &Finished, code: i32, words: &[&str]) {
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
    is_encrypted(&served.cipher(&tcp), "TCP");
    is_encrypted(
        &served.cipher(&["-hlocalhost", "-P", port, "-ppass"]),
        "localhost with a port",
    );
    is_plain(&served.cipher(&["-S", "s"]), "the socket, from here");
    is_plain(&served.cipher(&["--dsn", "s"]), "the same");
    is_plain(
        &served.cipher(&[&tcp[..], &["--ssl-mode=DISABLED"]].concat()),
        "without",
    );
    let file = format!(
        "[client]\nhost=127.0.0.1\nport={port}\npassword=pass\n[tare-client]\nssl-mode=REQUIRED\n"
    );
    std::fs::write(served.directory.path().join("own.cnf"), &file).expect("written");
    is_encrypted(
        &served.cipher(&["--defaults-file", "own.cnf"]),
        "an option file",
    );
    says(
        &served.cipher(&["-h", "127.0.0.1", "-P", port]),
        1,
        &["ERROR 1045"],
    );
    std::fs::write(served.directory.path().join(".my.cnf"), &file).expect("written");
    is_encrypted(&served.cipher(&["-u", "root"]), "~/.my.cnf");
    is_plain(
        &served.cipher(&["-S", "s"]),
        "the command line has the last word",
    );
    // The other tools take the same.
    for tool in [
        &["top", "--batch", "1", "-i", "0.2"][..],
        &["querystat", "-i", "0.2", "--for", "0.2"],
        &["explain", "-i", "0.2"],
        #[cfg(feature = "history")]
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
    says(&served.tare(&wrong), 1, &["1045", "'root'@'localhost'"]);
    is_plain(
        &served.cipher(&["-h", "localhost", "-S", "s"]),
        "localhost by its socket",
    );
    says(&served.cipher(&["-S", "s", "--pid", "1"]), 2, &["or --pid"]);
    says(
        &served.cipher(&["-S", "nowhere"]),
        1,
        &["cannot connect", "No such file"],
    );
    says(
        &served.cipher(&["--dsn", "./nowhere"]),
        1,
        &["cannot connect to ./nowhere", "No such file"],
    );
    is_plain(&served.cipher(&["--dsn", "./s"]), "a relative path");
    says(
        &served.cipher(&["--dsn", "localhost:3306"]),
        2,
        &["mysql://USER@HOST:PORT"],
    );
    says(
        &served.cipher(&["--dsn", "mysql://h/?ssl-mode=perhaps"]),
        2,
        &["VERIFY_IDENTITY"],
    );
    says(&served.cipher(&["-p"]), 2, &["no terminal"]);
}

#[test]
fn certificates_are_checked_where_it_is_asked_for() {
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
    is_encrypted(&dsn("ssl-mode=PREFERRED"), "what it can");
    is_encrypted(&dsn("ssl-mode=REQUIRED"), "what it must");
    for mode in ["VERIFY_CA", "VERIFY_IDENTITY"] {
        is_encrypted(&dsn(&format!("ssl-mode={mode}&ssl-ca={own}")), mode);
        says(
            &dsn(&format!("ssl-mode={mode}&ssl-ca={wrong}")),
            1,
            &["cannot connect", "--ssl-ca"],
        );
        says(
            &dsn(&format!("ssl-mode={mode}")),
            1,
            &["cannot connect", "--ssl-ca"],
        );
    }
    is_encrypted(
        &dsn(&format!("ssl-ca={own}")),
        "an authority says that it is to be asked",
    );
    says(
        &dsn("ssl-mode=DISABLED"),
        1,
        &["3159", "--ssl-mode=REQUIRED"],
    );
    // Also of the tool whose client is another one.
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
    says(
        &weigh("?ssl-mode=DISABLED"),
        1,
        &["3159", "--ssl-mode=REQUIRED"],
    );
    let none = serve("none", &["--ssl=OFF"]);
    let options = ["-h", "127.0.0.1", "-P", none.port.as_str(), "-ppass"];
    is_plain(&none.cipher(&options), "preferred");
    let required = none.cipher(&[&options[..], &["--ssl-mode=REQUIRED"]].concat());
    says(&required, 1, &["does not offer TLS", "--ssl-mode=DISABLED"]);
}

#[test]
fn a_mariadb_that_demands_tls_gets_it() {
    let made = serve("made", &[]);
    let file = |name: &str| {
        made.directory
            .path()
            .join("data")
            .join(name)
            .display()
            .to_string()
    };
    // An address of this process alone: no port that somebody else may have.
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
    let finished = made.tare(&["sql", "-S", &socket, "-e", statements]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let ask = |user: &str, more: &[&str]| {
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
        made.tare(&[&options[..], more].concat())
    };
    is_encrypted(&ask("tls", &[]), "demanded");
    let ca = file("ca.pem");
    is_encrypted(
        &ask("tls", &["--ssl-mode=VERIFY_CA", "--ssl-ca", &ca]),
        "checked",
    );
    let identity = ask("tls", &["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca", &ca]);
    says(&identity, 1, &["cannot connect", "another host"]);
    is_plain(&ask("any", &["--ssl-mode=DISABLED"]), "not demanded");
    says(
        &ask("tls", &["--ssl-mode=DISABLED"]),
        1,
        &["ERROR 1045", "--ssl-mode=REQUIRED"],
    );
}

#[test]
fn a_server_that_goes_away_is_told_in_words() {
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
    // A sleep that the end of the server interrupts may still have an answer. What comes after it has none.
    let mariadb = Server::mariadb(&[]);
    let socket = mariadb.socket().to_str().expect("UTF-8").to_owned();
    let finished = served.tare(&[
        "sql",
        "-S",
        &socket,
        "-e",
        "SELECT 1; SHUTDOWN; SELECT SLEEP(100); SELECT SLEEP(100); SELECT SLEEP(100)",
    ]);
    says(&finished, 1, &["ERROR"]);
    drop(mariadb);
    says(
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
        for known in 0..round {
            let user = format!("u{known}");
            let tcp = ["-h", "127.0.0.1", "-P", &served.port, "-u", &user, "-pword"];
            is_encrypted(&served.cipher(&tcp), &user);
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
        let mut top = Running::start(&mut served.directory.tare([&batch[..], server].concat()));
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
    is_encrypted(&served.cipher(&["--dsn", "parts"]), "its parts");
    is_encrypted(&served.cipher(&["--dsn", "file"]), "an option file");
    // No password is needed in it.
    says(&served.cipher(&["--dsn", "address"]), 1, &["ERROR 1045"]);
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
        #[cfg(feature = "history")]
        &["record", "--dir", "history", "--for", "0.2"],
    ] {
        let finished = served.tare(&[tool, &["--dsn", "parts"]].concat());
        assert_eq!(finished.code, Some(0), "{tool:?}: {finished:?}");
    }
    let unknown = served.cipher(&["--dsn", "prod9"]);
    says(
        &unknown,
        2,
        &["'prod9' is no server", "names address, file, parts"],
    );
    // What anybody could have written is not followed.
    mode(0o606);
    let ignored = served.cipher(&["--dsn", "parts"]);
    says(
        &ignored,
        2,
        &["is ignored: everybody may write it", "names none"],
    );
    mode(0o600);
    std::fs::write(&path, "[servers.a]\nprot = 1\n").expect("written");
    says(
        &served.cipher(&["--dsn", "a"]),
        1,
        &["config.toml", "line 2", "unknown field"],
    );
}
