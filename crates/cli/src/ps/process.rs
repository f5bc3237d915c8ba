//! A process's version, data directory and addresses, from /proc. Nothing is sent to the program.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tare_image::{Image, Recognition, Server, has_server_name};

/// Options that name the data directory: mysqld's and Tare's.
const DATA_OPTIONS: [&str; 2] = ["--datadir", "--data"];

/// The state of a listening socket in /proc/net/tcp (linux/tcp_states.h).
const TCP_LISTEN: &str = "0A";
/// The flag of a listening socket in /proc/net/unix (__SO_ACCEPTCON, linux/net.h).
const SO_ACCEPTCON: u32 = 1 << 16;

/// The server in a process's program file, or this tare.
pub fn version(pid: u32) -> Option<String> {
    let program = PathBuf::from(format!("/proc/{pid}/exe"));
    let same = |a: &Path, b: &Path| {
        let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
        identity(a).is_some() && identity(a) == identity(b)
    };
    if same(&program, Path::new("/proc/self/exe")) {
        return Some(concat!("Tare ", env!("TARE_VERSION")).to_owned());
    }
    recognise(&program).map(|server| server.to_string())
}

/// The release of the MySQL or MariaDB server in a process's program file.
#[cfg(feature = "tools")]
pub fn server_release(pid: u32) -> Option<tare_image::Release> {
    Some(recognise(Path::new(&format!("/proc/{pid}/exe")))?.release)
}

fn recognise(program: &Path) -> Option<Server> {
    match Image::open(program).ok()?.recognise() {
        Recognition::Server(server) => Some(server),
        _ => None,
    }
}

/// The data directory that the command line names, or else a mysqld's working directory.
pub fn data(pid: u32) -> Option<PathBuf> {
    let working_directory = fs::read_link(format!("/proc/{pid}/cwd")).ok();
    match data_option(&arguments(pid)) {
        Some(data) => Some(match working_directory {
            // The server may have changed into its data directory.
            Some(there) if there.ends_with(&data) => there,
            Some(there) => there.join(data),
            None => data,
        }),
        None => {
            let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
            working_directory.filter(|_| has_server_name(&program))
        }
    }
}

/// The arguments of a process.
fn arguments(pid: u32) -> Vec<OsString> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = text.split(|byte| *byte == 0);
    words
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect()
}

/// The data directory that arguments name, the last one of several.
fn data_option(arguments: &[OsString]) -> Option<PathBuf> {
    let mut last = None;
    for (at, argument) in arguments.iter().enumerate() {
        for option in DATA_OPTIONS {
            let rest = argument.as_bytes().strip_prefix(option.as_bytes());
            match rest {
                Some([]) => last = arguments.get(at + 1).map(PathBuf::from),
                Some([b'=', value @ ..]) => last = Some(PathBuf::from(OsStr::from_bytes(value))),
                _ => {}
            }
        }
    }
    last.filter(|path| !path.as_os_str().is_empty())
}

/// TCP ports in order, then sockets by name.
pub fn addresses(pid: u32) -> String {
    let (ports, names) = listeners(pid);
    let ports = ports.iter().map(u16::to_string);
    ports.chain(names).collect::<Vec<_>>().join(", ")
}

/// The TCP ports and the sockets that it listens on.
pub fn listeners(pid: u32) -> (Vec<u16>, Vec<String>) {
    let sockets = sockets(pid);
    let net =
        |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default();
    let mut ports: Vec<u16> = ["tcp", "tcp6"]
        .iter()
        .flat_map(|name| ports(&net(name), &sockets))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    let mut names = names(&net("unix"), &sockets);
    names.sort_unstable();
    (ports, names)
}

/// The inodes of a process's sockets.
fn sockets(pid: u32) -> Vec<u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    entries
        .filter_map(|entry| {
            let target = fs::read_link(entry.ok()?.path()).ok()?;
            let inode = target.to_str()?.strip_prefix("socket:[")?;
            inode.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// The ports of those sockets that listen, from /proc/net/tcp.
fn ports(table: &str, sockets: &[u64]) -> Vec<u16> {
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let inode = fields.get(9)?.parse().ok()?;
        let (_, port) = fields.get(1)?.rsplit_once(':')?;
        let mine = *fields.get(3)? == TCP_LISTEN && sockets.contains(&inode);
        mine.then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().filter_map(port).collect()
}

/// The names of those sockets that listen, from /proc/net/unix.
fn names(table: &str, sockets: &[u64]) -> Vec<String> {
    let name = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let flags = u32::from_str_radix(fields.get(3)?, 16).ok()?;
        let inode = fields.get(6)?;
        // The name is all that follows the inode, because it may contain blanks.
        let (_, name) = line.split_once(&format!(" {inode} "))?;
        let mine = flags & SO_ACCEPTCON != 0 && sockets.contains(&inode.parse().ok()?);
        mine.then(|| name.to_owned())
    };
    table.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_last_directory_that_is_named_counts() {
        let data_option = |text| data_option(&words(text)).map(|path| path.display().to_string());
        assert_eq!(
            data_option("mysqld --datadir=/a --port=1"),
            Some("/a".into())
        );
        assert_eq!(
            data_option("tare serve --data d --datadir e"),
            Some("e".into())
        );
        assert_eq!(data_option("mysqld --data-buffer=1 --datadir"), None);
        assert_eq!(data_option("mysqld"), None);
    }

    #[test]
    fn only_own_listening_sockets_are_listed() {
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             \x20  0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n\
             \x20  1: 0100007F:0CEB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 78 1 0 100 0 0 10 0\n\
             \x20  2: 0100007F:0CEA 0100007F:1000 01 00000000:00000000 00:00000000 00000000     0        0 79 1 0 100 0 0 10 0\n";
        assert_eq!(ports(tcp, &[77, 79]), [3306]);
        let unix = "Num       RefCount Protocol Flags    Type St Inode Path\n\
             00000000d25f2329: 00000002 00000000 00010000 0001 01 80 /tmp/my sql.sock\n\
             00000000d25f2330: 00000003 00000000 00000000 0001 03 81 /tmp/my sql.sock\n\
             00000000d25f2331: 00000003 00000000 00000000 0001 03 82\n";
        assert_eq!(names(unix, &[80, 81, 82]), ["/tmp/my sql.sock"]);
    }
}
