//! Property files of SV-COMP: `CHECK( init(main()), LTL(G ! call(reach_error())) )`.
//!
//! The formulas look like LTL, but the competition uses a fixed set of them, so they are compared
//! as text without spaces. A file with a property that mover does not check is refused as a whole:
//! an answer to a part of it would be taken for an answer to all.
//!
//! The memory safety of SV-COMP is three lines: valid-free, valid-deref and valid-memtrack. The last
//! one says that a program never loses its last pointer to memory that is allocated. It holds of
//! programs that allocate nothing; of others mover does not decide it, so that their answer is
//! `unsafe` because of another line, or `unknown`.

use std::path::Path;

use mover_ir::program::Property;

/// Why the properties of a file are not known.
#[derive(Debug, thiserror::Error)]
pub enum PropertyFileError {
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    #[error("not a property of SV-COMP: `{0}`")]
    NoProperty(String),
    #[error("this property is not checked: `{0}`")]
    Unchecked(String),
    #[error("no property in it")]
    Empty,
}

/// What a file asks for.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Asked {
    pub properties: Vec<Property>,
    /// Whether all memory must stay reachable (valid-memtrack).
    pub tracks_memory: bool,
}

/// What a file asks for.
pub fn read(file: &Path) -> Result<Asked, PropertyFileError> {
    parse(&std::fs::read_to_string(file)?)
}

fn parse(text: &str) -> Result<Asked, PropertyFileError> {
    let mut properties = Vec::new();
    let mut tracks_memory = false;
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let formula: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let formula = formula
            .strip_prefix("CHECK(init(main()),LTL(")
            .and_then(|rest| rest.strip_suffix("))"))
            .ok_or_else(|| PropertyFileError::NoProperty(line.into()))?;
        properties.push(match formula {
            "G!call(reach_error())" | "G!call(__VERIFIER_error())" => Property::UnreachCall,
            "Gvalid-deref" | "Gvalid-free" => Property::MemorySafety,
            "Gvalid-memtrack" => {
                tracks_memory = true;
                Property::MemorySafety
            }
            "Gvalid-memcleanup" => Property::MemoryCleanup,
            "G!overflow" => Property::NoOverflow,
            "G!data-race" => Property::NoDataRace,
            "G!deadlock" => Property::NoDeadlock,
            _ => return Err(PropertyFileError::Unchecked(line.into())),
        });
    }
    if properties.is_empty() {
        return Err(PropertyFileError::Empty);
    }
    Ok(Asked {
        properties,
        tracks_memory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_sv_comp_are_understood() {
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n\
                    CHECK( init(main()), LTL(G valid-deref) )\n";
        assert_eq!(
            parse(text).ok(),
            Some(Asked {
                properties: vec![Property::UnreachCall, Property::MemorySafety],
                tracks_memory: false,
            })
        );
        let lines = ["valid-free", "valid-deref", "valid-memtrack"];
        let text = lines.map(|what| format!("CHECK( init(main()), LTL(G {what}) )\n"));
        assert!(parse(&text.concat()).is_ok_and(|asked| asked.tracks_memory));
        let unknown = parse("CHECK( init(main()), LTL(F end) )");
        assert!(unknown.is_err_and(|error| error.to_string().contains("F end")));
        assert!(parse("").is_err());
        assert!(parse("int main() {}").is_err());
    }
}
