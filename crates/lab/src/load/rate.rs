//! A rate that takes a given share of the machine's CPU.

use crate::recipe::Rate;

/// `"40-60 %"` as two numbers.
pub fn percents(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.trim().strip_suffix('%')?.split_once('-')?;
    let (low, high): (f64, f64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low > 0.0 && low < high && high <= 100.0).then_some((low, high))
}

/// `"50 % of peak"` as a part of one.
pub fn of_peak(text: &str) -> Option<f64> {
    let percent = text.trim().strip_suffix("of peak")?.trim();
    let percent: f64 = percent.strip_suffix('%')?.trim().parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
}

impl Rate {
    /// The part of the peak rate, if the rate is given so.
    pub fn peak(&self) -> Option<f64> {
        match self {
            Self::Fixed(_) => None,
            Self::Cpu(text) => of_peak(text),
        }
    }

    /// The rate, if it is a number.
    pub fn fixed(&self) -> Option<f64> {
        match self {
            Self::Fixed(rate) => Some(*rate),
            Self::Cpu(_) => None,
        }
    }

    /// The requested share of the machine's CPU in percent.
    pub fn cpu(&self) -> Option<(f64, f64)> {
        match self {
            Self::Fixed(_) => None,
            Self::Cpu(text) => percents(text),
        }
    }
}

/// The next rate to try after `rate` used `busy` percent of the CPU; `None` if that is within the range.
pub fn next(rate: f64, busy: f64, (low, high): (f64, f64)) -> Option<f64> {
    let wanted = (low + high) / 2.0;
    (busy < low || busy > high).then(|| rate * wanted / busy.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_cpu_is_parsed() {
        assert_eq!(percents("40-60 %"), Some((40.0, 60.0)));
        assert_eq!(percents(" 5 - 10%"), Some((5.0, 10.0)));
        for wrong in ["40-60", "60-40 %", "0-10 %", "50 %", "10-120 %", "a-b %"] {
            assert_eq!(percents(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_part_of_the_peak_is_parsed() {
        assert_eq!(of_peak("50 % of peak"), Some(0.5));
        assert_eq!(of_peak("12.5% of peak"), Some(0.125));
        for wrong in [
            "50 %",
            "of peak",
            "0 % of peak",
            "101 % of peak",
            "40-60 % of peak",
        ] {
            assert_eq!(of_peak(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rates_converge_to_the_requested_share() {
        // A machine that is saturated at 1000 per second.
        let busy = |rate: f64| (rate / 10.0).min(100.0);
        let mut rate = 1200.0;
        let mut tries = 0;
        while let Some(other) = next(rate, busy(rate), (40.0, 60.0)) {
            rate = other;
            tries += 1;
            assert!(tries < 5, "{rate}");
        }
        assert!((40.0..=60.0).contains(&busy(rate)));
    }
}
