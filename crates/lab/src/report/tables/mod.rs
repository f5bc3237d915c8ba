//! Tables of texts, for the terminal and the page.

mod answers;
mod figures;
mod labels;
mod load;
mod resources;
mod table;
mod targets;

pub use answers::answers;
pub use figures::{figures, relative};
pub use labels::groups;
pub use load::load;
pub use resources::{cpu, memory, per_event, rates};
pub use table::Table;
pub use targets::targets;
