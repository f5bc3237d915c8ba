//! setup_actors: the rules by which new foreground threads are instrumented, read and changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::View;
use tare_layout::actor::{self, ENABLED, HISTORY, USED};
use tare_layout::sizes;

use crate::attach::Segment;
use crate::classes::text;
use crate::error::WriteError;
use crate::truncate::TruncationLock;

/// A row of setup_actors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The host, or `%`.
    pub host: Arc<str>,
    /// The user, or `%`.
    pub user: Arc<str>,
    /// The role, or `%`.
    pub role: Arc<str>,
    /// Whether threads are instrumented.
    pub enabled: bool,
    /// Whether their events are stored in histories.
    pub history: bool,
}

/// Why a rule was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ActorError {
    /// There is a rule of the same host, user and role.
    #[error("there is a rule for '{0}' already: change that one")]
    Duplicate(String),
    /// The table is full.
    #[error(
        "setup_actors is full ({0} rules): delete some, or start the program with a larger limit \
         (performance_schema_setup_actors_size)"
    )]
    Full(usize),
    /// The segment cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The rules with their numbers.
pub fn actors(view: View<'_>) -> Vec<(usize, Actor)> {
    let all = view.actors();
    let used = view.control().actors_used.load(Ordering::Acquire) as usize;
    let read = |(i, rule): (usize, &actor::Actor)| {
        let actor = rule.read(|rule, flags| {
            (flags & USED != 0).then(|| Actor {
                host: text(&rule.host).into(),
                user: text(&rule.user).into(),
                role: text(&rule.role).into(),
                enabled: flags & ENABLED != 0,
                history: flags & HISTORY != 0,
            })
        });
        actor.flatten().map(|actor| (i, actor))
    };
    all[..used.min(all.len())]
        .iter()
        .enumerate()
        .filter_map(read)
        .collect()
}

fn flags(enabled: bool, history: bool) -> u32 {
    USED | (u32::from(enabled) * ENABLED) | (u32::from(history) * HISTORY)
}

impl Segment {
    /// Adds a rule.
    ///
    /// # Errors
    /// [`ActorError`]: there is such a rule, the table is full, or the segment cannot be written.
    pub fn add_actor(&self, new: &Actor) -> Result<(), ActorError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        let same = |(_, old): &(usize, Actor)| {
            old.host.eq_ignore_ascii_case(&new.host) && old.user == new.user && old.role == new.role
        };
        let there = actors(view);
        if there.iter().any(same) {
            let name = format!("{}-{}-{}", new.host, new.user, new.role);
            return Err(ActorError::Duplicate(name));
        }
        let all = match view.control().has_none_of(sizes::ACTORS) {
            true => &[],
            false => view.actors(),
        };
        let used = &view.control().actors_used;
        let free = (0..all.len())
            .find(|i| there.iter().all(|(taken, _)| taken != i))
            .ok_or(ActorError::Full(all.len()))?;
        all[free].write(|rule| {
            rule.host.set(&new.host);
            rule.user.set(&new.user);
            rule.role.set(&new.role);
            rule.flags
                .store(flags(new.enabled, new.history), Ordering::Relaxed);
        });
        used.fetch_max(free as u32 + 1, Ordering::AcqRel);
        Ok(())
    }

    /// Sets ENABLED and HISTORY of the rule with this number, if it is there; `None` leaves a column as it
    /// is.
    ///
    /// # Errors
    /// [`WriteError`]: the segment cannot be written.
    pub fn set_actor(
        &self,
        place: usize,
        enabled: Option<bool>,
        history: Option<bool>,
    ) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        if let Some((_, old)) = actors(view).into_iter().find(|(i, _)| *i == place) {
            let (enabled, history) = (
                enabled.unwrap_or(old.enabled),
                history.unwrap_or(old.history),
            );
            view.actors()[place].write(|rule| {
                rule.flags.store(flags(enabled, history), Ordering::Relaxed);
            });
        }
        Ok(())
    }

    /// Removes the rule with this number.
    ///
    /// # Errors
    /// [`WriteError`]: the segment cannot be written.
    pub fn remove_actor(&self, place: usize) -> Result<(), WriteError> {
        self.remove_actors(|i| i == place)
    }

    /// Removes all rules: no new foreground thread is instrumented.
    ///
    /// # Errors
    /// [`WriteError`]: the segment cannot be written.
    pub fn clear_actors(&self) -> Result<(), WriteError> {
        self.remove_actors(|_| true)
    }

    fn remove_actors(&self, which: impl Fn(usize) -> bool) -> Result<(), WriteError> {
        let view = self.writable()?;
        let _lock = TruncationLock::take(&view.control().truncating)?;
        for (place, _) in actors(view) {
            if which(place) {
                view.actors()[place].write(|rule| rule.flags.store(0, Ordering::Relaxed));
            }
        }
        Ok(())
    }
}
