//! MySQL Connector/J: plain and prepared statements, batches, and DatabaseMetaData.

use std::process::Command;

use super::login::users;
use super::support::{Directory, PASSWORD, Running};
use super::{output, program, root};

#[test]
fn connector_j_works_in_all_its_modes() {
    let jar = root().join("target/clients/mysql-connector-j.jar");
    assert!(jar.exists(), "no {}; run `make deps`", jar.display());
    let classes = Directory::new();
    let path = format!("{}:{}", jar.display(), classes.path().display());
    output(
        Command::new("javac")
            .args(["-cp", &path, "-d"])
            .arg(classes.path())
            .arg(program("Client.java")),
    );
    for running in [Running::start(), Running::pool()] {
        users(&running, "java", PASSWORD);
        let text = output(
            Command::new("java")
                .args([
                    "-Xshare:auto",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    &path,
                    "Client",
                ])
                .args([&running.port().to_string(), PASSWORD]),
        );
        assert!(text.ends_with("fine\n"), "{text}");
    }
}
