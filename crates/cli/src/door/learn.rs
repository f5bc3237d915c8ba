//! Learning a MariaDB's table of functions: its addresses are in no symbol, but a running server has them
//! behind the exported pointer `PSI_server`, once it has processed performance_schema=ON.
//!
//! The server is started once on an empty directory of its own, without network, grants or InnoDB, and
//! ended as soon as it listens; its memory is read through /proc.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt as _, FileExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tare_image::{Image, Learned, LearnedError, Server};

/// Slots of the table in MariaDB 10.11, counted by a program from mysql/psi/psi.h of libmariadbd-dev:
/// `sizeof(PSI_v1) / sizeof(void *)`.
const SLOTS: usize = 135;

const POINTER: usize = size_of::<u64>();

/// How long the server may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Learns what is not known yet. Says what was done, or why it cannot be.
pub fn if_new(program: &Path, image: &Image, server: &Server) -> Result<Option<String>, String> {
    let build_id = server.build_id.as_deref().unwrap_or_default();
    match Learned::load(build_id) {
        Ok(_) => return Ok(None),
        Err(LearnedError::Missing | LearnedError::Damaged { .. }) => {}
        Err(error) => return Err(error.to_string()),
    }
    let scratch = Scratch::new()?;
    let learned = scratch
        .start(program)
        .and_then(|mut running| running.read(&scratch, image, build_id))
        .map_err(|error| {
            format!(
                "{}: its table of functions could not be learned: {error}",
                program.display()
            )
        })?;
    let path = learned.save().map_err(|error| error.to_string())?;
    Ok(Some(format!(
        "found this build's table of functions; later starts use {}",
        path.display()
    )))
}

/// A directory that goes again.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("tare-learn-{}", std::process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .and_then(|()| fs::create_dir(path.join("data")))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path })
    }

    fn socket(&self) -> PathBuf {
        self.path.join("socket")
    }

    fn start(&self, program: &Path) -> Result<Running, String> {
        let failed = |error: std::io::Error| error.to_string();
        let option = |name: &str, file: &str| {
            let mut text = std::ffi::OsString::from(format!("--{name}="));
            text.push(self.path.join(file));
            text
        };
        let log = File::create(self.path.join("log")).map_err(failed)?;
        let mut command = Command::new(program);
        command
            .args([
                "--no-defaults",
                "--performance-schema=ON",
                "--skip-networking",
                "--skip-grant-tables",
            ])
            .args([
                "--innodb=OFF",
                "--default-storage-engine=MyISAM",
                "--skip-log-bin",
            ])
            .arg(option("datadir", "data"))
            .arg(option("socket", "socket"))
            .arg(option("pid-file", "pid"))
            .env_remove(tare_image::PRELOAD)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log);
        if rustix::process::geteuid().is_root() {
            command.arg("--user=root");
        }
        command.spawn().map(Running).map_err(failed)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the temporary directory.
        let _ = fs::remove_dir_all(&self.path);
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Its data is thrown away.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn read(
        &mut self,
        scratch: &Scratch,
        image: &Image,
        build_id: &str,
    ) -> Result<Learned, String> {
        let deadline = Instant::now() + PATIENCE;
        while !scratch.socket().exists() {
            let ended = self.0.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || Instant::now() > deadline {
                let log = fs::read_to_string(scratch.path.join("log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or("it printed nothing");
                return Err(format!("it did not start on an empty directory: {last}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = self.0.id();
        let base = base(pid, image).ok_or("its mapping was not found")?;
        let memory = File::open(format!("/proc/{pid}/mem")).map_err(|error| error.to_string())?;
        let word = |address: u64| {
            let mut bytes = [0; POINTER];
            memory
                .read_exact_at(&mut bytes, address)
                .map(|()| u64::from_le_bytes(bytes))
                .map_err(|error| format!("its memory cannot be read: {error}"))
        };
        let pointer = image
            .symbol("PSI_server")
            .ok_or("it exports no PSI_server")?;
        let table = word(base.wrapping_add(pointer.address))?;
        let functions = (0..SLOTS as u64)
            .map(|slot| Ok(word(table + slot * POINTER as u64)?.wrapping_sub(base)))
            .collect::<Result<Vec<u64>, String>>()?;
        if let Some(slot) = functions
            .iter()
            .position(|&each| image.room(each).is_none())
        {
            return Err(format!("slot {slot} of its table is not a function"));
        }
        Ok(Learned {
            build_id: build_id.to_owned(),
            table: table.wrapping_sub(base),
            functions,
        })
    }
}

/// What is added to an address as linked: the lowest mapping of the program's file begins where its
/// first loaded segment does.
fn base(pid: u32, image: &Image) -> Option<u64> {
    let program = image.path().canonicalize().ok()?;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let line = maps
        .lines()
        .find(|line| line.ends_with(program.to_string_lossy().as_ref()))?;
    let start = u64::from_str_radix(line.split_once('-')?.0, 16).ok()?;
    Some(start.wrapping_sub(image.first_address()?))
}
