//! A fixed rate in turns: the loads pace themselves while they run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Load, Runner, TurnServer, interrupted};
use crate::error::CellError;
use crate::load::counted::LEAD;
use crate::matrix::Key;
use crate::recipe::Recipe;
use crate::run::unplanned;
use crate::stats::median;

/// The peak is the median of so many turns, which a burst of another program does not change.
const PEAK_TURNS: usize = 7;
const PEAK_TURN_TIME: Duration = Duration::from_millis(150);

impl Runner<'_> {
    /// Sets the rate of each load, if the workload has one. If the rate cannot be measured, the loads
    /// have failed.
    ///
    /// # Errors
    /// Only a signal.
    pub(super) fn pace_loads(
        &mut self,
        recipe: &Recipe,
        key: &Key,
        servers: &mut [TurnServer],
        loads: &mut BTreeMap<usize, Result<Load, CellError>>,
    ) -> Result<Option<f64>, CellError> {
        let workload = recipe.workload(&key.workload).ok_or_else(unplanned)?;
        let Some(rate) = &workload.rate else {
            return Ok(None);
        };
        let target = match rate.peak() {
            Some(part) => {
                interrupted(self.measure_peak(recipe, key, servers, loads))?.map(|peak| part * peak)
            }
            None => rate.fixed().ok_or_else(unplanned),
        };
        for load in loads.values_mut() {
            if let Ok((counted, _)) = load {
                let paced = target.as_ref().map_err(CellError::clone);
                if let Err(error) = paced.and_then(|rate| counted.pace(*rate)) {
                    *load = Err(error);
                }
            }
        }
        Ok(target.ok())
    }

    /// The baseline's peak rate, measured once for each server, workload and number of connections.
    fn measure_peak(
        &mut self,
        recipe: &Recipe,
        key: &Key,
        servers: &mut [TurnServer],
        loads: &mut BTreeMap<usize, Result<Load, CellError>>,
    ) -> Result<f64, CellError> {
        let name = format!("{}/{}/{}", key.server, key.workload, key.connections);
        if let Some(peak) = self.plan.rates.get(&name) {
            return Ok(*peak);
        }
        let baseline = Key {
            configuration: recipe.baseline.clone().unwrap_or(key.configuration.clone()),
            again: false,
            ..key.clone()
        };
        let at = servers.iter().position(|server| server.is_of(&baseline));
        let at = at.ok_or_else(unplanned)?;
        let TurnServer {
            running, switches, ..
        } = &mut servers[at];
        let running = running.as_mut().map_err(|error| error.clone())?;
        let load = loads.get_mut(&at).ok_or_else(unplanned)?;
        let (load, _) = load.as_mut().map_err(|error| error.clone())?;
        if let Some(switches) = switches {
            switches.switch_to(running, &baseline.configuration)?;
        }
        let mut rates = Vec::with_capacity(PEAK_TURNS);
        for _ in 0..PEAK_TURNS {
            self.interrupt.check()?;
            let taken = load.run_turn(running, LEAD, PEAK_TURN_TIME)?;
            rates.push(taken.transactions as f64 / taken.seconds);
        }
        let peak = median(&rates);
        if peak <= 0.0 {
            return Err(CellError::failed(
                "no transaction ended while the peak was being measured: give more turn_ms",
            ));
        }
        self.plan.rates.insert(name, peak);
        self.write_plan();
        Ok(peak)
    }
}
