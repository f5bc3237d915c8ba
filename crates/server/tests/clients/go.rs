//! go-sql-driver/mysql.

use std::process::Command;

use super::login::users;
use super::support::{Directory, PASSWORD, Running};
use super::{output, program};

#[test]
fn go_sql_driver_works() {
    let built = Directory::new();
    let binary = built.path().join("client");
    output(
        Command::new("go")
            .current_dir(program("go"))
            .args(["build", "-mod=mod", "-o"])
            .arg(&binary)
            .arg("."),
    );
    for running in [Running::start(), Running::pool()] {
        users(&running, "go", PASSWORD);
        let mut client = Command::new(&binary);
        client.args([&running.port().to_string(), PASSWORD]);
        assert_eq!(output(&mut client), "fine\n");
    }
}
