//! Token passing without a scheduler, after paper 004.

pub mod pairs;
