//! mover on C programs.
#![cfg(feature = "c")]

mod common;

#[path = "c/cli.rs"]
mod cli;
#[path = "c/dynamic.rs"]
mod dynamic;
#[path = "c/examples.rs"]
mod examples;
#[path = "c/library.rs"]
mod library;
#[path = "c/own_files.rs"]
mod own_files;
#[path = "c/synchronisation.rs"]
mod synchronisation;
