//! The recipes that are part of the binary: files of `recipes/`.

/// A recipe of the binary.
pub struct ShippedRecipe {
    /// The name.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),*) => {
        /// All recipes in the order of `tare weigh --list`.
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
    "any",
    "postgres",
    "nginx",
    "memory",
    "events",
    "explain",
    "late",
    "watch",
    "scrape"
);
