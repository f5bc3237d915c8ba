//! results.csv has a line for each cell of each repetition, comparisons.csv for each comparison.

use crate::analysis::Analysis;
use crate::cell;
use crate::recipe::Measure;

const RESULTS: &str = "number,repetition,server,workload,connections,configuration,again,state,reason,seconds,transactions,queries,\
errors,throughput,server_cpu_us,server_user_s,server_system_s,generator_cpu_us,generator_user_s,generator_system_s,latency_mean_ms,\
latency_95_ms,latency_99_ms,latency_max_ms,machine_user,machine_system,machine_idle,machine_stolen,switches_machine,\
switches_server_voluntary,switches_server_involuntary,switches_generator,resident_kib,figure,rate,events\n";

/// results.csv.
pub fn results(results: &[cell::Result]) -> String {
    let mut text = RESULTS.to_owned();
    for result in results {
        let key = &result.cell.key;
        let mut fields = vec![
            result.cell.number.to_string(),
            result.cell.repetition.to_string(),
            key.server.clone(),
            key.workload.clone(),
            key.connections.to_string(),
            key.configuration.clone(),
            key.again.to_string(),
        ];
        let (state, reason) = match &result.outcome {
            cell::Outcome::Done(_) => ("done", ""),
            cell::Outcome::Failed { reason } => ("failed", reason.as_str()),
            cell::Outcome::Skipped { reason } => ("skipped", reason.as_str()),
        };
        fields.extend([state.to_owned(), reason.to_owned()]);
        if let Some(one) = result.outcome.measured() {
            let number =
                |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let of = |measure| number(one.value(measure));
            let latency = one.latency.as_ref();
            fields.extend([
                one.seconds.to_string(),
                one.transactions.to_string(),
                one.queries.to_string(),
                one.errors.to_string(),
                of(Measure::Throughput),
                of(Measure::ServerCpu),
                number(one.server.map(|cpu| cpu.user)),
                number(one.server.map(|cpu| cpu.system)),
                of(Measure::GeneratorCpu),
                one.generator.user.to_string(),
                one.generator.system.to_string(),
                of(Measure::LatencyMean),
                of(Measure::Latency95),
                of(Measure::Latency99),
                number(latency.map(|latency| latency.max_ms)),
                one.machine.user.to_string(),
                one.machine.system.to_string(),
                one.machine.idle.to_string(),
                one.machine.stolen.to_string(),
                one.switches.machine.to_string(),
                one.switches.server_voluntary.to_string(),
                one.switches.server_involuntary.to_string(),
                one.switches.generator.to_string(),
                number(
                    one.memory
                        .iter()
                        .map(|memory| memory.resident_kib as f64)
                        .reduce(f64::max),
                ),
                number(one.figure),
                number(one.rate),
                one.events
                    .iter()
                    .map(|event| event.count)
                    .sum::<u64>()
                    .to_string(),
            ]);
        }
        fields.resize(RESULTS.split(',').count(), String::new());
        line(&mut text, &fields);
    }
    text
}

/// comparisons.csv.
pub fn comparisons(analysis: &Analysis) -> String {
    let mut text = "server,workload,connections,configuration,again,measure,percent,low,high,confidence,floor,pairs,verdict,unstable,phase\n".to_owned();
    for row in &analysis.rows {
        for (measure, comparison) in &row.comparisons {
            let number =
                |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            line(
                &mut text,
                &[
                    row.key.server.clone(),
                    row.key.workload.clone(),
                    row.key.connections.to_string(),
                    row.key.configuration.clone(),
                    row.key.again.to_string(),
                    word(measure),
                    comparison.percent.mean.to_string(),
                    number(comparison.percent.low),
                    number(comparison.percent.high),
                    comparison.coverage.confidence().to_string(),
                    number(comparison.floor_percent),
                    comparison.pairs.to_string(),
                    word(&comparison.verdict),
                    row.unstable.clone().unwrap_or_default(),
                    row.phase
                        .map(|phase| phase.title().to_owned())
                        .unwrap_or_default(),
                ],
            );
        }
    }
    text
}

/// A unit variant, named as in JSON.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value
        .and_then(|value| Some(value.as_str()?.to_owned()))
        .unwrap_or_default()
}

fn line(text: &mut String, fields: &[String]) {
    let quoted: Vec<String> = fields.iter().map(|field| quote(field)).collect();
    text.push_str(&quoted.join(","));
    text.push('\n');
}

/// Quotes a field as in RFC 4180.
fn quote(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quote("plain 5.7"), "plain 5.7");
        assert_eq!(quote("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
    }
}
