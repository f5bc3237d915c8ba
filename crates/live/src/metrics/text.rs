//! The text that Prometheus reads, in two formats: OpenMetrics 1.0, which it prefers, and its own older
//! one. They differ in the heading of counters and in the end mark.

use std::fmt::Write;
use std::time::SystemTime;

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Only grows, until the server restarts or its table is truncated.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Only labels; the value is 1.
    Info,
}

/// The format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// application/openmetrics-text
    OpenMetrics,
    /// text/plain
    Plain,
}

impl Form {
    /// The format that a client accepts.
    pub fn accepted(accept: &str) -> Self {
        match accept.contains("application/openmetrics-text") {
            true => Self::OpenMetrics,
            false => Self::Plain,
        }
    }

    /// The value of the header Content-Type.
    pub fn kind(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Families of samples.
#[derive(Default)]
pub struct Families(Vec<Family>);

/// Samples of one name. `name` has no `_total` and no `_info`.
pub struct Family {
    name: &'static str,
    kind: Type,
    help: &'static str,
    samples: Vec<Sample>,
}

/// A value with its labels.
struct Sample {
    labels: Vec<Label>,
    value: f64,
    exemplar: Option<Exemplar>,
}

type Label = (&'static str, String);

/// An example of what a sample counts. Only OpenMetrics has it, and only for counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar {
    /// Where to find it.
    pub labels: [Label; 2],
    /// Its part of the sample's value.
    pub value: f64,
    /// When it was seen.
    pub at: SystemTime,
}

impl Family {
    /// Adds a sample.
    pub fn push<const N: usize>(&mut self, labels: [(&'static str, &str); N], value: f64) {
        self.push_with_exemplar(labels, value, None);
    }

    /// Adds a sample, and an example of what it counts.
    pub fn push_with_exemplar<const N: usize>(
        &mut self,
        labels: [(&'static str, &str); N],
        value: f64,
        exemplar: Option<Exemplar>,
    ) {
        let labels = labels.map(|(name, value)| (name, value.to_owned()));
        self.samples.push(Sample {
            labels: labels.into(),
            value,
            exemplar,
        });
    }
}

impl Families {
    /// The family of this name, which is added if it is new.
    pub fn of(&mut self, name: &'static str, kind: Type, help: &'static str) -> &mut Family {
        let at = self.0.iter().position(|family| family.name == name);
        let at = at.unwrap_or_else(|| {
            self.0.push(Family {
                name,
                kind,
                help,
                samples: Vec::new(),
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The complete text. Families without samples are skipped.
    pub fn text(&self, form: Form) -> String {
        let mut text = String::new();
        for family in self.0.iter().filter(|family| !family.samples.is_empty()) {
            family.write(&mut text, form);
        }
        if form == Form::OpenMetrics {
            text.push_str("# EOF\n");
        }
        text
    }
}

impl Family {
    fn write(&self, text: &mut String, form: Form) {
        let suffix = match self.kind {
            Type::Counter => "_total",
            Type::Gauge => "",
            Type::Info => "_info",
        };
        let (name, help) = (self.name, self.help);
        let (heading, kind) = match (form, self.kind) {
            (Form::OpenMetrics, Type::Counter) => ("", "counter"),
            (Form::OpenMetrics, Type::Info) => ("", "info"),
            (Form::Plain, Type::Counter) => (suffix, "counter"),
            (Form::Plain, Type::Info) => (suffix, "gauge"),
            (_, Type::Gauge) => ("", "gauge"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name}{heading} {help}");
        let _ = writeln!(text, "# TYPE {name}{heading} {kind}");
        for sample in &self.samples {
            text.push_str(name);
            text.push_str(suffix);
            write_labels(text, &sample.labels);
            let _ = write!(text, " {}", sample.value);
            if let (Some(exemplar), Form::OpenMetrics) = (&sample.exemplar, form) {
                text.push_str(" # ");
                write_labels(text, &exemplar.labels);
                let at = exemplar.at.duration_since(SystemTime::UNIX_EPOCH);
                let at = at.unwrap_or_default().as_secs_f64();
                let _ = write!(text, " {} {at:.3}", exemplar.value);
            }
            text.push('\n');
        }
    }
}

fn write_labels(text: &mut String, labels: &[Label]) {
    for (i, (label, value)) in labels.iter().enumerate() {
        let _ = write!(text, "{}{label}=\"", if i == 0 { '{' } else { ',' });
        escape(text, value);
        text.push('"');
    }
    text.push_str(if labels.is_empty() { "" } else { "}" });
}

fn escape(text: &mut String, value: &str) {
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_follow_their_standards() {
        let mut families = Families::default();
        families
            .of("calls", Type::Counter, "Calls.")
            .push([("of", "a\"\\\nb")], 3.0);
        families.of("open", Type::Gauge, "Open.").push([], 0.5);
        families.of("none", Type::Gauge, "None.");
        families
            .of("it", Type::Info, "What.")
            .push([("name", "x")], 1.0);
        let exemplar = Exemplar {
            labels: [("trace_id", "4b".to_owned()), ("span_id", "f0".to_owned())],
            value: 0.25,
            at: SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1500),
        };
        families
            .of("time", Type::Counter, "Time.")
            .push_with_exemplar([], 2.0, Some(exemplar));
        let plain = families.text(Form::Plain);
        assert_eq!(
            plain,
            "# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{of=\"a\\\"\\\\\\nb\"} 3\n\
             # HELP open Open.\n# TYPE open gauge\nopen 0.5\n\
             # HELP it_info What.\n# TYPE it_info gauge\nit_info{name=\"x\"} 1\n\
             # HELP time_total Time.\n# TYPE time_total counter\ntime_total 2\n"
        );
        let open = families.text(Form::OpenMetrics);
        assert!(open.starts_with("# HELP calls Calls.\n# TYPE calls counter\ncalls_total{"));
        assert!(open.contains("# TYPE it info\nit_info{name=\"x\"} 1\n"));
        assert!(
            open.ends_with("time_total 2 # {trace_id=\"4b\",span_id=\"f0\"} 0.25 1.500\n# EOF\n")
        );
    }
}
