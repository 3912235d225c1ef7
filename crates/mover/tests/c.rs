//! mover on C programs.
#![cfg(feature = "c")]

mod common;

#[path = "c/cli.rs"]
mod cli;
#[path = "c/dynamic.rs"]
mod dynamic;
#[path = "c/examples.rs"]
mod examples;
