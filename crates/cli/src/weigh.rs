//! `tare weigh`: measures the cost of instrumentation.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tare_client::Dsn;
use tare_client::secrets::PASSWORD_VARIABLE;
use tare_lab::analysis::Analysis;
use tare_lab::cell;
use tare_lab::interrupt::Interrupt;
use tare_lab::live::{self, Live};
use tare_lab::machine::{Machine, now};
use tare_lab::recipe::{FigureIs, Kind, Load, Recipe, shipped};
use tare_lab::run::{RunSummary, Runner};
use tare_lab::server::Binaries;
use tare_lab::stopping_rule::{StoppingRule, Until};
use tare_lab::store::{Plan, Store};
use tare_lab::{report, restore, work};

use crate::client_options::ServerOptions;
use crate::door;
use crate::exit::{FAILED, Failure, KILLED};
use crate::weigh_compare;

/// The exit code for a wrong command line.
const USAGE_ERROR: u8 = 2;

/// Measure what instrumentation costs, on this machine and under a load
///
/// Runs a matrix of servers, configurations, workloads and connections in random order, with an A/A
/// control. Reports the differences with their intervals, and the events that the servers counted.
/// Stores each result as it comes, in a directory with report.html, results.csv and results.json.
///
/// RECIPE is one of tare's own (--list) or the path of yours; docs/weigh.md describes both.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    subcommand: Option<Subcommand>,

    /// A recipe's name, or the path of a TOML file
    #[arg(required_unless_present_any = ["list", "resume", "report", "restore"])]
    recipe: Option<String>,

    /// List the recipes that come with tare
    #[arg(long, conflicts_with_all = ["resume", "report"])]
    list: bool,

    /// Print the recipe instead of running it, as a start for your own
    #[arg(long, requires = "recipe")]
    print: bool,

    /// Run the recipe's short form, which takes a few minutes
    #[arg(long)]
    quick: bool,

    /// Continue the run in this directory, as it was planned
    #[arg(long, value_name = "DIR", conflicts_with_all = ["recipe", "quick", "output", "Part"])]
    resume: Option<PathBuf>,

    /// Write the reports of the run in this directory again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["recipe", "resume"])]
    report: Option<PathBuf>,

    /// Directory of the results [default: weigh/RECIPE-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    part: Part,

    /// A tare without instrumentation compiled in, for build = "plain" [default: target/plain/release/tare]
    #[arg(long, value_name = "PATH")]
    plain: Option<PathBuf>,

    #[command(flatten)]
    yours: OwnServer,
}

/// A subcommand instead of a recipe.
#[derive(clap::Subcommand)]
enum Subcommand {
    Compare(weigh_compare::Args),
}

/// Options that override or restrict the recipe.
#[derive(clap::Args)]
#[command(next_help_heading = "A part of the recipe")]
struct Part {
    /// Measure these servers only; may be repeated
    #[arg(long, value_name = "NAME")]
    server: Option<Vec<String>>,

    /// Measure these configurations only
    #[arg(long, value_name = "NAME")]
    configuration: Option<Vec<String>>,

    /// Measure these workloads only
    #[arg(long, value_name = "NAME")]
    workload: Option<Vec<String>>,

    /// Numbers of connections, instead of the recipe's
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    connections: Option<Vec<u32>>,

    /// Repetitions, instead of the recipe's; 4 or more for intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,

    /// Measured seconds, instead of the recipe's
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,

    /// Seconds of load before them, instead of the recipe's
    #[arg(long, value_name = "S")]
    warm_up: Option<u32>,

    /// Processors that server and load share, instead of the recipe's; 0 for all
    #[arg(long, value_name = "N")]
    processors: Option<u32>,

    /// Measure the configurations of a server side by side, in this many turns of a fraction of a second,
    /// instead of the recipe's number; 0 measures one cell after the other
    #[arg(long, value_name = "N")]
    turns: Option<u32>,

    /// Measure until every comparison with the baseline is known to this many percentage points,
    /// instead of the recipe's repetitions
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    until: Option<f64>,

    /// Measure for this long, such as 90s, 10m or 1h; with --until, at most this long
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    time: Option<f64>,

    /// Seed of the random order, to draw the same one again
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Recipe own, and servers by DSN.
#[derive(clap::Args)]
#[command(next_help_heading = "Your server (recipe own)")]
struct OwnServer {
    #[command(flatten)]
    server: ServerOptions,

    /// File whose first line is the password for --dsn [default: the variable TARE_WEIGH_PASSWORD]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// Stop when the probe's 95th percentile exceeds this many times that of the first window, and 20 ms
    #[arg(long, value_name = "TIMES", default_value_t = 5.0)]
    stop_above: f64,

    /// The statement that is sent as a probe
    #[arg(long, value_name = "SQL", default_value = "SELECT 1")]
    probe: String,

    /// Restore the settings that a killed run left behind
    #[arg(long)]
    restore: bool,

    /// A shell command that drives your server and prints a figure
    #[arg(long, value_name = "COMMAND", conflicts_with = "dsn")]
    load: Option<String>,

    /// The text before that figure [default: the last number counts]
    #[arg(long, value_name = "TEXT", requires = "load")]
    figure: Option<String>,

    /// Kind of the figure
    #[arg(long, value_name = "WHAT", requires = "load", value_parser = ["rate", "count", "time"])]
    figure_is: Option<String>,

    /// The command of your server, which has to use Tare
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

const HELP: &str = "\
Examples:
  tare weigh configs --quick
  tare weigh configs --server tare --connections 1,8 --seconds 10
  tare weigh --resume weigh/configs-2026-11-21-140305
  tare weigh compare weigh/yesterday weigh/today --worse 2%
  tare weigh configs --print >mine.toml; tare weigh ./mine.toml
  tare weigh own --load 'redis-benchmark -p {port} -q -t get' --figure 'GET:' \\
                 -- ./myserver --port '{port}'
  tare weigh own --dsn mysql://root@127.0.0.1:3306/ --password-file ~/.tare-password

Exit code: 0 when every cell has figures or cannot have any here, which is then named; 1 when some
failed or could not be kept; 2 for a wrong command line or recipe; 128+N after signal N. What was
measured is kept.";

pub fn main(args: Args) -> Result<ExitCode, Failure> {
    if let Some(Subcommand::Compare(args)) = &args.subcommand {
        return weigh_compare::main(args);
    }
    if args.list {
        return list();
    }
    if let Some(directory) = &args.report {
        let (store, plan, results) = Store::open(directory).map_err(failed)?;
        return report(&store, &plan, &results).map(|()| ExitCode::SUCCESS);
    }
    let password = read_password(&args.yours)?;
    let dsn = args.yours.server.server(password.clone())?;
    // Clean up after killed runs first.
    for directory in work::tidy() {
        eprintln!(
            "tare: removed leftovers of a killed run: {}",
            directory.display()
        );
    }
    let restored = restore::restore_pending(dsn.as_ref(), password.as_deref());
    if args.yours.restore {
        return match restored {
            true => Ok(ExitCode::SUCCESS),
            false => Err(Failure::new(FAILED, "")),
        };
    }
    let tare = std::env::current_exe().map_err(failed)?;
    let mut binaries = Binaries::locate(tare, args.plain.clone(), door::library_of_any());
    let (store, plan, results) = match &args.resume {
        Some(directory) => {
            let (store, plan, results) = Store::open(directory).map_err(failed)?;
            binaries.build_missing(&plan.recipe).map_err(wrong)?;
            (store, plan, results)
        }
        None => {
            let plan = plan(&args, dsn.as_ref())?;
            if args.print {
                let text = recipe_text(&plan.recipe)?;
                print!("{text}");
                return Ok(ExitCode::SUCCESS);
            }
            binaries.build_missing(&plan.recipe).map_err(wrong)?;
            if let Some(too_few) = plan.too_few() {
                eprintln!("tare: {too_few}");
            }
            let directory = args.output.clone().unwrap_or_else(|| default_output(&plan));
            (
                Store::create(&directory, &plan).map_err(failed)?,
                plan,
                Vec::new(),
            )
        }
    };
    run(store, plan, results, &binaries, dsn.as_ref())
}

fn run(
    mut store: Store,
    mut plan: Plan,
    mut results: Vec<cell::Result>,
    binaries: &Binaries,
    dsn: Option<&Dsn>,
) -> Result<ExitCode, Failure> {
    let interrupt = Interrupt::install().map_err(failed)?;
    let directory = store.path().to_owned();
    let finished = match plan.live.clone() {
        Some(live) => {
            let dsn = dsn.ok_or_else(|| {
                Failure::new(
                    USAGE_ERROR,
                    "give the server's --dsn again: its password is not stored",
                )
            })?;
            live::run(&plan, &live, &mut store, &mut results, dsn, &interrupt).map_err(failed)?
        }
        None => {
            let mut runner =
                Runner::new(plan, store, results, binaries, dsn, &interrupt).map_err(failed)?;
            let finished = runner.run();
            // Remove the servers' directory before the report is written, because it may have filled the disk.
            (plan, store, results) = runner.into_parts();
            finished
        }
    };
    report(&store, &plan, &results)?;
    let mut is_incomplete = false;
    for (path, why) in store.unwritten() {
        is_incomplete = true;
        eprintln!("tare: {} could not be written: {why}", path.display());
    }
    let RunSummary { failed, signal, .. } = finished;
    if let Some(signal) = signal {
        eprintln!(
            "tare: stopped; continue with: tare weigh --resume {}",
            directory.display()
        );
        return Ok(ExitCode::from(KILLED + signal));
    }
    Ok(ExitCode::from(if failed > 0 || is_incomplete {
        FAILED
    } else {
        0
    }))
}

/// Prints the report and writes its files.
fn report(store: &Store, plan: &Plan, results: &[cell::Result]) -> Result<(), Failure> {
    let analysis = Analysis::of(plan, results);
    print!("{}", report::render_terminal(plan, &analysis));
    report::write(store, plan, results, &analysis).map_err(failed)?;
    println!("\n{}", store.path().join("report.html").display());
    Ok(())
}

/// Plans a run.
fn plan(args: &Args, dsn: Option<&Dsn>) -> Result<Plan, Failure> {
    let name = args.recipe.as_deref().unwrap_or_default();
    let mut recipe = Recipe::find(name).map_err(wrong)?;
    if args.quick {
        recipe = recipe.quick().map_err(wrong)?;
    }
    let windows = name == "own" && dsn.is_some();
    match dsn {
        Some(dsn) if windows => {
            let (window, repetitions) = (recipe.run.seconds, recipe.run.repetitions);
            recipe = live::recipe(dsn, window, repetitions);
        }
        _ => set_own_server(&mut recipe, args, dsn)?,
    }
    let part = &args.part;
    let names = |names: &Option<Vec<String>>| names.clone();
    recipe.run.repetitions = part.repetitions.unwrap_or(recipe.run.repetitions);
    recipe.run.seconds = part.seconds.unwrap_or(recipe.run.seconds);
    recipe.run.warm_up = part.warm_up.unwrap_or(recipe.run.warm_up);
    recipe.run.processors = part.processors.unwrap_or(recipe.run.processors);
    recipe.run.turns = part.turns.unwrap_or(recipe.run.turns);
    if let Some(connections) = &part.connections {
        recipe.set_connections(connections.clone());
    }
    let until = until(args).filter(|_| !windows);
    if until.is_some() {
        // The first one. Others are added as needed.
        recipe.run.repetitions = 1;
        if recipe.baseline.is_none() {
            return Err(wrong("--until and --for are for recipes with a baseline"));
        }
    }
    let (servers, configurations, workloads) = (
        names(&part.server),
        names(&part.configuration),
        names(&part.workload),
    );
    recipe
        .retain(
            servers.as_deref(),
            configurations.as_deref(),
            workloads.as_deref(),
        )
        .map_err(wrong)?;
    let seed = part
        .seed
        .unwrap_or_else(|| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), name));
    let live = windows.then(|| Live {
        stop_above: args.yours.stop_above,
        probe: args.yours.probe.clone(),
    });
    let name = Path::new(name).file_stem().unwrap_or_default();
    Ok(Plan {
        quick: args.quick,
        machine: Machine::detect(),
        live,
        stopping_rule: until.map(StoppingRule::new),
        ..Plan::new(&name.to_string_lossy(), recipe, seed)
    })
}

/// The stopping rule of `--quick`: resolution in percent, and the longest time in seconds.
const QUICK_UNTIL: Until = Until {
    percent: Some(3.0),
    seconds: Some(600.0),
};

/// The stopping rule; `None` if the number of repetitions is fixed.
fn until(args: &Args) -> Option<Until> {
    let part = &args.part;
    match (part.until, part.time) {
        (None, None) => (args.quick && part.repetitions.is_none()).then_some(QUICK_UNTIL),
        (percent, seconds) => Some(Until { percent, seconds }),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse();
    (number.ok())
        .filter(|percent| (0.01..=100.0).contains(percent))
        .ok_or_else(|| "give a percentage such as 1% or 0.5%".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let of_unit = match unit {
        "m" => 60.0,
        "h" => 3600.0,
        _ => 1.0,
    };
    let number: Option<f64> = number.parse().ok();
    (number.map(|number| number * of_unit))
        .filter(|seconds| (1.0..=1e7).contains(seconds))
        .ok_or_else(|| "give a time such as 90s, 10m or 1h".into())
}

/// Sets the command line's server and load in the recipe.
fn set_own_server(recipe: &mut Recipe, args: &Args, dsn: Option<&Dsn>) -> Result<(), Failure> {
    let yours = &args.yours;
    for server in &mut recipe.servers {
        match (server.kind, dsn) {
            (Kind::Dsn, Some(dsn)) => server.dsn = Some(dsn.to_string()),
            (Kind::Dsn, None) if !args.print => {
                return Err(wrong(format!(
                    "server '{}' is already running: give its --dsn",
                    server.name
                )));
            }
            (Kind::Command, _) if !yours.command.is_empty() => {
                server.command = yours.command.clone()
            }
            (Kind::Command, _) if server.command == ["COMMAND"] && !args.print => {
                return Err(wrong(
                    "recipe own: give your server's command after --, or the --dsn of a running one",
                ));
            }
            _ => {}
        }
    }
    for workload in recipe
        .workloads
        .iter_mut()
        .filter(|workload| workload.load == Load::Command)
    {
        match &yours.load {
            Some(load) => {
                workload.command = vec!["sh".into(), "-c".into(), load.clone()];
                workload.figure = yours.figure.clone();
                workload.figure_is = match yours.figure_is.as_deref() {
                    Some("count") => FigureIs::Count,
                    Some("time") => FigureIs::Time,
                    _ => FigureIs::Rate,
                };
            }
            None if workload.command == ["COMMAND"] && !args.print => {
                return Err(wrong(
                    "recipe own: give --load, a command that drives your server and prints a figure",
                ));
            }
            None => {}
        }
    }
    Ok(())
}

fn list() -> Result<ExitCode, Failure> {
    for each in shipped::ALL {
        let recipe = Recipe::parse(each.name, each.text).map_err(failed)?;
        println!("{:14}{}", each.name, recipe.question);
    }
    Ok(ExitCode::SUCCESS)
}

/// The file of a recipe that comes with tare.
fn recipe_text(recipe: &Recipe) -> Result<String, Failure> {
    let shipped = shipped::ALL.iter().find(|each| {
        Recipe::parse(each.name, each.text).is_ok_and(|other| other.question == recipe.question)
    });
    shipped
        .map(|each| each.text.to_owned())
        .ok_or_else(|| wrong("--print prints recipes that come with tare"))
}

fn default_output(plan: &Plan) -> PathBuf {
    let when: String = now()
        .chars()
        .filter(|c| *c != ':')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect();
    Path::new("weigh").join(format!("{}-{when}", plan.name))
}

/// Reads the password from --password-file or the environment.
fn read_password(yours: &OwnServer) -> Result<Option<String>, Failure> {
    let Some(path) = &yours.password_file else {
        return Ok(std::env::var(PASSWORD_VARIABLE).ok());
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(USAGE_ERROR, format!("{}: {error}", path.display())))?;
    Ok(text.lines().next().map(str::to_owned))
}

fn wrong(what: impl std::fmt::Display) -> Failure {
    Failure::new(USAGE_ERROR, what)
}

fn failed(what: impl std::fmt::Display) -> Failure {
    Failure::new(FAILED, what)
}
