//! `tare weigh compare`: compares two stored runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tare_lab::cell;
use tare_lab::compare::{Comparisons, Run, Settings};
use tare_lab::recipe::Measure;
use tare_lab::report;
use tare_lab::store::{Plan, Store};

use crate::exit::Failure;

/// The exit code if something is worse.
const WORSE: u8 = 1;
/// The exit code for a wrong command line, or if there is nothing to compare.
const USAGE_ERROR: u8 = 2;

/// Compare two runs, such as yesterday's build and today's
///
/// Takes the directories of two runs of a recipe, and compares each cell that both have. A cell is
/// called worse if its entire interval is beyond --worse. The interval is widened for the number of comparisons.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Directory of the first run, the older one
    #[arg(value_name = "A")]
    first: PathBuf,

    /// Directory of the second run, the newer one
    #[arg(value_name = "B")]
    second: PathBuf,

    /// How much worse is called worse
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    worse: f64,

    /// A configuration that is the same program in both runs: differences are relative to it, so that
    /// changes of the machine cancel out
    #[arg(long, value_name = "CONFIGURATION")]
    same: Option<String>,

    /// The figure that is compared [default: that of B's recipe]
    #[arg(long, value_name = "MEASURE", value_parser = measure)]
    measure: Option<Measure>,

    /// text, or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    format: String,

    /// Print help
    // `tare weigh` has no flag -h, because -h is --host there, and clap passes that on to its subcommands.
    #[arg(short, long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

const HELP: &str = "\
Examples:
  tare weigh compare weigh/yesterday weigh/today
  tare weigh compare weigh/yesterday weigh/today --worse 5% --same 'not compiled in' --format json

Exit code: 1 when B is worse than A by more than --worse in some comparison, beyond its interval; 0
when no comparison shows that (it may be too noisy to tell: the output says so); 2 for a wrong
command line, or runs that cannot be compared.";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let (first, first_results) = open(&args.first)?;
    let (second, second_results) = open(&args.second)?;
    let settings = Settings {
        worse_percent: args.worse,
        same: args.same.clone(),
        measure: args.measure,
    };
    let run = |plan, results| Run { plan, results };
    let comparisons = Comparisons::of(
        &run(&first, &first_results),
        &run(&second, &second_results),
        &settings,
    );
    let comparisons = comparisons.map_err(wrong)?;
    match args.format.as_str() {
        "json" => {
            let description = |path: &Path, plan: &Plan| json!({ "directory": path, "recipe": plan.name, "started": plan.machine.started, "machine": plan.machine.words() });
            let all = json!({
                "first": description(&args.first, &first),
                "second": description(&args.second, &second),
                "worse": comparisons.is_worse(),
                "sentences": report::comparison_sentences(&comparisons),
                "comparisons": comparisons,
            });
            println!("{all:#}");
        }
        _ => {
            for (path, plan) in [(&args.first, &first), (&args.second, &second)] {
                println!(
                    "{}: recipe {}, {} UTC",
                    path.display(),
                    plan.name,
                    plan.machine.started
                );
            }
            print!("{}", report::render_comparisons(&comparisons));
        }
    }
    Ok(ExitCode::from(if comparisons.is_worse() {
        WORSE
    } else {
        0
    }))
}

/// Opens a run. Any failure has code 2, because 1 means that something is worse.
fn open(directory: &Path) -> Result<(Plan, Vec<cell::Result>), Failure> {
    let (_, plan, results) = Store::open(directory).map_err(wrong)?;
    Ok((plan, results))
}

/// Parses `2%`, `2 %` or `2`.
fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim_end_matches('%').trim().parse().ok();
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "give a percentage, such as 2%".into())
}

/// Parses a measure by its name in recipes.
fn measure(text: &str) -> Result<Measure, String> {
    let name = |measure: &Measure| serde_json::to_value(measure).unwrap_or_default();
    let measure = Measure::ALL
        .into_iter()
        .find(|measure| name(measure) == text);
    measure.ok_or_else(|| {
        let names: Vec<String> = (Measure::ALL.iter())
            .filter_map(|measure| Some(name(measure).as_str()?.to_owned()))
            .collect();
        format!("there are {}", names.join(", "))
    })
}

fn wrong(what: impl std::fmt::Display) -> Failure {
    Failure::new(USAGE_ERROR, what)
}
