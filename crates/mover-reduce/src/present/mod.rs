//! The plan for people: [`mod@explain`] puts it beside the source, [`run_transactions`] cuts a run
//! into its transactions, [`mod@plan_text`] writes all of it down.

pub mod explain;
pub mod plan_text;
pub mod run_transactions;
