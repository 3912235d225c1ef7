//! The automaton of an algorithm as a picture, in the language of Graphviz.

use std::fmt::Write;

use crate::graph::AlgorithmGraph;

/// Maximum number of states of a readable picture.
pub const MAX_STATES: usize = 500;

pub fn picture(graph: &AlgorithmGraph<'_>) -> String {
    let mut text = String::from("digraph algorithm {\n  rankdir=LR;\n  node [shape=box];\n");
    for state in 0..graph.states.len() as u32 {
        let label = graph
            .algorithm
            .describe(graph.states.get(state))
            .replace(' ', "\\n");
        let shape = if state == 0 { ", peripheries=2" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  s{state} [label=\"{label}\"{shape}];");
    }
    for state in 0..graph.states.len() as u32 {
        let mut drawn: Vec<(u32, Vec<String>)> = Vec::new();
        for edge in graph.edges(state) {
            let label = graph.algorithm.label(&edge.transition);
            match drawn.iter_mut().find(|(target, _)| *target == edge.target) {
                Some((_, labels)) if labels.contains(&label) => {}
                Some((_, labels)) => labels.push(label),
                None => drawn.push((edge.target, vec![label])),
            }
        }
        for (target, labels) in drawn {
            let _ = writeln!(
                text,
                "  s{state} -> s{target} [label=\"{}\"];",
                labels.join("\\n")
            );
        }
    }
    text + "}\n"
}
