//! Instrument classes: a name, known to the compiler, that turns into a number when Tare starts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[doc(hidden)]
pub use linkme as __linkme;
pub use tare_layout::Kind;
pub use tare_layout::class::READERS_FIRST;
use tare_layout::class::property;

use crate::number::Number;

/// An instrument: what `setup_instruments` lists and every point refers to.
///
/// Declare classes with [`classes!`](crate::classes); they are then all registered when Tare starts.
/// [`Class::find_or_create`] creates one whose name is known only at run time. A class made with
/// [`Class::new`] alone is registered when it is first used.
#[derive(Debug)]
pub struct Class {
    name: &'static str,
    kind: Kind,
    documentation: &'static str,
    properties: u32,
    volatility: u32,
    enabled: Option<bool>,
    is_untimed: bool,
    is_frequent: bool,
    pub(crate) number: Number,
}

/// MySQL's limit of an instrument's name.
const MAX_NAME_BYTES: usize = 128;

/// A name that no class of this kind can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is no name for this kind: it must begin with {:?} and have at most {MAX_NAME_BYTES} bytes",
    kind.prefix()
)]
pub struct ClassNameError {
    kind: Kind,
    name: String,
}

/// The classes of [`Class::find_or_create`], by kind and name.
static CREATED: Mutex<BTreeMap<(u8, &'static str), &'static Class>> = Mutex::new(BTreeMap::new());

/// All classes that were created at run time.
pub(crate) fn created() -> Vec<&'static Class> {
    let classes = CREATED.lock().unwrap_or_else(PoisonError::into_inner);
    classes.values().copied().collect()
}

impl Class {
    /// A class with a MySQL-style name, which must begin as its kind's names do
    /// (`wait/synch/mutex/`, `stage/`, ...). For a name that is not known to the compiler,
    /// [`Class::find_or_create`] returns an error instead.
    ///
    /// # Panics
    /// The name does not begin as its kind's names do, or is longer than 128 bytes: in a static, an error of
    /// the compiler.
    pub const fn new(kind: Kind, name: &'static str, documentation: &'static str) -> Self {
        assert!(
            kind.owns(name),
            "the name does not begin as its kind's names do"
        );
        assert!(
            name.len() <= MAX_NAME_BYTES,
            "the name is longer than MySQL's 128 bytes"
        );
        Self {
            name,
            kind,
            documentation,
            properties: 0,
            volatility: 0,
            enabled: None,
            is_untimed: false,
            is_frequent: false,
            number: Number::none(),
        }
    }

    /// The class with this kind and name, which is created at the first call and lives for ever. `with` sets
    /// the properties of a new class.
    ///
    /// ```
    /// use tare::{Class, Kind};
    /// for command in ["get", "set"] {
    ///     let name = format!("statement/app/{command}");
    ///     let class = Class::find_or_create(Kind::Statement, &name, "", Class::enabled)?;
    ///     tare::statement::start(class).shape(&format!("{command} ?"));
    /// }
    /// # Ok::<(), tare::class::ClassNameError>(())
    /// ```
    ///
    /// # Errors
    /// The name does not begin as its kind's names do, or is longer than 128 bytes.
    pub fn find_or_create(
        kind: Kind,
        name: &str,
        documentation: &str,
        with: impl FnOnce(Self) -> Self,
    ) -> Result<&'static Self, ClassNameError> {
        let classes = || CREATED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(class) = classes().get(&(kind as u8, name)) {
            return Ok(class);
        }
        if !kind.owns(name) || name.len() > MAX_NAME_BYTES {
            let name = name.to_owned();
            return Err(ClassNameError { kind, name });
        }
        // Called outside of the lock, because it is the host's.
        let name: &'static str = String::leak(name.to_owned());
        let class = with(Self::new(
            kind,
            name,
            String::leak(documentation.to_owned()),
        ));
        let class = &*Box::leak(Box::new(class));
        let first = *classes().entry((kind as u8, name)).or_insert(class);
        // If Tare starts meanwhile, it finds the class, or the class finds Tare.
        first.register();
        Ok(first)
    }

    const fn with(mut self, property: u32) -> Self {
        self.properties |= property;
        self
    }

    /// Marks a stage that reports progress.
    pub const fn progress(self) -> Self {
        self.with(property::PROGRESS)
    }

    /// Marks a class with a single instance.
    pub const fn singleton(self) -> Self {
        self.with(property::SINGLETON)
    }

    /// Marks a class of users' sessions.
    pub const fn user(self) -> Self {
        self.with(property::USER)
    }

    /// Marks an abstract statement that will be refined.
    pub const fn mutable(self) -> Self {
        self.with(property::MUTABLE)
    }

    /// Counts globally only.
    pub const fn global_statistics(self) -> Self {
        self.with(property::GLOBAL_STATISTICS)
    }

    /// Sets how short-lived its objects are: `setup_instruments.VOLATILITY`, 0 = unknown.
    pub const fn volatile(mut self, volatility: u32) -> Self {
        self.volatility = volatility;
        self
    }

    /// Enables the class at start, instead of its kind's default.
    pub const fn enabled(mut self) -> Self {
        self.enabled = Some(true);
        self
    }

    /// Disables the class at start, instead of its kind's default.
    pub const fn disabled(mut self) -> Self {
        self.enabled = Some(false);
        self
    }

    /// Begins with TIMED = NO, as MySQL's instruments do, if it begins disabled. Other classes are
    /// timed as soon as they are enabled.
    pub const fn untimed(mut self) -> Self {
        self.is_untimed = true;
        self
    }

    /// Marks a class that nearly every statement has events of: it gets one of the [first
    /// numbers](crate::Config::frequent_classes), if one is left.
    pub const fn frequent(mut self) -> Self {
        self.is_frequent = true;
        self
    }

    /// Whether it gets one of the first numbers.
    pub const fn is_frequent(&self) -> bool {
        self.is_frequent
    }

    /// Whether it begins untimed if it begins disabled.
    pub const fn is_untimed(&self) -> bool {
        self.is_untimed
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The kind.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// One sentence that describes it.
    pub const fn documentation(&self) -> &'static str {
        self.documentation
    }

    /// `setup_instruments.PROPERTIES` as bits.
    pub const fn properties(&self) -> u32 {
        self.properties
    }

    /// `setup_instruments.VOLATILITY`.
    pub const fn volatility(&self) -> u32 {
        self.volatility
    }

    /// Whether it is enabled by default.
    pub const fn enabled_by_default(&self) -> bool {
        match self.enabled {
            Some(enabled) => enabled,
            None => self.kind.enabled_by_default(),
        }
    }
}

/// All classes that [`classes!`](crate::classes) declared, in any crate.
#[linkme::distributed_slice]
pub static CLASSES: [&'static Class];

/// Declares instrument classes as statics and registers them.
///
/// ```
/// tare::classes! {
///     /// Guards the table of sessions.
///     pub static LOCK_SESSIONS: Mutex = "wait/synch/mutex/app/LOCK_sessions";
///     /// Copying to a temporary table.
///     static COPYING: Stage = "stage/app/Copying", progress;
/// }
/// let sessions = tare::sync::Mutex::new(&LOCK_SESSIONS, Vec::<u64>::new());
/// sessions.lock().push(1);
/// ```
///
/// The kind is a [`Kind`](crate::Kind); behind the name may follow any of `progress`, `singleton`,
/// `user`, `mutable`, `enabled`, `disabled`.
#[macro_export]
macro_rules! classes {
    ($($(#[doc = $doc:literal])* $vis:vis static $name:ident: $kind:ident = $text:literal
        $(, $property:ident)*;)*) => {$(
        $(#[doc = $doc])*
        $vis static $name: $crate::class::Class = $crate::class::Class::new(
            $crate::class::Kind::$kind,
            $text,
            $crate::class::__trim(concat!($($doc),*)),
        )$(.$property())*;
        const _: () = {
            #[$crate::class::__linkme::distributed_slice($crate::class::CLASSES)]
            #[linkme(crate = $crate::class::__linkme)]
            static REGISTERED: &$crate::class::Class = &$name;
        };
    )*};
}

/// Cuts the space that a doc comment begins with. Not public API.
#[doc(hidden)]
pub const fn __trim(text: &'static str) -> &'static str {
    match text.as_bytes() {
        [b' ', ..] => text.split_at(1).1,
        _ => text,
    }
}
