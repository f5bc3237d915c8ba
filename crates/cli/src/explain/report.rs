//! The report of `tare explain`: the cost of instrumentation, and what would save it.

use std::collections::HashMap;

use super::calibrate::Host;
use super::sample::{Meter, Meters, statements};
use crate::observe::sampling::ACTIVE;
use crate::observe::table::{Side, lines};
use crate::observe::{format, sql_literal};

/// The number of instruments in the table.
const MAX_INSTRUMENTS: usize = 10;

/// Switches everything off.
const OFF: &str = "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'global_instrumentation';";

/// A change of settings that would save CPU.
pub struct Saving {
    /// What changes.
    pub what: String,
    /// The CPU that it saves in the interval, in nanoseconds.
    pub ns: f64,
    /// The statement.
    pub sql: String,
}

/// The figures of an interval.
pub struct Report {
    /// The server, for the headline.
    pub headline: String,
    /// The interval.
    pub seconds: f64,
    /// CPU seconds of the server, or why they are not known.
    pub cpu: Result<f64, String>,
    /// Events by instrument.
    pub meters: Meters,
    /// The growth of Questions.
    pub questions: Option<f64>,
    /// Statement texts that were parsed for unknown digests.
    pub texts: f64,
    /// CPU for them, in nanoseconds.
    pub texts_ns: f64,
    /// Timer by event type.
    pub timers: HashMap<String, String>,
    /// The table where timers can be changed.
    pub timers_change: Option<&'static str>,
    /// Costs of this host.
    pub host: Host,
    /// Where the unit costs come from.
    pub source: String,
    /// The sampling rules, if anything is sampled.
    pub sampling: Option<String>,
    /// Consumers of histories that are on.
    pub histories: Vec<String>,
}

impl Report {
    /// Instrumentation's CPU, in nanoseconds.
    pub fn cost_ns(&self) -> f64 {
        self.texts_ns + self.meters.values().map(Meter::cost_ns).sum::<f64>()
    }

    /// Instrumentation's share of the server's CPU, in percent.
    pub fn percent(&self, ns: f64) -> Option<f64> {
        let cpu = *self.cpu.as_ref().ok()?;
        (cpu > 0.0).then(|| ns / 1e9 / cpu * 100.0)
    }

    /// The instruments with the highest cost relative to the time that they measure.
    pub fn most_expensive(&self) -> Vec<(&String, &Meter)> {
        let score = |meter: &Meter| {
            meter.cost_ns() * meter.cost_ns() / (meter.cost_ns() + meter.measured_ns).max(1.0)
        };
        let mut all: Vec<_> = self.meters.iter().collect();
        all.sort_by(|a, b| score(b.1).total_cmp(&score(a.1)).then_with(|| a.0.cmp(b.0)));
        all.truncate(MAX_INSTRUMENTS);
        all
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let sum = |of: fn(&Meter) -> f64| {
            self.meters
                .values()
                .map(of)
                .fold(0.0, |sum: f64, each| sum + each)
        };
        let seconds = |ns: f64| format::time(ns * 1e3);
        let share = |ns: f64| {
            self.percent(ns).map_or(String::new(), |percent| {
                format!(", {percent:.2} % of the server's CPU")
            })
        };
        let statements = statements(&self.meters, self.questions);
        let mut text = vec![
            format!("tare explain  {}, {:.1} s", self.headline, self.seconds),
            String::new(),
        ];
        text.push(match &self.cpu {
            Ok(cpu) => format!(
                "server's CPU     {}, {:.1} % of one CPU",
                format::time(cpu * 1e12),
                cpu / self.seconds * 100.0
            ),
            Err(why) => format!("server's CPU     unknown: {why}"),
        });
        text.push(format!(
            "statements       {}/s",
            format::count(statements / self.seconds)
        ));
        text.extend(self.sampling_line());
        let events = sum(|meter| meter.count);
        text.push(format!(
            "events           {}/s, {} per statement",
            format::count(events / self.seconds),
            format::count(events / statements.max(1.0))
        ));
        text.push(format!(
            "instrumentation  {} of CPU{}",
            seconds(self.cost_ns()),
            share(self.cost_ns())
        ));
        text.push(format!(
            "  reading clocks {} for {} reads{}",
            seconds(sum(|m| m.timer_ns)),
            format::count(sum(|m| m.reads)),
            share(sum(|m| m.timer_ns))
        ));
        let rest = sum(|m| m.timing_ns()) - sum(|m| m.timer_ns);
        text.push(match rest < 0.0 {
            false => format!("  storing times  {}{}", seconds(rest), share(rest)),
            true => format!(
                "  overlap        -{}: the processor counts while it reads a clock",
                seconds(-rest)
            ),
        });
        text.push(format!(
            "  counting       {}{}",
            seconds(sum(|m| m.counting_ns)),
            share(sum(|m| m.counting_ns))
        ));
        if self.texts > 0.0 {
            text.push(format!(
                "  reading texts  {} for {} unknown digests{}",
                seconds(self.texts_ns),
                format::count(self.texts),
                share(self.texts_ns)
            ));
        }
        let reads: Vec<String> = self
            .host
            .read_ns
            .iter()
            .map(|(timer, ns)| format!("{timer} {ns:.1} ns"))
            .collect();
        text.extend([
            format!(
                "Cost of one timer read on this machine: {}.",
                reads.join(", ")
            ),
            self.source.clone(),
        ]);
        if !self.histories.is_empty() {
            text.push(format!(
                "Writing an event to one of {} is taken to cost what it costs MySQL 5.7.22.",
                self.histories.join(", ")
            ));
        }
        text.push(String::new());
        text.push(
            "Instruments with the highest cost relative to the time that they measure:".to_owned(),
        );
        text.extend(self.table(statements));
        text.push(String::new());
        text.extend(self.savings_text());
        text.push(String::new());
        text.join("\n")
    }

    /// The line that marks events as estimates, if something is sampled.
    fn sampling_line(&self) -> Option<String> {
        let rules = self.sampling.as_ref()?;
        if rules == ACTIVE {
            return Some(format!(
                "level            {rules}: statements are counted, in total; waits and stages are stored, which is not \
                 in the costs below"
            ));
        }
        Some(format!(
            "sampled          {rules}: events are estimates, costs are of those observed"
        ))
    }

    fn table(&self, statements: f64) -> Vec<String> {
        let heads = [
            ("COST/s", Side::Right),
            ("% OF CPU", Side::Right),
            ("EVENTS/s", Side::Right),
            ("/STATEMENT", Side::Right),
            ("COST/EVENT", Side::Right),
            ("TIME/EVENT", Side::Right),
            ("TIMED", Side::Left),
            ("INSTRUMENT", Side::Left),
        ];
        let mut heads = heads.map(|(head, side)| (head.to_owned(), side)).to_vec();
        // Half the 95 % interval of the events.
        let most_expensive = self.most_expensive();
        let is_estimated = most_expensive.iter().any(|(_, meter)| meter.left_out > 0.0);
        if is_estimated {
            heads.insert(3, ("+-%".to_owned(), Side::Right));
        }
        let rows: Vec<Vec<String>> = (most_expensive.iter())
            .map(|(name, meter)| {
                let mut row = vec![
                    format::time(meter.cost_ns() * 1e3 / self.seconds),
                    self.percent(meter.cost_ns())
                        .map_or("?".to_owned(), |percent| format!("{percent:.3}")),
                    format::count(meter.count / self.seconds),
                    format::count(meter.count / statements.max(1.0)),
                    // The cost of an observed event.
                    format::time(
                        meter.cost_ns() * 1e3 / (meter.count * meter.observed_share()).max(1.0),
                    ),
                    format::time(meter.measured_ns * 1e3 / meter.count.max(1.0)),
                    if meter.timed { "YES" } else { "NO" }.to_owned(),
                    format::line(name),
                ];
                if is_estimated {
                    let error = meter.error_percent();
                    row.insert(
                        3,
                        error.map_or(String::new(), |error| format!("{error:.1}")),
                    );
                }
                row
            })
            .collect();
        lines(&heads, &rows)
    }

    /// What would save CPU, as text.
    fn savings_text(&self) -> Vec<String> {
        let line = |saving: &Saving| {
            let saved = match self.percent(saving.ns) {
                Some(percent) => format!("{percent:.2} % of CPU"),
                None => format!(
                    "{} of CPU per second",
                    format::time(saving.ns * 1e3 / self.seconds)
                ),
            };
            vec![
                format!("{}: saves {saved}", saving.what),
                format!("  {}", saving.sql),
            ]
        };
        let mut text: Vec<String> = self.savings().iter().flat_map(line).collect();
        if let (Some((timer, ns, _)), None) = (self.faster_timer(), self.timers_change) {
            text.push(format!(
                "Timing by {timer} would save {}, but this server's timers cannot be chosen.",
                self.percent(ns)
                    .map_or(format::time(ns * 1e3), |p| format!("{p:.2} % of CPU"))
            ));
        }
        text
    }

    /// What would save CPU. Nothing is executed.
    pub fn savings(&self) -> Vec<Saving> {
        let all: Vec<&Meter> = self.meters.values().collect();
        let most_expensive = self.most_expensive();
        let ten: Vec<&Meter> = most_expensive.iter().map(|(_, meter)| *meter).collect();
        let names = |is_wanted: &dyn Fn(&Meter) -> bool| {
            let wanted = most_expensive.iter().filter(|(_, meter)| is_wanted(meter));
            let names: Vec<String> = wanted.map(|(name, _)| sql_literal(name)).collect();
            names.join(", ")
        };
        let timed_names = names(&|meter| meter.timed);
        let names = names(&|_| true);
        let sum = |of: fn(&Meter) -> f64, meters: &[&Meter]| {
            meters
                .iter()
                .map(|meter| of(meter))
                .fold(0.0, |sum: f64, each| sum + each)
        };
        let saving = |what: &str, ns: f64, sql: String| Saving {
            what: what.to_owned(),
            ns,
            sql,
        };
        let update = |what: &str, which: &str| {
            format!("UPDATE performance_schema.setup_instruments SET {what} WHERE {which};")
        };
        let mut savings = Vec::new();
        if !timed_names.is_empty() {
            savings.push(saving(
                "Counting these instead of timing them",
                sum(Meter::timing_ns, &ten),
                update("TIMED = 'NO'", &format!("NAME IN ({timed_names})")),
            ));
        }
        savings.push(saving(
            "Counting everything instead of timing it",
            sum(Meter::timing_ns, &all),
            update("TIMED = 'NO'", "NAME NOT LIKE 'memory/%'"),
        ));
        if let (Some((timer, ns, events)), Some(table)) = (self.faster_timer(), self.timers_change)
        {
            let which: Vec<String> = events.iter().map(|event| format!("'{event}'")).collect();
            let sql = format!(
                "UPDATE {table} SET TIMER_NAME = '{timer}' WHERE NAME IN ({});",
                which.join(", ")
            );
            savings.push(saving(&format!("Timing by {timer}"), ns, sql));
        }
        savings.push(saving(
            "Switching these off",
            sum(Meter::cost_ns, &ten),
            update("ENABLED = 'NO'", &format!("NAME IN ({names})")),
        ));
        savings.push(saving(
            "Switching everything off",
            self.cost_ns(),
            OFF.to_owned(),
        ));
        savings
    }

    /// The fastest timer, the CPU that it would save, and the event types; `None` if all have it.
    fn faster_timer(&self) -> Option<(&str, f64, Vec<&str>)> {
        let (timer, read) = self
            .host
            .read_ns
            .iter()
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        let mut saved = 0.0;
        let mut events: Vec<&str> = Vec::new();
        for meter in self.meters.values() {
            let Some(own) = self.timers.get(&meter.event_type) else {
                continue;
            };
            let less = meter.reads * (self.host.read(own) - read);
            if own != timer && less > 0.0 {
                saved += less;
                if !events.contains(&meter.event_type.as_str()) {
                    events.push(&meter.event_type);
                }
            }
        }
        events.sort_unstable();
        (!events.is_empty()).then_some((timer.as_str(), saved, events))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn report() -> Report {
        let meter =
            |event_type: &str, count, measured_ns, reads: f64, timer_ns, counting_ns| Meter {
                event_type: event_type.into(),
                timed: reads > 0.0,
                count,
                measured_ns,
                reads,
                timer_ns,
                counting_ns,
                ..Meter::default()
            };
        Report {
            headline: "db (MySQL 5.7.22)".into(),
            seconds: 2.0,
            cpu: Ok(1.0),
            meters: [
                // Uncontended locks measure little but the clock; the file's time is worth its cost.
                (
                    "wait/synch/mutex/sql/LOCK_open".to_owned(),
                    meter("wait", 1e6, 5e7, 2e6, 2e7, 5e6),
                ),
                (
                    "wait/io/file/sql/binlog".to_owned(),
                    meter("wait", 1e6, 5e11, 2e6, 3e7, 5e6),
                ),
                (
                    "statement/sql/select".to_owned(),
                    meter("statement", 1e4, 1e9, 2e4, 8e5, 2e6),
                ),
            ]
            .into(),
            questions: None,
            texts: 0.0,
            texts_ns: 0.0,
            timers: [
                ("wait".to_owned(), "CYCLE".to_owned()),
                ("statement".to_owned(), "NANOSECOND".to_owned()),
            ]
            .into(),
            timers_change: Some("tare.setup_timers"),
            host: Host {
                read_ns: vec![("CYCLE".into(), 10.0), ("NANOSECOND".into(), 40.0)],
                ..Host::default()
            },
            source: "Unit costs: documented.".into(),
            histories: Vec::new(),
            sampling: None,
        }
    }

    #[test]
    fn estimates_are_marked_and_cost_what_was_observed() {
        let mut report = report();
        assert!(!report.text().contains("+-%"));
        report.sampling = Some("wait 1/16".into());
        let name = "wait/io/file/sql/binlog";
        let meter = report.meters.get_mut(name).expect(name);
        meter.left_out = meter.count * 15.0 / 16.0;
        meter.variance = (meter.count / 19.6).powi(2);
        let text = report.text();
        assert!(text.contains("sampled          wait 1/16"), "{text}");
        let line = |with: &str| text.lines().find(|line| line.contains(with));
        let heads = line("EVENTS/s").expect("heads");
        assert!(heads.contains("+-%"), "{text}");
        let row = text.lines().find(|line| line.ends_with(name)).expect(name);
        assert!(row.contains(" 10.0 "), "{text}");
        // 35 ms for 62500 observed events.
        assert!(row.contains("560.00 ns"), "{text}");
    }

    #[test]
    fn the_sum_is_printed_as_cpu_and_percent() {
        let text = report().text();
        for expected in [
            "server's CPU     1.00 s, 50.0 % of one CPU",
            "statements       5000/s",
            "201 per statement",
            "instrumentation  62.80 ms of CPU, 6.28 % of the server's CPU",
            "for 4020000 reads, 5.08 %",
        ] {
            assert!(text.contains(expected), "no {expected:?} in\n{text}");
        }
    }

    #[test]
    fn an_instrument_that_measures_little_for_its_cost_is_first() {
        let report = report();
        let order: Vec<&str> = report
            .most_expensive()
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            order,
            [
                "wait/synch/mutex/sql/LOCK_open",
                "statement/sql/select",
                "wait/io/file/sql/binlog"
            ]
        );
    }

    #[test]
    fn savings_have_their_sql() {
        let text = report().text();
        assert!(text.contains("Counting everything instead of timing it: saves 5.08 % of CPU\n  UPDATE performance_schema.setup_instruments SET TIMED = 'NO'"), "{text}");
        assert!(text.contains("Timing by CYCLE: saves 0.06 % of CPU\n  UPDATE tare.setup_timers SET TIMER_NAME = 'CYCLE' WHERE NAME IN ('statement');"), "{text}");
        let fixed = Report {
            timers_change: None,
            cpu: Err("far away".into()),
            ..report()
        };
        let text = fixed.text();
        assert!(
            text.contains("server's CPU     unknown: far away")
                && text.contains("cannot be chosen"),
            "{text}"
        );
    }
}
