//! After-effects of a switch: how long a server's CPU per transaction still differs from its later value.

use std::time::Duration;

use super::switch::Switchboard;
use crate::error::CellError;
use crate::load::counted::{Counted, LEAD};
use crate::server::RunningServer;
use crate::stats::{deviation, mean, median};

/// Slices that are measured after each switch. The first half is compared with the second.
const SLICE: Duration = Duration::from_millis(10);
const SLICES: usize = 24;

/// Switches to each configuration.
const ROUNDS: usize = 6;

/// The smallest after-effect that matters; turns average out smaller ones.
const MIN_EFFECT: f64 = 0.02;

/// Measures how long a load has to run after a switch before a turn may be measured.
pub(super) fn measure_lead(
    running: &mut RunningServer,
    load: &mut Counted,
    switches: &mut Switchboard,
    configurations: &[String],
) -> Result<Duration, CellError> {
    let mut differences = vec![Vec::new(); SLICES];
    for _ in 0..ROUNDS {
        for name in configurations {
            switches.switch_to(running, name)?;
            let slices = load.measure_slices(running, SLICE, SLICES)?;
            let late: Vec<f64> = slices[SLICES / 2..].iter().flatten().copied().collect();
            for (differences, slice) in differences.iter_mut().zip(&slices) {
                let difference = slice.map(|cpu| (cpu / mean(&late)).ln());
                differences.extend(difference.filter(|difference| difference.is_finite()));
            }
        }
    }
    Ok(settled(&differences).max(LEAD))
}

/// The time after which slices do not differ detectably from the late ones.
fn settled(differences: &[Vec<f64>]) -> Duration {
    let differs = |slice: &Vec<f64>| {
        // The standard error of the median of normal values.
        let error = 1.25 * deviation(slice) / (slice.len() as f64).sqrt();
        slice.len() >= 4 && median(slice).abs() > MIN_EFFECT.max(2.0 * error)
    };
    let early = &differences[..differences.len() / 2];
    // A slice may differ by chance; the after-effect begins at the switch.
    let slices = early.iter().take_while(|slice| differs(slice)).count();
    SLICE * slices as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_effects_that_begin_at_the_switch_are_waited_for() {
        let noise = [0.01, -0.01, 0.005, -0.005, 0.0, 0.01];
        let slice = |level: f64| -> Vec<f64> { noise.iter().map(|noise| level + noise).collect() };
        let mut differences = vec![slice(0.0); SLICES];
        assert_eq!(settled(&differences), Duration::ZERO);
        differences[4] = slice(0.3);
        assert_eq!(settled(&differences), Duration::ZERO);
        for (at, level) in [0.5, 0.2, 0.05].into_iter().enumerate() {
            differences[at] = slice(level);
        }
        assert_eq!(settled(&differences), SLICE * 3);
        differences[1] = vec![0.5, -0.5, 0.2, -0.1];
        assert_eq!(settled(&differences), SLICE);
    }
}
