//! Logins of clients: caching_sha2_password and mysql_native_password, with and without TLS.

use std::process::Command;

use super::support::{Running, exec};
use super::{output, program, root};

const WORD: &str = "a user's password";

/// Users `sha2_NAME` and `native_NAME`, which have not logged in yet.
pub fn users(running: &Running, name: &str, password: &str) {
    for (user, plugin) in [
        ("sha2", "caching_sha2_password"),
        ("native", "mysql_native_password"),
    ] {
        let sql = format!("CREATE USER {user}_{name} IDENTIFIED WITH {plugin} BY \"{password}\"");
        exec(&mut running.root(), &sql);
    }
}

#[test]
fn python_logs_in_with_both_plugins() {
    for running in [Running::start(), Running::pool()] {
        let ca = running.directory.path().join("ca.pem");
        for library in ["pymysql", "pure", "extension"] {
            users(&running, library, WORD);
            let mut python = Command::new(root().join("target/venv/bin/python"));
            python
                .arg(program("login.py"))
                .args([library, &running.port().to_string()])
                .arg(&ca)
                .arg(WORD);
            assert_eq!(output(&mut python), "fine\n", "{library}");
        }
    }
}

#[test]
fn mariadb_logs_in_with_both_plugins() {
    let running = Running::start();
    users(&running, "mariadb", WORD);
    let ca = format!(
        "--ssl-ca={}",
        running.directory.path().join("ca.pem").display()
    );
    let tls = ["--ssl", "--ssl-verify-server-cert", ca.as_str()];
    let plain = ["--skip-ssl"];
    let query = |user: &str, how: &[&str], password: &str| {
        let port = format!("--port={}", running.port());
        let sql = "SELECT CURRENT_USER(); SHOW STATUS LIKE 'Ssl_cipher'";
        let output = Command::new("mariadb")
            .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", &port])
            .args(how)
            .args([&format!("--user={user}"), &format!("--password={password}")])
            .args(["-N", "-B", "-e", sql])
            .output()
            .expect("mariadb runs");
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let refused = query("sha2_mariadb", &plain, WORD).expect_err("an open wire");
    assert!(
        refused.contains("1045") && refused.contains("TLS"),
        "{refused}"
    );
    let refused = query("sha2_mariadb", &tls, "wrong").expect_err("wrong");
    assert!(refused.contains("1045"), "{refused}");
    for (user, how, cipher) in [
        ("sha2_mariadb", &tls[..], "TLS_"),
        ("sha2_mariadb", &plain, "\n"),
        ("native_mariadb", &plain, "\n"),
        ("native_mariadb", &tls, "TLS_"),
    ] {
        let answer =
            query(user, how, WORD).unwrap_or_else(|error| panic!("{user} {how:?}: {error}"));
        let expected = format!("{user}@%\nSsl_cipher\t{cipher}");
        assert!(answer.starts_with(&expected), "{user} {how:?}: {answer}");
    }
}
