//! The plan for people: [`mod@explain`] puts it beside the source, [`run_transactions`] cuts a run
//! into its transactions.

pub mod explain;
pub mod run_transactions;
