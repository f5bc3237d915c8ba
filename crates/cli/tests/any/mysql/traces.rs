//! The traces of statements, from query attributes and from the user variable.

use super::super::servers::Version;
use super::super::traceparent;
use super::Server;

#[test]
fn query_attributes_and_the_variable_have_the_trace_of_a_statement() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    let server = Server::start(Version::Mysql97, &[]);
    let socket = server.directory.path().join("mysql.sock");
    let pid = server.pid.to_string();
    let ways = ["attribute", "prepared", "comment", "variable"];
    traceparent::check(&server.directory, &socket, ["--pid", &pid], &ways, true);
}
