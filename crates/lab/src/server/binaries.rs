//! The programs that a run starts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::recipe::{Build, Recipe};

/// How to build a tare without instrumentation.
pub const PLAIN_BUILD_NEEDED: &str = "there is no tare without instrumentation here: build one with CARGO_TARGET_DIR=target/plain \
                            cargo build --release -p tare-cli --no-default-features, or give --plain PATH";

/// The paths of the programs.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// This program.
    pub tare: PathBuf,
    /// A tare without instrumentation, if `--plain` or the build folder has one.
    pub plain: Option<PathBuf>,
    /// scripts/servers of the checkout.
    pub servers: Option<PathBuf>,
    /// libtare_any.so, or why there is none.
    pub any: Result<PathBuf, String>,
}

impl Binaries {
    /// Searches the folders above the program and above the working directory.
    pub fn locate(tare: PathBuf, plain: Option<PathBuf>, any: Result<PathBuf, String>) -> Self {
        let above = |path: &Path| path.ancestors().map(Path::to_owned).collect::<Vec<_>>();
        let mut folders: Vec<PathBuf> = tare.parent().map(above).unwrap_or_default();
        folders.extend(std::env::current_dir().iter().flat_map(|here| above(here)));
        let first = |name: &str| {
            let mut paths = folders.iter().map(|folder| folder.join(name));
            paths.find(|path| path.is_file())
        };
        Self {
            plain: plain.or_else(|| first("target/plain/release/tare")),
            servers: first("scripts/servers"),
            any,
            tare,
        }
    }

    /// Builds a tare without instrumentation from the checkout, if a recipe needs it and there is none.
    ///
    /// # Errors
    /// There is no checkout, or cargo failed: a sentence that says what else can be done.
    pub fn build_missing(&mut self, recipe: &Recipe) -> Result<(), String> {
        let (needs, others): (Vec<_>, Vec<_>) =
            (recipe.configurations.iter()).partition(|each| each.build == Build::Plain);
        if self.plain.is_some() || needs.is_empty() {
            return Ok(());
        }
        self.plain = self.build_plain();
        if self.plain.is_some() {
            return Ok(());
        }
        let needs: Vec<&str> = needs.iter().map(|each| each.name.as_str()).collect();
        let others: Vec<String> = (others.iter())
            .map(|each| format!("--configuration '{}'", each.name))
            .collect();
        Err(format!(
            "{PLAIN_BUILD_NEEDED}. Without {}: {}",
            needs.join(", "),
            others.join(" ")
        ))
    }

    /// Runs cargo, whose messages go to standard error.
    fn build_plain(&self) -> Option<PathBuf> {
        let checkout = self.servers.as_deref()?.parent()?.parent()?;
        let target = checkout.join("target/plain");
        eprintln!(
            "tare: building a tare without instrumentation in {}, which takes some minutes once",
            target.display()
        );
        let built = Command::new("cargo")
            .args([
                "build",
                "--release",
                "-p",
                "tare-cli",
                "--no-default-features",
            ])
            .current_dir(checkout)
            .env("CARGO_TARGET_DIR", &target)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        let program = target.join("release/tare");
        let is_built = built.is_ok_and(|status| status.success()) && program.is_file();
        is_built.then_some(program)
    }
}
