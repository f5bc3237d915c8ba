//! `tare ps` end to end.

mod support;

use support::server::Server;
use support::{Directory, finish, host};

fn list(directory: &Directory) -> Vec<serde_json::Value> {
    let finished = finish(&mut directory.tare(["ps", "--format", "json"]));
    assert_eq!(
        (finished.code, finished.stderr.as_str()),
        (Some(0), ""),
        "{finished:?}"
    );
    serde_json::from_str(&finished.stdout).expect("JSON")
}

#[test]
fn a_running_program_is_listed_with_its_facts() {
    let directory = Directory::new("ps");
    let host = host::start(&directory);
    let rows = list(&directory);
    let row = rows
        .iter()
        .find(|row| row["PID"] == host.pid())
        .expect("it is listed");
    assert!(row["THREADS"].as_u64().expect("a number") >= 1, "{row}");
    assert!(row["EVENTS"].as_u64().expect("a number") >= 2, "{row}");
    assert_eq!(row["LAYOUT"], tare_layout::LAYOUT_VERSION);
    assert!(row["REMARK"].is_null(), "{row}");

    // `tare sql` accepts its path.
    let path = row["SEGMENT"].as_str().expect("text");
    let finished = finish(&mut directory.tare([
        "sql",
        "--segment",
        path,
        "-e",
        "SELECT pid FROM tare.segments",
    ]));
    assert_eq!(
        finished.stdout,
        format!("pid\n{}\n", host.pid()),
        "{finished:?}"
    );

    let pid = host.pid();
    drop(host);
    assert!(
        list(&directory).iter().all(|row| row["PID"] != pid),
        "it has ended"
    );
}

/// Columns distinguish several servers of one program.
#[test]
fn servers_are_listed_with_directory_socket_and_version() {
    let servers = [Server::tare(&[]), Server::tare(&[])];
    let directory = Directory::new("apart");
    let rows = list(&directory);
    let version = finish(&mut directory.tare(["--version"])).stdout;
    let mut data = Vec::new();
    for server in &servers {
        let row = rows
            .iter()
            .find(|row| row["PID"] == server.pid())
            .expect("it is listed");
        let version = version.trim_end().strip_prefix("tare ").expect("a version");
        assert_eq!(row["VERSION"], format!("Tare {version}"));
        assert_eq!(row["LISTENS"], server.socket().to_str().expect("text"));
        let own = server.socket().parent().expect("a directory").join("data");
        assert_eq!(row["DATA"], own.to_str().expect("text"));
        data.push(own);
    }
    assert_ne!(data[0], data[1]);
}

#[test]
fn a_segment_of_another_version_is_listed_with_that_remark() {
    use std::os::unix::fs::FileExt;

    let directory = Directory::new("version");
    // This process maps such a file, with its own pid in the header.
    let path = directory.path().join("x.segment");
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .expect("made");
    file.set_len(8192).expect("grows");
    let put =
        |bytes: &[u8], offset: usize| file.write_all_at(bytes, offset as u64).expect("written");
    let version = tare_layout::LAYOUT_VERSION + 7;
    put(
        &version.to_le_bytes(),
        std::mem::offset_of!(tare_layout::header::Header, layout_version),
    );
    put(
        &std::process::id().to_le_bytes(),
        std::mem::offset_of!(tare_layout::header::Header, pid),
    );
    put(&tare_layout::MAGIC.to_le_bytes(), 0);
    // SAFETY: a new mapping at an address of the kernel's choice, which nobody reads or writes.
    let mapping = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            8192,
            rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
            rustix::mm::MapFlags::SHARED,
            &file,
            0,
        )
    };
    mapping.expect("mapped");

    let rows = list(&directory);
    let row = rows
        .iter()
        .find(|row| row["PID"] == std::process::id() && row["LAYOUT"] == version)
        .expect("it is listed");
    assert!(
        row["REMARK"]
            .as_str()
            .expect("a remark")
            .contains("layout version"),
        "{row}"
    );
    assert!(row["THREADS"].is_null() && row["EVENTS"].is_null());
}

#[test]
fn a_server_is_listed_with_its_port() {
    use support::Process;
    let directory = Directory::new("port");
    std::fs::write(directory.path().join("secret"), "pass").expect("written");
    let mut command = directory.tare([
        "serve",
        "--data",
        "data",
        "--port",
        "0",
        "--socket",
        "s",
        "--password-file",
        "secret",
    ]);
    let mut server = Process::start(&mut command);
    let port = loop {
        let line = server.line();
        if let Some((_, port)) = line.trim().rsplit_once("Listening on 127.0.0.1:") {
            break port.to_owned();
        }
    };
    let rows = list(&directory);
    let row = rows.iter().find(|row| row["PID"] == server.pid());
    let listens = row.expect("it is listed")["LISTENS"]
        .as_str()
        .expect("text");
    assert!(listens.starts_with(&port), "{listens}, not {port}");
}
