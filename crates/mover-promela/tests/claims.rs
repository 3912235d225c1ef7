//! Which claims are translated, and which are refused by name.

use mover_ir::claim::{Check, ClaimKind};

fn checks(text: &str) -> Vec<(ClaimKind, Result<(), String>)> {
    let read = mover_promela::parse_text("claims.pml", text);
    let program = read
        .unwrap_or_else(|failure| panic!("{:?}", failure.diagnostics))
        .program;
    let claims = program.info.claims.iter();
    claims
        .map(|claim| match &claim.check {
            Check::Forbidden(_) => (claim.kind, Ok(())),
            Check::Untranslated(reason) => (claim.kind, Err(reason.clone())),
        })
        .collect()
}

fn refusal(text: &str) -> String {
    match &checks(text)[..] {
        [(_, Err(reason))] => reason.clone(),
        other => panic!("not one claim that is refused: {other:?}"),
    }
}

#[test]
fn labels_that_a_process_passes_unseen_are_refused() {
    for body in [
        "atomic { x = 1; accept_here: x = 0 }",
        "d_step { x = 1; accept_here: x = 0 }",
        "accept_here: x = 1",
        "accept_here: if :: x == 0 -> skip :: x == 1 -> skip fi; x = x",
    ] {
        let text = format!("byte x; active proctype P() {{ do :: {body} od }}");
        let reason = refusal(&text);
        assert!(reason.contains("`accept_here`"), "{body}: {reason}");
    }
    for body in ["accept_here: x = 0", "x = 1; accept_here: goto again"] {
        let text = format!("byte x; active proctype P() {{ again: {body}; goto again }}");
        assert_eq!(checks(&text), [(ClaimKind::Accept, Ok(()))], "{body}");
    }
}

#[test]
fn what_a_claim_cannot_say_is_refused_by_name() {
    let model = |claim: &str| {
        format!(
            "byte x; chan c = [1] of {{ byte }}; active [2] proctype P() {{ l: x = 1 }} {claim}"
        )
    };
    for (claim, reason) in [
        ("ltl { [] (pc_value(0) == 1) }", "`pc_value`"),
        ("ltl { [] timeout }", "`timeout`"),
        ("ltl { [] P@l }", "one `P` of several"),
        ("ltl { [] x == 1 }", "temporal operator"),
        ("never { byte y; do :: y = 1 od }", "variables of its own"),
        ("never { do :: c!1 od }", "changes something"),
        ("trace { x == 1; c!1 }", "no event"),
    ] {
        let found = refusal(&model(claim));
        assert!(found.contains(reason), "{claim}: {found}");
    }
    for claim in [
        "ltl p { [] (P[0]@l -> <> (x == 1)) }",
        "ltl { always eventually (x == 1) implies (c?[1] V x != 2) }",
        "ltl { X (x == 1) W enabled(1) && !np_ || _last == 1 }",
        "never { do :: x == 1 -> break :: else od; accept: do :: x == 1 od }",
        "trace { do :: c!1; c?_ od }",
        "notrace { c!_; c?1 }",
    ] {
        let found = checks(&model(claim));
        assert!(matches!(found[..], [(_, Ok(()))]), "{claim}: {found:?}");
    }
}
