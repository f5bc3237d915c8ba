//! Where the programs are that a run starts.

use std::path::{Path, PathBuf};

use crate::recipe::{Build, Recipe};

/// How one gets a tare without instrumentation.
pub const NO_PLAIN: &str = "there is no tare without instrumentation here: build one with CARGO_TARGET_DIR=target/plain \
                            cargo build --release -p tare-cli --no-default-features, or give --plain PATH";

/// Where programs are.
#[derive(Debug, Clone)]
pub struct Places {
    /// This binary.
    pub tare: PathBuf,
    /// One without instrumentation, when `--plain` or the build folder has it.
    pub plain: Option<PathBuf>,
    /// scripts/servers of the checkout that we run from.
    pub servers: Option<PathBuf>,
}

impl Places {
    /// Looks for them beside and above the binary, and above the working directory.
    pub fn find(tare: PathBuf, plain: Option<PathBuf>) -> Self {
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
            tare,
        }
    }

    /// What a recipe needs and is not here, in a sentence that says how to get it.
    pub fn lack(&self, recipe: &Recipe) -> Option<String> {
        let plain = |build: Build| build == Build::Plain;
        let needs: Vec<&str> = (recipe.configurations.iter())
            .filter(|each| plain(each.build))
            .map(|each| each.name.as_str())
            .collect();
        (self.plain.is_none() && !needs.is_empty()).then(|| {
            let others = (recipe.configurations.iter()).filter(|each| !plain(each.build));
            let others: Vec<String> = others
                .map(|each| format!("--configuration '{}'", each.name))
                .collect();
            format!(
                "{NO_PLAIN}. Without {}: {}",
                needs.join(", "),
                others.join(" ")
            )
        })
    }
}
