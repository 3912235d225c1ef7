//! Temporal claims: what a source says of whole runs, not of single states.
//!
//! Promela states such properties as formulas of linear temporal logic, as automata (`never`,
//! `trace`), and by labels that a run must not pass for ever (`accept`) or must not avoid for ever
//! (`progress`).

/// What a source claims of its runs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claim {
    pub kind: ClaimKind,
    /// The name of the claim, or the label.
    pub name: Option<String>,
    pub line: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ClaimKind {
    /// Every run satisfies a formula of linear temporal logic.
    Ltl,
    /// No run is accepted by this automaton.
    Never,
    /// The events on channels follow this automaton.
    Trace,
    /// The events on channels do not follow this automaton to its end.
    Notrace,
    /// No run passes the label infinitely often.
    Accept,
    /// Every infinite run passes some such label infinitely often.
    Progress,
}

impl ClaimKind {
    pub fn words(self) -> &'static str {
        match self {
            ClaimKind::Ltl => "ltl formula",
            ClaimKind::Never => "never claim",
            ClaimKind::Trace => "trace assertion",
            ClaimKind::Notrace => "notrace assertion",
            ClaimKind::Accept => "accept label",
            ClaimKind::Progress => "progress label",
        }
    }
}

impl Claim {
    /// The claim as messages call it: ``the ltl formula `p` in line 3``.
    pub fn words(&self) -> String {
        let name = match &self.name {
            Some(name) => format!(" `{name}`"),
            None => String::new(),
        };
        format!("the {}{name} in line {}", self.kind.words(), self.line)
    }

    /// Says that these claims are not checked.
    pub fn unchecked(claims: &[Claim]) -> String {
        let words: Vec<String> = claims.iter().map(Claim::words).collect();
        match &words[..] {
            [] => "all claims are checked".into(),
            [only] => format!("{only} is not checked"),
            [others @ .., last] => {
                format!("{} and {last} are not checked", others.join(", "))
            }
        }
    }
}
