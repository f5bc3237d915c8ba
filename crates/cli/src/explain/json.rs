//! The report of `tare explain` for programs. docs/schemas/explain.json describes it.

use serde_json::{Map, Value as Json, json};

use super::report::Report;
use super::sample::{Meter, statements};

const PS_PER_NS: f64 = 1e3;

impl Report {
    /// One object. Costs are CPU time of the interval.
    pub fn json(&self) -> Json {
        let sum = |of: fn(&Meter) -> f64| self.meters.values().map(of).sum::<f64>();
        let seconds = |ns: f64| json!(ns / 1e9);
        let statements = statements(&self.meters, self.questions);
        let is_estimated = self.meters.values().any(|meter| meter.left_out > 0.0);
        let instruments = self.most_expensive();
        let instruments = instruments.iter().map(|(name, meter)| {
            let observed = (meter.count * meter.observed_share()).max(1.0);
            json!({
                "name": name,
                "cost_ps_per_s": meter.cost_ns() * PS_PER_NS / self.seconds,
                "cost_pct": self.percent(meter.cost_ns()),
                "events_per_s": meter.count / self.seconds,
                "events_error_pct": is_estimated.then(|| meter.error_percent()).flatten(),
                "cost_ps_per_event": meter.cost_ns() * PS_PER_NS / observed,
                "time_ps_per_event": meter.measured_ns * PS_PER_NS / meter.count.max(1.0),
                "is_timed": meter.timed,
            })
        });
        let savings = self.savings();
        let savings = savings.iter().map(|saving| {
            json!({
                "what": saving.what,
                "saved_s": saving.ns / 1e9,
                "saved_pct": self.percent(saving.ns),
                "sql": saving.sql,
            })
        });
        let read_ns: Map<String, Json> = (self.host.read_ns.iter())
            .map(|(timer, ns)| (timer.clone(), json!(ns)))
            .collect();
        json!({
            "server": self.headline,
            "seconds": self.seconds,
            "cpu_s": self.cpu.as_ref().ok(),
            "cpu_unknown_because": self.cpu.as_ref().err(),
            "statements_per_s": statements / self.seconds,
            "events_per_s": sum(|meter| meter.count) / self.seconds,
            "cost_s": seconds(self.cost_ns()),
            "cost_pct": self.percent(self.cost_ns()),
            "clocks_s": seconds(sum(|meter| meter.timer_ns)),
            "timing_s": seconds(sum(Meter::timing_ns)),
            "counting_s": seconds(sum(|meter| meter.counting_ns)),
            "texts_s": seconds(self.texts_ns),
            "clock_read_ns": read_ns,
            "unit_costs": self.source,
            "sampling": self.sampling,
            "instruments": instruments.collect::<Vec<_>>(),
            "savings": savings.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::report;

    #[test]
    fn the_object_has_the_figures_of_the_text() {
        let mut report = report();
        let json = report.json();
        let number = |name: &str| json[name].as_f64().unwrap_or(f64::NAN);
        assert!((number("cost_s") - 0.0628).abs() < 1e-9, "{json}");
        let share = number("cost_s") / number("cpu_s");
        assert!((number("cost_pct") / 100.0 - share).abs() < 1e-9, "{json}");
        assert_eq!(
            json["instruments"][0]["name"],
            "wait/synch/mutex/sql/LOCK_open"
        );
        assert!(json["instruments"][0]["events_error_pct"].is_null());
        assert_eq!(json["savings"].as_array().map(Vec::len), Some(5));
        report.cpu = Err("far away".into());
        let json = report.json();
        assert!(json["cpu_s"].is_null() && json["cost_pct"].is_null());
        assert_eq!(json["cpu_unknown_because"], "far away");
    }
}
