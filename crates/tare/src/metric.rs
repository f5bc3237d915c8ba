//! A metric: a name, known to the compiler, that turns into a number when Tare starts.

use tare_layout::metric::Type;

use crate::number::Number;

/// A metric. Declare them with [`metrics!`](crate::metrics!); they are then all listed when Tare starts.
#[derive(Debug)]
pub struct Metric {
    name: &'static str,
    subsystem: &'static str,
    documentation: &'static str,
    kind: Type,
    enabled: bool,
    pub(crate) number: Number,
}

impl Metric {
    /// A metric with a name of at most 128 bytes, in a subsystem of at most 64.
    pub const fn new(
        kind: Type,
        name: &'static str,
        subsystem: &'static str,
        documentation: &'static str,
    ) -> Self {
        assert!(
            !name.is_empty() && name.len() <= 128,
            "a metric's name has 1 to 128 bytes"
        );
        assert!(
            !subsystem.is_empty() && subsystem.len() <= 64,
            "a subsystem's name has 1 to 64 bytes"
        );
        Self {
            name,
            subsystem,
            documentation,
            kind,
            enabled: false,
            number: Number::none(),
        }
    }

    /// Gathers it from the start.
    pub const fn enabled(mut self) -> Self {
        self.enabled = true;
        self
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it belongs to.
    pub const fn subsystem(&self) -> &'static str {
        self.subsystem
    }

    /// One sentence that describes it.
    pub const fn documentation(&self) -> &'static str {
        self.documentation
    }

    /// What it is.
    pub const fn kind(&self) -> Type {
        self.kind
    }

    /// Whether it is gathered by default.
    pub const fn enabled_by_default(&self) -> bool {
        self.enabled
    }
}

/// All metrics that [`metrics!`](crate::metrics!) declared, in any crate.
#[linkme::distributed_slice]
pub static METRICS: [&'static Metric];
