//! `tare door`: loads Tare's engine into a server that systemd starts.
//!
//! A drop-in of the server's unit preloads the library and sets the level. The unit's command is not changed,
//! so that Type=notify works. An option file switches the server's instruments on.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tare::Rule;
use tare_image::{Image, OPTIONS_VARIABLE, PRELOAD, Recognition};

use super::{check_library, find, options, unit};
use crate::exit::{FAILED, Failure, NOT_SERVED};
use crate::serve_options::sampling;

/// Put Tare's engine into the MySQL or MariaDB server that systemd starts
///
/// `tare door install` writes two files: a drop-in of the server's unit that preloads
/// libtare_psi.so, and an option file that switches the server's instruments on. It checks first
/// that Tare can serve this server. `tare door remove` removes both files. Each prints what it did.
/// The server itself is not restarted.
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
    /// Write both files
    Install(Install),
    /// Remove both files
    Remove(Installation),
}

#[derive(clap::Args)]
struct Install {
    #[command(flatten)]
    installation: Installation,

    /// The server program [default: what the unit starts]
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,

    /// Path of libtare_psi.so [default: TARE_PSI_LIBRARY, in tare's directory, or in ../lib]
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,

    /// What the server records from its start on: active (what each thread does now; statements in total),
    /// every (each event), 1/N or "budget P %" [default: active, or what TARE_OPTIONS of the unit says]
    #[arg(long, value_name = "RULE", value_parser = sampling)]
    sampling: Option<Rule>,
}

#[derive(clap::Args)]
struct Installation {
    /// Which server
    #[arg(value_enum)]
    product: Product,

    /// The server's unit [default: mariadb.service, or mysql.service or mysqld.service]
    #[arg(long, value_name = "NAME")]
    unit: Option<String>,

    /// Work on the system in this directory, as systemctl --root does
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Product {
    Mariadb,
    Mysql,
}

const HELP: &str = "\
Examples:
  tare door install mariadb
  systemctl restart mariadb
  tare live                                   # as the server's user or root
  tare door install mariadb --sampling every  # count every event from the start on
  tare door remove mariadb

Exit code: 4 when Tare cannot instrument the server; nothing is written then.";

const DROP_IN: &str = "tare.conf";
/// The last one of its directory, in the order in which servers read option files.
const OPTION_FILE: &str = "zz-tare.cnf";
/// Directories of units; the first wins (systemd.unit(5)).
const UNITS: [&str; 4] = [
    "etc/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];
/// The directory for the administrator's drop-ins.
const ADMINISTRATOR_UNITS: &str = UNITS[0];
/// The default option files of distributions' packages.
const OPTION_FILES: [&str; 2] = ["etc/my.cnf", "etc/mysql/my.cnf"];

/// The default level.
const ACTIVE: &str = "sampling=active";
const LEVEL_MESSAGE: &str = "its level is active: what each thread does now is kept for tare record, live and top, \
     and only statements are counted, in total. To count every event: tare door install with --sampling every, \
     or while it runs: tare sql -e \"UPDATE tare.setup_sampling SET sampling = 'every'\"";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    match &args.action {
        Action::Install(install) => self::install(install)?,
        Action::Remove(installation) => remove(installation)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Installation {
    /// Finds the unit's name and reads its text.
    fn read_unit(&self) -> Result<(String, String), Failure> {
        let names: &[&str] = match (&self.unit, self.product) {
            (Some(name), _) => &[name],
            (None, Product::Mariadb) => &["mariadb.service"],
            (None, Product::Mysql) => &["mysql.service", "mysqld.service"],
        };
        let files = names.iter().flat_map(|&name| {
            UNITS
                .iter()
                .map(move |folder| (name, self.root.join(folder).join(name)))
        });
        for (name, path) in files {
            if let Ok(text) = fs::read_to_string(path) {
                return Ok((name.to_owned(), text));
            }
        }
        Err(failed(format!(
            "there is no unit {}; name the server's with --unit",
            names.join(" or ")
        )))
    }

    fn drop_ins(&self, unit: &str) -> PathBuf {
        self.root
            .join(ADMINISTRATOR_UNITS)
            .join(format!("{unit}.d"))
    }

    /// The last directory of option files that the server reads.
    fn option_directory(&self) -> Result<PathBuf, Failure> {
        let texts = OPTION_FILES
            .iter()
            .filter_map(|file| fs::read_to_string(self.root.join(file)).ok());
        let named: Vec<PathBuf> = texts
            .flat_map(|text| included_directories(&text))
            .map(|directory| self.root.join(directory.trim_start_matches('/')))
            .filter(|directory| directory.is_dir())
            .collect();
        named.last().cloned().ok_or_else(|| {
            failed(format!(
                "no !includedir of /{} names a directory; add one to the server's option file",
                OPTION_FILES.join(" or /")
            ))
        })
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

/// The directories that an option file includes.
fn included_directories(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("!includedir"));
    lines.map(|directory| directory.trim().to_owned()).collect()
}

fn install(install: &Install) -> Result<(), Failure> {
    let installation = &install.installation;
    let (name, text) = installation.read_unit()?;
    let program = match (&install.server, unit::server_program(&text)) {
        (Some(program), _) => program.clone(),
        (None, Some(program)) => installation.root.join(program.trim_start_matches('/')),
        (None, None) => {
            return Err(failed(format!(
                "{name} starts no mysqld or mariadbd; name it with --server"
            )));
        }
    };
    let refused = |why: String| Failure::new(NOT_SERVED, why);
    let image = Image::open(&program).map_err(|error| refused(error.to_string()))?;
    let server = match image.recognise() {
        Recognition::Server(server) => server,
        Recognition::Unknown(why) => return Err(refused(format!("{}: {why}", program.display()))),
        Recognition::Other => {
            return Err(refused(format!(
                "{} is no server that Tare knows",
                program.display()
            )));
        }
    };
    let library = find::library(&find::PSI, install.library.as_deref()).map_err(failed)?;
    check_readable(&library, &name, &text)?;
    let directory = installation.drop_ins(&name);
    let texts = read_units(text, &directory);
    let preload = preload_list(&library, &texts)?;
    let engine = engine_options(install.sampling, unit::variable(&texts, OPTIONS_VARIABLE));
    check_library(&program, &OsString::from(&preload)).map_err(refused)?;
    let options_file = installation.option_directory()?.join(OPTION_FILE);
    // So that Tare's own options of an earlier install are not taken for the user's.
    remove_file(&options_file)?;
    let users = tare_image::options::read_user_options(&program, &[]);
    if let Some(off) = users.off_switch() {
        return Err(refused(format!(
            "the server's option files contain {off}; take it out, or its instruments stay off"
        )));
    }
    let mut options = Vec::new();
    options::insert(&mut options, server.release, &users);
    let lines = options
        .iter()
        .map(|option| option.to_string_lossy().trim_start_matches('-').to_owned() + "\n");
    let heading = "# Written by `tare door install`. `tare door remove` removes it.\n";
    write(
        &options_file,
        &format!("{heading}[mysqld]\n{}", lines.collect::<String>()),
    )?;
    let variables = unit::environment_line(PRELOAD, &preload)
        + &unit::environment_line(OPTIONS_VARIABLE, &engine);
    write(
        &directory.join(DROP_IN),
        &format!("{heading}[Service]\n{variables}"),
    )?;
    installation.reload()?;
    print_message(&format!(
        "{server} gets Tare's engine at its next start: systemctl restart {}",
        name.trim_end_matches(".service")
    ));
    if engine.lines().any(|line| line == ACTIVE) {
        print_message(LEVEL_MESSAGE);
    }
    Ok(())
}

fn remove(installation: &Installation) -> Result<(), Failure> {
    let (unit, _) = installation.read_unit()?;
    let directory = installation.drop_ins(&unit);
    let mut removed = remove_file(&directory.join(DROP_IN))?;
    // Only if it is empty.
    let _ = fs::remove_dir(&directory);
    if let Ok(options) = installation.option_directory() {
        removed |= remove_file(&options.join(OPTION_FILE))?;
    }
    if !removed {
        print_message(&format!(
            "{unit} has no files of Tare's; nothing was changed"
        ));
        return Ok(());
    }
    installation.reload()?;
    print_message(&format!(
        "the server has its own Performance Schema at its next start: systemctl restart {}",
        unit.trim_end_matches(".service")
    ));
    Ok(())
}

/// Fails if the server's user cannot load the library.
fn check_readable(library: &Path, unit: &str, text: &str) -> Result<(), Failure> {
    let hint = "copy it to /usr/local/lib and name it with --library";
    let hidden = ["/home", "/root", "/run/user"];
    if text.contains("ProtectHome=") && hidden.iter().any(|home| library.starts_with(home)) {
        return Err(failed(format!(
            "{unit} hides {} from the server (ProtectHome); {hint}",
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

/// The texts of the unit and of its drop-ins that are not Tare's, in the order in which systemd reads them.
fn read_units(unit: String, drop_ins: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(drop_ins)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.file_name().is_some_and(|name| name != DROP_IN));
    files.sort();
    let others = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    [unit].into_iter().chain(others).collect()
}

/// The value of LD_PRELOAD: the library before those of the unit and its drop-ins.
fn preload_list(library: &Path, texts: &[String]) -> Result<String, Failure> {
    let own = library.to_string_lossy();
    if own.contains([' ', ':', '"', '%']) {
        return Err(failed(format!(
            "{own} cannot be preloaded, because of a sign in its path"
        )));
    }
    Ok(match unit::variable(texts, PRELOAD) {
        Some(theirs) if !theirs.is_empty() => format!("{own}:{theirs}"),
        _ => own.into_owned(),
    })
}

/// The value of TARE_OPTIONS: the level, and the options of the unit and its drop-ins. Of two levels the engine
/// takes the last: `sampling` if it is given, then the unit's, then the default.
fn engine_options(sampling: Option<Rule>, theirs: Option<String>) -> String {
    let theirs = theirs.filter(|theirs| !theirs.is_empty());
    match (sampling, theirs) {
        (Some(rule), theirs) => {
            // systemd replaces specifiers, which begin with this sign.
            let rule = format!("sampling={rule}").replace('%', "%%");
            theirs
                .into_iter()
                .chain([rule])
                .collect::<Vec<_>>()
                .join("\n")
        }
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
    fn included_directories_are_listed() {
        let text = "[client-server]\nsocket = /run/s\n!includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n";
        assert_eq!(
            included_directories(text),
            ["/etc/mysql/conf.d/", "/etc/mysql/mariadb.conf.d/"]
        );
    }

    #[test]
    fn the_units_own_preloads_stay() {
        let library = Path::new("/usr/local/lib/libtare_psi.so");
        let preload = |unit: &str| {
            preload_list(library, &[unit.to_owned()]).map_err(|failure| failure.message)
        };
        assert_eq!(
            preload("[Service]\n"),
            Ok("/usr/local/lib/libtare_psi.so".into())
        );
        let unit = "[Service]\nEnvironment=\"LD_PRELOAD=/usr/lib/libjemalloc.so.2\" TZ=UTC\n";
        assert_eq!(
            preload(unit),
            Ok("/usr/local/lib/libtare_psi.so:/usr/lib/libjemalloc.so.2".into())
        );
    }

    #[test]
    fn the_default_level_yields_to_the_units_and_to_the_option() {
        let options = |rule: Option<&str>, theirs: Option<&str>| {
            let rule = rule.map(|rule| Rule::parse(rule).expect("a rule"));
            engine_options(rule, theirs.map(str::to_owned))
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
        let given = "lock_timing=every\nsampling=1/16\nsampling=budget 1 %%";
        assert_eq!(options(Some("budget 1 %"), Some(theirs)), given);
    }
}
