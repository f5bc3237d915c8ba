//! The recipes that come with tare: files of `recipes/`, in the binary.

/// One of them.
pub struct ShippedRecipe {
    /// What `tare weigh` calls it.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),*) => {
        /// All, in the order of the list.
        pub const ALL: &[ShippedRecipe] = &[$(ShippedRecipe {
            name: $name,
            text: include_str!(concat!("../../recipes/", $name, ".toml")),
        }),*];
    };
}

shipped!(
    "configs",
    "versions",
    "instruments",
    "connect",
    "schedulers",
    "allocators",
    "locks",
    "generator",
    "own",
    "demo",
    "headline",
    "server",
    "door",
    "memory",
    "events",
    "explain",
    "late",
    "watch",
    "scrape"
);
