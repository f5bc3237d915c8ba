//! A load that is a command of the user, which prints a figure.

use std::process::Command;

use super::{Drive, LoadReport};
use crate::recipe::{FigureIs, Workload};
use crate::server::RunningServer;

/// The command with its placeholders filled in.
pub(super) fn run(drive: &Drive, running: &RunningServer) -> Command {
    let workload = drive.parts.workload;
    let words: Vec<String> = workload
        .command
        .iter()
        .map(|word| drive.fill(word, Some(running)))
        .collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(drive.options());
    if let Some(pid) = running.pid {
        command.env("TARE_WEIGH_PID", pid.to_string());
    }
    command
}

/// The figure in the output.
pub(super) fn parse_figure(
    workload: &Workload,
    output: &str,
    seconds: f64,
) -> Result<LoadReport, String> {
    let figure = match &workload.figure {
        Some(label) => {
            let at = output.rfind(label.as_str());
            let rest = at.map(|at| &output[at + label.len()..]);
            rest.and_then(|rest| numbers(rest).next())
                .ok_or_else(|| format!("printed no number after '{label}'"))?
        }
        None => numbers(output).last().ok_or("printed no number")?,
    };
    if figure <= 0.0 {
        return Err(format!("printed {figure}, which cannot be compared"));
    }
    let transactions = match workload.figure_is {
        FigureIs::Rate => figure * seconds,
        FigureIs::Count => figure,
        FigureIs::Time => seconds / figure,
    };
    Ok(LoadReport {
        seconds,
        transactions,
        figure: Some(figure),
        ..LoadReport::default()
    })
}

/// Every number in a text; thousands may be separated by commas.
fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let words = text
        .split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | 'E' | '+' | '-')));
    words
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-'))
        .filter_map(|word| {
            word.replace(',', "")
                .trim_end_matches(['.', '-'])
                .parse()
                .ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(label: Option<&str>, is: FigureIs, output: &str) -> Result<(f64, f64), String> {
        let workload = Workload {
            figure: label.map(str::to_owned),
            figure_is: is,
            ..Workload::default()
        };
        let driven = parse_figure(&workload, output, 2.0)?;
        Ok((driven.figure.expect("one"), driven.transactions))
    }

    #[test]
    fn the_figure_is_parsed_and_becomes_transactions() {
        assert_eq!(
            read(None, FigureIs::Rate, "took 3 s\n1,250.5 req/s\n"),
            Ok((1250.5, 2501.0))
        );
        let redis = "GET: 81234.50 requests per second, p50=0.3 msec\n";
        assert_eq!(
            read(Some("GET:"), FigureIs::Rate, redis),
            Ok((81234.5, 162_469.0))
        );
        assert_eq!(read(None, FigureIs::Count, "done 70"), Ok((70.0, 70.0)));
        assert_eq!(read(None, FigureIs::Time, "0.5"), Ok((0.5, 4.0)));
    }

    #[test]
    fn an_output_without_a_figure_is_an_error() {
        assert!(
            read(None, FigureIs::Rate, "no figure")
                .unwrap_err()
                .contains("no number")
        );
        assert!(
            read(Some("tps:"), FigureIs::Rate, "qps: 3")
                .unwrap_err()
                .contains("'tps:'")
        );
        assert!(read(None, FigureIs::Rate, "0").is_err());
    }
}
