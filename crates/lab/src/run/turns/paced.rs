//! A fixed rate by turns: the loads pace themselves while they are not standing still.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Load, Runner, Seat, interrupted};
use crate::load::counted::LEAD;
use crate::matrix::Key;
use crate::recipe::Recipe;
use crate::run::unplanned;
use crate::stats::median;
use crate::trouble::Trouble;

/// The peak is the median of so many turns, so that a neighbour's burst does not set it.
const LOOKS: usize = 7;
const LOOK: Duration = Duration::from_millis(150);

impl Runner<'_> {
    /// Paces the loads where their workload has a rate: transactions a second, of each of them. Where the rate cannot be found, the
    /// loads have failed.
    ///
    /// # Errors
    /// Ctrl-C alone.
    pub(super) fn paced(
        &mut self,
        recipe: &Recipe,
        key: &Key,
        seats: &mut [Seat],
        loads: &mut BTreeMap<usize, Result<Load, Trouble>>,
    ) -> Result<Option<f64>, Trouble> {
        let workload = recipe.workload(&key.workload).ok_or_else(unplanned)?;
        let Some(rate) = &workload.rate else {
            return Ok(None);
        };
        let found = match rate.peak() {
            Some(part) => {
                interrupted(self.peak_of(recipe, key, seats, loads))?.map(|peak| part * peak)
            }
            None => rate.fixed().ok_or_else(unplanned),
        };
        for load in loads.values_mut() {
            if let Ok((counted, _)) = load {
                let paced = found.as_ref().map_err(Trouble::clone);
                if let Err(trouble) = paced.and_then(|rate| counted.pace(*rate)) {
                    *load = Err(trouble);
                }
            }
        }
        Ok(found.ok())
    }

    /// What the baseline reaches flat out: found once for each server, workload and number of connections, and kept.
    fn peak_of(
        &mut self,
        recipe: &Recipe,
        key: &Key,
        seats: &mut [Seat],
        loads: &mut BTreeMap<usize, Result<Load, Trouble>>,
    ) -> Result<f64, Trouble> {
        let name = format!("{}/{}/{}", key.server, key.workload, key.connections);
        if let Some(peak) = self.plan.rates.get(&name) {
            return Ok(*peak);
        }
        let baseline = Key {
            configuration: recipe.baseline.clone().unwrap_or(key.configuration.clone()),
            again: false,
            ..key.clone()
        };
        let at = seats.iter().position(|seat| seat.is_of(&baseline));
        let at = at.ok_or_else(unplanned)?;
        let Seat {
            running, switches, ..
        } = &mut seats[at];
        let running = running.as_mut().map_err(|trouble| trouble.clone())?;
        let load = loads.get_mut(&at).ok_or_else(unplanned)?;
        let (load, _) = load.as_mut().map_err(|trouble| trouble.clone())?;
        if let Some(switches) = switches {
            switches.to(running, &baseline.configuration)?;
        }
        let mut rates = Vec::with_capacity(LOOKS);
        for _ in 0..LOOKS {
            self.interrupt.check()?;
            let taken = load.turn(running, LEAD, LOOK)?;
            rates.push(taken.transactions as f64 / taken.seconds);
        }
        let peak = median(&rates);
        if peak <= 0.0 {
            return Err(Trouble::failed(
                "no transaction ended while the peak was looked for: give more turn_ms",
            ));
        }
        self.plan.rates.insert(name, peak);
        self.keep_plan();
        Ok(peak)
    }
}
