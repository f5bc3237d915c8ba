//! `tare door`: loads Tare's engine into a server that systemd starts.
//!
//! A drop-in of the server's unit preloads the library and sets the level. The unit's command is not changed,
//! so that Type=notify works.
//!
//! | file | contents |
//! |---|---|
//! | unit | systemd's unit files: the program that a unit starts, the variables that it sets |
//! | option_file | the option file that switches the instruments of MySQL and MariaDB on |
//! | cluster | the environment of a PostgreSQL cluster of Debian's, in place of a drop-in |

mod cluster;
mod option_file;
mod unit;

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::{Gid, Uid};
use tare::Rule;
use tare_image::{
    Image, OPTIONS_VARIABLE, PRELOAD, PROGRAM_VARIABLE, Recognition, has_server_name,
};

use self::cluster::Environment;
use self::unit::{Start, Unit};
use super::any::{self, CHANGES_RIGHTS};
use super::{check_library, find, preload_list};
use crate::exit::{FAILED, Failure, NOT_SERVED};
use crate::serve_options::sampling;

/// Put Tare's engine into a server that systemd starts
///
/// `tare door install` writes a drop-in of the server's unit that preloads libtare_psi.so (MySQL, MariaDB) or
/// libtare_any.so (other programs). For MySQL and MariaDB it also writes an option file that switches the
/// server's instruments on. For a PostgreSQL cluster of Debian's it adds lines to the cluster's file
/// `environment` in place of the drop-in. It checks first that Tare can observe this server. `tare door remove`
/// removes what was written. Each prints what it did. The server itself is not restarted.
///
/// The engine starts with the level active, which is cheap enough to stay on: each thread keeps what it
/// does now, and only statements are counted, in total. tare record, live and top sample that. Levels
/// change while the server runs, with UPDATE tare.setup_sampling, or at its start, with --sampling.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Write the files
    Install(Install),
    /// Remove them
    Remove(Installation),
}

#[derive(clap::Args)]
struct Install {
    #[command(flatten)]
    installation: Installation,

    /// The server program [default: what the unit starts]
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,

    /// Path of libtare_psi.so or libtare_any.so [default: TARE_PSI_LIBRARY or TARE_ANY_LIBRARY, in tare's
    /// directory, or in ../lib]
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,

    /// What the server records from its start on: active (what each thread does now; statements in total),
    /// every (each event), 1/N or "budget P %" [default: active, or what TARE_OPTIONS of the unit says]
    #[arg(long, value_name = "RULE", value_parser = sampling)]
    sampling: Option<Rule>,
}

#[derive(clap::Args)]
struct Installation {
    /// The server's unit: mariadb, mysql, redis-server, memcached, nginx, postgresql@15-main
    #[arg(value_name = "UNIT")]
    unit: String,

    /// Work on the system in this directory, as systemctl --root does
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

const HELP: &str = "\
Examples:
  tare door install mariadb
  systemctl restart mariadb
  tare live                                   # as the server's user or root
  tare door install mariadb --sampling every  # count every event from the start on
  tare door install postgresql@15-main        # a PostgreSQL cluster of Debian's
  tare door remove mariadb

Exit code: 4 when Tare cannot observe the server; nothing is written then.";

/// The first line of what Tare writes.
const HEADING: &str = "# Written by `tare door install`. `tare door remove` removes it.\n";

/// The default level.
const ACTIVE: &str = "sampling=active";
const LEVEL_MESSAGE: &str = "its level is active: what each thread does now is kept for tare record, live and top, \
     and only statements are counted, in total. To count every event: tare door install with --sampling every, \
     or while it runs: tare sql -e \"UPDATE tare.setup_sampling SET sampling = 'every'\"";

/// What to do about a program that changes its rights.
const UNIT_RIGHTS: &str =
    "let the unit give the server its rights, with User= and AmbientCapabilities=";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    match &args.action {
        Action::Install(install) => install.run()?,
        Action::Remove(installation) => installation.remove()?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Install {
    fn run(&self) -> Result<(), Failure> {
        let root = &self.installation.root;
        let unit = self.installation.find()?;
        if unit.settings("Type").last() == Some("oneshot") {
            return Err(failed(format!(
                "{} starts no server (Type=oneshot); name the unit that does, such as postgresql@VERSION-CLUSTER",
                unit.name
            )));
        }
        if let Some(program) = unit
            .paths()
            .find(|path| any::resets_environment(Path::new(path)))
        {
            return Err(refused(format!(
                "{} starts its server by {program}, which passes no library on; {UNIT_RIGHTS}",
                unit.name
            )));
        }
        let program = self.program(&unit)?;
        let image = Image::open(&program).map_err(|error| refused(error.to_string()))?;
        match image.recognise() {
            Recognition::Server(server) => {
                let library = self.library(&find::PSI, &unit)?;
                let preload = unit_preload_list(&library, unit.variable(PRELOAD))?;
                check_library(&program, &OsString::from(&preload))
                    .map_err(|refusal| refused(refusal.why()))?;
                let options = option_file::path(root)?;
                // So that Tare's own options of an earlier install are not taken for the user's.
                remove_file(&options)?;
                let users = tare_image::options::read_user_options(&program, &[]);
                if let Some(off) = users.off_switch() {
                    return Err(refused(format!(
                        "the server's option files contain {off}; take it out, or its instruments stay off"
                    )));
                }
                option_file::install(&options, server.release, &users)?;
                let options = self.write_drop_in(&unit, vec![(PRELOAD, preload)])?;
                self.finish(&unit, &server.to_string(), &options)
            }
            Recognition::Unknown(why) => Err(refused(format!("{}: {why}", program.display()))),
            Recognition::Other => self.install_any(&unit, &program),
        }
    }

    /// The server's program: as the user names it, or as the unit does.
    fn program(&self, unit: &Unit) -> Result<PathBuf, Failure> {
        let root = &self.installation.root;
        match (&self.server, unit.start()) {
            (Some(program), _) => Ok(program.clone()),
            (None, Some(Start::Program(program))) => Ok(root.join(program.trim_start_matches('/'))),
            (None, Some(Start::Cluster { version, .. })) => Ok(cluster::program(root, version)),
            (None, None) => Err(failed(format!(
                "{} starts no program; name the server's with --server",
                unit.name
            ))),
        }
    }

    /// The library to preload, which the server's user can read.
    fn library(&self, library: &find::Library, unit: &Unit) -> Result<PathBuf, Failure> {
        let library = find::library(library, self.library.as_deref()).map_err(failed)?;
        check_readable(&library, unit)?;
        Ok(library)
    }

    /// Installs libtare_any.so, for a program that is no MySQL or MariaDB server.
    fn install_any(&self, unit: &Unit, program: &Path) -> Result<(), Failure> {
        let name = program.display();
        if has_server_name(program) {
            return Err(refused(format!("{name} is no server that Tare knows")));
        }
        let caller = unit.is_of_root().then_some((Uid::ROOT, Gid::ROOT));
        if any::changes_rights(program, caller) {
            return Err(refused(format!("{name} {CHANGES_RIGHTS}; {UNIT_RIGHTS}")));
        }
        if tare_image::is_launcher(program) || !any::can_preload(program).map_err(refused)? {
            return Err(refused(format!(
                "{} starts {name}, a script or another program that Tare does not observe; name the server's program with --server",
                unit.name
            )));
        }
        let library = self.library(&find::ANY, unit)?;
        let only = any::program_name(program).to_string_lossy().into_owned();
        let options = match unit.start() {
            Some(Start::Cluster { version, name }) => {
                let environment = Environment::read(&self.installation.root, version, name)?;
                let rule = self.sampling.map(|rule| rule.to_string());
                let options = engine_options(rule, environment.variable(OPTIONS_VARIABLE));
                environment.install(&[
                    (
                        PRELOAD,
                        unit_preload_list(&library, environment.variable(PRELOAD))?,
                    ),
                    (OPTIONS_VARIABLE, options.clone()),
                    (PROGRAM_VARIABLE, only),
                ])?;
                options
            }
            _ => {
                let preload = unit_preload_list(&library, unit.variable(PRELOAD))?;
                self.write_drop_in(unit, vec![(PRELOAD, preload), (PROGRAM_VARIABLE, only)])?
            }
        };
        self.finish(unit, &any::file_name(program), &options)?;
        print_message(&any::remark(program));
        Ok(())
    }

    /// Writes the unit's drop-in with these variables and the engine's options, which it returns.
    fn write_drop_in(
        &self,
        unit: &Unit,
        mut variables: Vec<(&str, String)>,
    ) -> Result<String, Failure> {
        // systemd replaces specifiers, which begin with this sign.
        let rule = self
            .sampling
            .map(|rule| rule.to_string().replace('%', "%%"));
        let options = engine_options(rule, unit.variable(OPTIONS_VARIABLE));
        variables.push((OPTIONS_VARIABLE, options.clone()));
        let lines = variables
            .iter()
            .map(|(name, value)| unit::environment_line(name, value));
        let lines: String = lines.collect();
        write(&unit.drop_in(), &format!("{HEADING}[Service]\n{lines}"))?;
        Ok(options)
    }

    /// Makes systemd read the files, and prints what comes next.
    fn finish(&self, unit: &Unit, server: &str, options: &str) -> Result<(), Failure> {
        self.installation.reload()?;
        print_message(&format!(
            "{server} gets Tare's engine at its next start: systemctl restart {}",
            unit.short_name()
        ));
        if options.lines().any(|line| line == ACTIVE) {
            print_message(LEVEL_MESSAGE);
        }
        Ok(())
    }
}

impl Installation {
    fn find(&self) -> Result<Unit, Failure> {
        Unit::find(&self.root, &self.unit).map_err(failed)
    }

    /// Removes what was installed.
    fn remove(&self) -> Result<(), Failure> {
        let unit = self.find()?;
        let drop_in = unit.drop_in();
        let is_of_psi =
            fs::read_to_string(&drop_in).is_ok_and(|text| text.contains(find::PSI.name));
        let mut removed = remove_file(&drop_in)?;
        // Only if it is empty.
        let _ = fs::remove_dir(&unit.drop_ins);
        match unit.start() {
            Some(Start::Cluster { version, name }) => {
                removed |= Environment::read(&self.root, version, name)?.remove()?;
            }
            Some(Start::Program(program)) if is_of_psi || has_server_name(Path::new(program)) => {
                if let Ok(options) = option_file::path(&self.root) {
                    removed |= remove_file(&options)?;
                }
            }
            _ => {}
        }
        if !removed {
            print_message(&format!(
                "{} has no files of Tare's; nothing was changed",
                unit.name
            ));
            return Ok(());
        }
        self.reload()?;
        print_message(&format!(
            "the server runs without Tare from its next start on: systemctl restart {}",
            unit.short_name()
        ));
        Ok(())
    }

    /// Makes systemd read its units again, if it runs here.
    fn reload(&self) -> Result<(), Failure> {
        if self.root != Path::new("/") || !Path::new("/run/systemd/system").exists() {
            return Ok(());
        }
        let status = Command::new("systemctl").arg("daemon-reload").status();
        match status {
            Ok(status) if status.success() => {
                print_message("systemd has read its units again");
                Ok(())
            }
            _ => Err(failed("run: systemctl daemon-reload")),
        }
    }
}

/// Fails if the server's user cannot load the library.
fn check_readable(library: &Path, unit: &Unit) -> Result<(), Failure> {
    let hint = "copy it to /usr/local/lib and name it with --library";
    let name = &unit.name;
    let hidden = ["/home", "/root", "/run/user"];
    if unit.settings("ProtectHome").next().is_some()
        && hidden.iter().any(|home| library.starts_with(home))
    {
        return Err(failed(format!(
            "{name} hides {} from the server (ProtectHome); {hint}",
            library.display()
        )));
    }
    let names = |setting, path: &Path| {
        let mut lists = unit.settings(setting).flat_map(str::split_whitespace);
        lists.any(|part| path.starts_with(part.trim_start_matches(['-', '+'])))
    };
    if names("NoExecPaths", library) && !names("ExecPaths", library) {
        return Err(failed(format!(
            "{name} does not let the server execute {} (NoExecPaths); copy it to /usr/lib and name it with --library",
            library.display()
        )));
    }
    for part in library.ancestors() {
        let open = match part == library {
            true => 0o4,
            false => 0o1,
        };
        let mode = part
            .metadata()
            .map(|metadata| metadata.permissions().mode());
        if mode.is_ok_and(|mode| mode & open == 0) {
            return Err(failed(format!(
                "the server's user cannot read below {}; {hint}",
                part.display()
            )));
        }
    }
    Ok(())
}

/// The value of LD_PRELOAD for a unit: the library before the server's own.
fn unit_preload_list(library: &Path, theirs: Option<String>) -> Result<String, Failure> {
    // systemd replaces specifiers, which begin with a percent sign, and its files are text.
    if library
        .to_str()
        .is_none_or(|path| path.contains(['"', '%']))
    {
        return Err(failed(format!(
            "a unit cannot preload {}, because of a sign in its path",
            library.display()
        )));
    }
    let list = preload_list(library, theirs.map(OsString::from)).map_err(failed)?;
    Ok(list.to_string_lossy().into_owned())
}

/// The value of TARE_OPTIONS: the level, and the server's own options. Of two levels the engine takes the last:
/// `rule` if it is given, then the server's, then the default.
fn engine_options(rule: Option<String>, theirs: Option<String>) -> String {
    let theirs = theirs.filter(|theirs| !theirs.is_empty());
    match (rule, theirs) {
        (Some(rule), theirs) => theirs
            .into_iter()
            .chain([format!("sampling={rule}")])
            .collect::<Vec<_>>()
            .join("\n"),
        (None, Some(theirs)) if theirs.lines().any(sets_sampling) => theirs,
        (None, theirs) => [ACTIVE.to_owned()]
            .into_iter()
            .chain(theirs)
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// Whether an option NAME=VALUE of the engine is a level: of all event types, or of one.
fn sets_sampling(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    name.contains("sampling")
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let wrong = |error| failed(format!("{}: {error}", path.display()));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(wrong)?;
    }
    fs::write(path, text).map_err(wrong)?;
    print_message(&format!("wrote {}", path.display()));
    Ok(())
}

/// Removes a file; false if it does not exist.
fn remove_file(path: &Path) -> Result<bool, Failure> {
    match fs::remove_file(path) {
        Ok(()) => {
            print_message(&format!("removed {}", path.display()));
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(format!("{}: {error}", path.display()))),
    }
}

fn refused(why: String) -> Failure {
    Failure::new(NOT_SERVED, why)
}

fn failed(why: impl std::fmt::Display) -> Failure {
    Failure::new(FAILED, why)
}

fn print_message(text: &str) {
    println!("tare door: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_own_preloads_stay() {
        let library = Path::new("/usr/local/lib/libtare_psi.so");
        let preload = |theirs: &str| {
            unit_preload_list(library, Some(theirs.into())).map_err(|failure| failure.message)
        };
        let own = "/usr/local/lib/libtare_psi.so";
        assert_eq!(preload(""), Ok(own.into()));
        let both = format!("{own}:/usr/lib/libjemalloc.so.2");
        assert_eq!(preload("/usr/lib/libjemalloc.so.2"), Ok(both));
    }

    #[test]
    fn the_default_level_yields_to_the_units_and_to_the_option() {
        let options = |rule: Option<&str>, theirs: Option<&str>| {
            engine_options(rule.map(str::to_owned), theirs.map(str::to_owned))
        };
        assert_eq!(options(None, None), "sampling=active");
        assert_eq!(options(None, Some("")), "sampling=active");
        let both = "sampling=active\nlock_timing=every";
        assert_eq!(options(None, Some("lock_timing=every")), both);
        let theirs = "lock_timing=every\nsampling=1/16";
        assert_eq!(options(None, Some(theirs)), theirs);
        assert_eq!(
            options(None, Some("sampling_wait=1/4")),
            "sampling_wait=1/4"
        );
        assert_eq!(options(Some("every"), None), "sampling=every");
        let given = "lock_timing=every\nsampling=1/16\nsampling=budget 1 %";
        assert_eq!(options(Some("budget 1 %"), Some(theirs)), given);
    }
}
