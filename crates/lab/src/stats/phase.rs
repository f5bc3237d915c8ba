//! The phases of a curve of throughput by connections: ramp-up, peak and degradation.

use serde::{Deserialize, Serialize};

/// The part of the highest point from which a point counts as peak. The 2011 study calls 8 to 48 connections (100 to
/// 93.6 % of its highest) the peak, and 64 connections (81 %) degradation; any value between fits.
const PEAK: f64 = 0.9;

/// The phase of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// More connections bring more throughput.
    RampUp,
    /// The highest throughput.
    Peak,
    /// More connections bring less throughput.
    Degradation,
}

impl Phase {
    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::RampUp => "ramp-up",
            Self::Peak => "peak",
            Self::Degradation => "degradation",
        }
    }
}

/// The phase of each point of a curve that is in the order of connections; `None` below three points.
pub fn phases(throughput: &[f64]) -> Option<Vec<Phase>> {
    if throughput.len() < 3 {
        return None;
    }
    let (top, highest) =
        (throughput.iter().copied().enumerate()).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let at_peak = |&at: &usize| throughput[at] >= PEAK * highest;
    let first = (0..=top).rev().take_while(at_peak).last()?;
    let last = (top..throughput.len()).take_while(at_peak).last()?;
    Some(
        (0..throughput.len())
            .map(|at| match at {
                at if at < first => Phase::RampUp,
                at if at > last => Phase::Degradation,
                _ => Phase::Peak,
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_2011_curve_has_the_phases_that_its_author_named() {
        // Connections 1, 2, 4, 8, 12, 16, 32, 48, 64, 128, 256, schema not compiled in.
        let curve = [
            807.0, 1439.0, 2610.0, 5086.0, 5037.0, 5038.0, 4854.0, 4762.0, 4118.0, 3538.0, 1746.0,
        ];
        let phases = phases(&curve).expect("eleven points");
        assert!(phases[..3].iter().all(|phase| *phase == Phase::RampUp));
        assert!(phases[3..8].iter().all(|phase| *phase == Phase::Peak));
        assert!(phases[8..].iter().all(|phase| *phase == Phase::Degradation));
    }

    #[test]
    fn a_curve_may_lack_phases() {
        assert_eq!(phases(&[1.0, 2.0]), None);
        assert_eq!(phases(&[1.0, 2.0, 3.0]).unwrap()[2], Phase::Peak);
        assert_eq!(phases(&[5.0, 5.0, 5.0]).unwrap(), [Phase::Peak; 3]);
        assert_eq!(phases(&[9.0, 5.0, 3.0]).unwrap()[1], Phase::Degradation);
        // A dip within the peak ends it.
        assert_eq!(phases(&[9.5, 5.0, 10.0]).unwrap()[0], Phase::RampUp);
    }
}
