//! A network namespace with a pair of virtual Ethernet devices: a remote client without a second machine.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::error::CellError;

/// The reason why a cell with a namespace is skipped.
pub const NEEDED: &str =
    "a load from another network namespace needs root and ip(8) (Debian: iproute2)";

/// The namespace; it is removed when the value is dropped.
#[derive(Debug)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// The server's address in the namespace.
    pub host: String,
    device: String,
}

impl Namespace {
    /// Creates a namespace.
    ///
    /// # Errors
    /// The user is not root, ip(8) is missing, or the kernel refuses.
    pub fn new() -> Result<Self, CellError> {
        if !rustix::process::geteuid().is_root() {
            return Err(CellError::Skipped(NEEDED.into()));
        }
        let id = std::process::id();
        // 198.18.0.0/15 is for benchmarks between networks (RFC 2544); device names have 15 letters at most.
        let (third, device, other) = (id % 256, format!("tw{id}a"), format!("tw{id}b"));
        let namespace = Self {
            name: format!("tare-weigh-{id}"),
            host: format!("198.18.{third}.1"),
            device: device.clone(),
        };
        let (name, theirs) = (&namespace.name, format!("198.18.{third}.2/24"));
        let ours = format!("{}/24", namespace.host);
        let steps: [&[&str]; 7] = [
            &["netns", "add", name],
            &[
                "link", "add", &device, "type", "veth", "peer", "name", &other,
            ],
            &["link", "set", &other, "netns", name],
            &["address", "add", &ours, "dev", &device],
            &["link", "set", &device, "up"],
            &["-n", name, "address", "add", &theirs, "dev", &other],
            &["-n", name, "link", "set", &other, "up"],
        ];
        for step in steps {
            ip(step)?;
        }
        Ok(namespace)
    }

    /// The words before a command that runs in the namespace.
    pub fn prefix(&self) -> [&str; 4] {
        ["ip", "netns", "exec", &self.name]
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = ip(&["link", "delete", &self.device]);
        let _ = ip(&["netns", "delete", &self.name]);
    }
}

fn ip(arguments: &[&str]) -> Result<(), CellError> {
    let output = Command::new("ip")
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    match output {
        Err(_) => Err(CellError::Skipped(NEEDED.into())),
        Ok(output) if !output.status.success() => {
            let error = String::from_utf8_lossy(&output.stderr);
            let step = arguments.join(" ");
            Err(CellError::Skipped(format!(
                "no network namespace: ip {step}: {}",
                error.trim()
            )))
        }
        Ok(_) => Ok(()),
    }
}

/// A TCP port that is free at the moment.
///
/// # Errors
/// No port is free.
pub fn free_port() -> Result<u16, CellError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(CellError::at("no free port"))?;
    Ok(listener
        .local_addr()
        .map_err(CellError::at("no free port"))?
        .port())
}
