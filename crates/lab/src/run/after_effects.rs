//! After-effects of switching: how long after it a server still does something else than it will.

use std::time::Duration;

use super::switch::Switchboard;
use crate::error::CellError;
use crate::load::counted::{Counted, LEAD};
use crate::server::RunningServer;
use crate::stats::{deviation, mean, median};

/// Slices that are looked at after each switch. The second half of them is what the first is compared with.
const SLICE: Duration = Duration::from_millis(10);
const SLICES: usize = 24;

/// How often each configuration is switched to.
const ROUNDS: usize = 6;

/// What does not differ by more than this is no after-effect: turns average it out.
const LEAST: f64 = 0.02;

/// How long a load has to run after a switch until turns may be measured.
pub(super) fn lead(
    running: &mut RunningServer,
    load: &mut Counted,
    switches: &mut Switchboard,
    configurations: &[String],
) -> Result<Duration, CellError> {
    let mut differences = vec![Vec::new(); SLICES];
    for _ in 0..ROUNDS {
        for name in configurations {
            switches.switch_to(running, name)?;
            let slices = load.slices(running, SLICE, SLICES)?;
            let late: Vec<f64> = slices[SLICES / 2..].iter().flatten().copied().collect();
            for (differences, slice) in differences.iter_mut().zip(&slices) {
                let difference = slice.map(|cpu| (cpu / mean(&late)).ln());
                differences.extend(difference.filter(|difference| difference.is_finite()));
            }
        }
    }
    Ok(settled(&differences).max(LEAD))
}

/// From when on slices are what the late ones are, as far as that can be told.
fn settled(differences: &[Vec<f64>]) -> Duration {
    let differs = |slice: &Vec<f64>| {
        // The median's standard error, of normal values.
        let error = 1.25 * deviation(slice) / (slice.len() as f64).sqrt();
        slice.len() >= 4 && median(slice).abs() > LEAST.max(2.0 * error)
    };
    let early = &differences[..differences.len() / 2];
    // Now and then one differs by chance: the after-effect is what begins at the switch.
    let slices = early.iter().take_while(|slice| differs(slice)).count();
    SLICE * slices as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_at_the_switch_and_is_large_enough_is_waited_for() {
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
