//! The plan for human readers: [`mod@explain`] shows it next to the source,
//! [`run_transactions`] divides a run into its transactions, [`mod@plan_text`] prints the whole
//! plan, [`holding`] counts what it takes hold of.

pub mod explain;
pub mod holding;
pub mod plan_text;
pub mod run_transactions;
