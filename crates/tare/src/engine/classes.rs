//! Classes of the segment: a number for each instrument, and for each error.

use std::sync::atomic::Ordering;

use tare_layout::control::setup;
use tare_layout::shared::Lost;
use tare_layout::{Kind, pattern};

use super::error_names::OTHER;
use super::state::Engine;
use super::{active, settings};
use crate::class::{self, CLASSES, Class};
use crate::config::Setting;
use crate::number::NO_NUMBER;

impl Engine {
    /// Registers everything that is declared when Tare starts.
    pub(super) fn place_all(&self) {
        for class in CLASSES {
            self.register(class);
        }
        let active = self.number(&active::STATEMENT);
        let control = self.view.control();
        control
            .active_class
            .store(u32::from(active), Ordering::Relaxed);
        self.place_errors();
        self.place_metrics();
        self.view.controls().recompute(|i| self.kind_of(i));
    }

    /// Registers the classes that were created at run time.
    pub(super) fn place_created(&self) {
        for class in class::created() {
            self.register(class);
        }
    }

    /// The kind of class `i`, if there is one.
    pub fn kind_of(&self, i: usize) -> Option<Kind> {
        Kind::from_u8(self.view.class(i).kind.load(Ordering::Acquire) as u8)
    }

    /// The number of a class, which it gets now if it has none; [`NO_NUMBER`] when the limit is reached.
    #[inline]
    pub fn number(&self, class: &Class) -> u16 {
        match class.number.get(self.generation()) {
            Some(number) => number,
            None => self.register(class),
        }
    }

    /// Gives a class its number, or [`NO_NUMBER`] when the limit is reached.
    #[cold]
    pub fn register(&self, class: &Class) -> u16 {
        let _one_at_a_time = self.lock(&self.registering);
        if let Some(number) = class.number.get(self.generation()) {
            return number;
        }
        let number = self.place_class(class);
        class.number.set(self.generation(), number);
        number
    }

    /// The number of the class of an error code; if the table is full, that of all other errors.
    /// `named` is its name and SQLSTATE.
    pub fn error_class(&self, code: u32, named: Option<(&str, &str)>) -> u16 {
        if code == OTHER {
            return self.other_errors.load(Ordering::Relaxed);
        }
        let mut numbers = self.lock(&self.errors);
        if let Some(((name, state), number)) = named.zip(numbers.get(&code)) {
            let entry = self.view.class(usize::from(*number));
            if *number != self.other_errors.load(Ordering::Relaxed)
                && entry.documentation.is_empty()
            {
                entry.documentation.set(&format!("{name} {state}"));
            }
        }
        *numbers.entry(code).or_insert_with(|| {
            let _one_at_a_time = self.lock(&self.registering);
            let other = self.other_errors.load(Ordering::Relaxed);
            // As the others are now, who may have been switched since Tare began.
            let setup = self.view.controls().setup[usize::from(other)].load(Ordering::Relaxed);
            let documentation = named.map(|(name, state)| format!("{name} {state}"));
            let documentation = documentation.as_deref().unwrap_or_default();
            match self.place(&New::error(&format!("error/{code}"), documentation, setup)) {
                NO_NUMBER => other,
                number => number,
            }
        })
    }

    /// The class of errors that have none of their own.
    fn place_errors(&self) {
        let enabled = pattern::resolve(self.settings(), "error").unwrap_or(Setting::On);
        let number = {
            let _one_at_a_time = self.lock(&self.registering);
            self.place(&New::error("error/", "", setup_of(enabled)))
        };
        self.other_errors.store(number, Ordering::Relaxed);
        self.register_error_names();
    }

    fn settings(&self) -> impl Iterator<Item = (&str, Setting)> {
        self.instruments
            .iter()
            .map(|(pattern, setting)| (pattern.as_str(), *setting))
    }

    fn place_class(&self, class: &Class) -> u16 {
        let default = if class.enabled_by_default() {
            Setting::On
        } else {
            Setting::Off
        };
        // `%` is about events. A thread that begins uninstrumented never records any, even if instruments
        // are switched on later, so a pattern must name `thread` explicitly.
        let of_thread = class.kind() == Kind::Thread;
        let settings = self
            .settings()
            .filter(|(pattern, _)| !of_thread || pattern.starts_with("thread"));
        let setup = match (pattern::resolve(settings, class.name()), default) {
            (Some(setting), _) => setup_of(setting),
            (None, Setting::Off) if class.is_untimed() => 0,
            (None, default) => setup_of(default),
        };
        self.place(&New {
            name: class.name(),
            kind: class.kind(),
            documentation: class.documentation(),
            properties: class.properties(),
            volatility: class.volatility(),
            setup,
            is_frequent: class.is_frequent(),
        })
    }

    /// Whether one more class of a kind is within the host's limit.
    fn is_below_limit(&self, kind: Kind, count: usize) -> bool {
        let limit = self.view.shared().class_limits[kind as usize].load(Ordering::Relaxed);
        let of_kind = || {
            (1..count)
                .filter(|i| self.kind_of(*i) == Some(kind))
                .count() as u64
        };
        limit == 0 || of_kind() + 1 < limit
    }

    /// The number of the next class; `None`: there is no room. The caller has `registering`.
    fn next_number(&self, new: &New<'_>, count: usize) -> Option<usize> {
        if !self.is_below_limit(new.kind, count) {
            return None;
        }
        let mut reserved = 1..=self.last_frequent;
        let free = match new.is_frequent {
            true => reserved.find(|i| self.kind_of(*i).is_none()),
            false => None,
        };
        free.or_else(|| (count < self.view.geometry().limits.classes).then_some(count))
    }

    fn place(&self, new: &New<'_>) -> u16 {
        let used = &self.view.shared().classes_used.0;
        let count = used.load(Ordering::Relaxed) as usize;
        // Two statics of the same name (two crates that share an instrument) are one instrument. One without
        // a kind was left by a process that was killed here.
        for i in 1..count {
            if self.view.class(i).name.is(new.name) && self.kind_of(i).is_some() {
                return i as u16;
            }
        }
        let Some(number) = self.next_number(new, count) else {
            self.lose(Lost::Classes, 1);
            self.view.shared().classes_lost[new.kind as usize].fetch_add(1, Ordering::Relaxed);
            return NO_NUMBER;
        };
        let entry = self.view.class(number);
        entry.name.set(new.name);
        entry.documentation.set(new.documentation);
        entry.properties.store(new.properties, Ordering::Relaxed);
        entry.volatility.store(new.volatility, Ordering::Relaxed);
        let controls = self.view.controls();
        let setup = match new.kind {
            Kind::Thread => new.setup | setup::HISTORY,
            _ => new.setup,
        };
        controls.setup[number].store(setup, Ordering::Relaxed);
        // Last: from here on readers list it.
        entry.kind.store(new.kind as u32, Ordering::Release);
        if number == count {
            used.store(count as u32 + 1, Ordering::Release);
        }
        let effective = controls.effective_of(number, new.kind);
        controls.effective[number].store(effective, Ordering::Relaxed);
        if effective != 0 {
            settings::registered(self, new.kind);
        }
        number as u16
    }
}

/// A class that is to have a number.
struct New<'a> {
    name: &'a str,
    kind: Kind,
    documentation: &'a str,
    properties: u32,
    volatility: u32,
    setup: u8,
    is_frequent: bool,
}

impl<'a> New<'a> {
    fn error(name: &'a str, documentation: &'a str, setup: u8) -> Self {
        Self {
            name,
            kind: Kind::Error,
            documentation,
            properties: 0,
            volatility: 0,
            setup,
            is_frequent: false,
        }
    }
}

fn setup_of(setting: Setting) -> u8 {
    match setting {
        // MySQL shows TIMED = YES for most disabled instruments: enabling one then times it.
        Setting::Off => setup::TIMED,
        Setting::Counted => setup::ENABLED,
        Setting::On => setup::ENABLED | setup::TIMED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::local::Local;

    #[test]
    fn a_class_whose_writer_was_killed_is_placed_again() {
        let config = Config::default().frequent_classes(64);
        let engine = Engine::create(config, 0, 1, Local::free, || {}).expect("a segment");
        let free = (1..=64).find(|i| engine.kind_of(*i).is_none());
        let number = free.expect("a free number");
        engine.view.class(number).name.set("error/7");
        let new = New {
            is_frequent: true,
            ..New::error("error/7", "", setup::ENABLED)
        };
        assert_eq!(usize::from(engine.place(&new)), number);
        assert_eq!(engine.kind_of(number), Some(Kind::Error));
        assert_eq!(usize::from(engine.place(&new)), number);
    }
}
