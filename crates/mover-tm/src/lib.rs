pub mod judge;
pub mod layout;
pub mod monitor;
pub mod property;
pub mod snapshot;
pub mod word;
