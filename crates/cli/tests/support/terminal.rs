//! A pseudo-terminal: its output, and the keys typed into it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use super::{Directory, Process, wait_for};

/// A pseudo-terminal and the command that runs on it.
pub struct Terminal {
    pub running: Process,
    keyboard: File,
    pub output: Arc<Mutex<String>>,
    settings: Box<dyn Fn() -> bool>,
}

/// Escape sequences that enter the alternate screen and leave it.
pub const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h";
pub const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?1049l";

impl Terminal {
    /// `tare top` on a terminal of its own, of 100 by 30.
    pub fn start(socket: &Path) -> Self {
        let directory = Directory::new("pty");
        let dsn = socket.to_str().expect("UTF-8");
        Self::of(&mut directory.tare(["top", "-i", "0.2", "--dsn", dsn]))
    }

    /// A command on such a terminal.
    pub fn of(command: &mut Command) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let size = Winsize {
            ws_row: 30,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).expect("a size");
        let name = ptsname(&master, Vec::new())
            .expect("a name")
            .into_string()
            .expect("UTF-8");
        let slave: OwnedFd = File::options()
            .read(true)
            .write(true)
            .open(name)
            .expect("opened")
            .into();
        let tty = slave.try_clone().expect("cloned");
        command
            .stdin(Stdio::from(slave.try_clone().expect("cloned")))
            .stderr(Stdio::from(slave.try_clone().expect("cloned")));
        let running = Process::start_on(command, Stdio::from(slave));
        let output = Arc::new(Mutex::new(String::new()));
        let mut screen = File::from(master.try_clone().expect("cloned"));
        let text = output.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut bytes) {
                text.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..length]));
            }
        });
        let settings = Box::new(move || {
            tcgetattr(&tty)
                .expect("settings")
                .local_modes
                .contains(LocalModes::ICANON | LocalModes::ECHO)
        });
        Self {
            running,
            keyboard: File::from(master),
            output,
            settings,
        }
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        let size = rustix::termios::Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.keyboard, size).expect("a size");
        self.running.signal("WINCH");
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("pressed");
    }

    /// Waits for a text, and discards the output up to its end.
    pub fn wait_for_text(&self, text: &str) {
        wait_for(text, || {
            let mut output = self.output.lock().unwrap();
            let end = output.find(text)? + text.len();
            output.drain(..end);
            Some(())
        });
    }

    /// Whether the terminal echoes and reads line by line, as a shell leaves it.
    pub fn has_line_mode(&self) -> bool {
        (self.settings)()
    }
}
