//! What exactly is wrong with an access to memory.
//!
//! A front end has one error for every access outside of a live object. The run knows more: the
//! address that the failing step uses, and the objects that there are. So null, freed and out of
//! bounds are told apart, with the object, its size, and the offset.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{Edge, Effect, Program, SiteKind};
use mover_ir::semantics::{HeapObject, Machine, State, Step};

use crate::memory::{address_text, addressable, known_bytes, object_name, source_name};

/// A memory error in words.
pub struct MemoryError {
    pub message: String,
    /// The position in the heap of the object that is no longer there.
    pub gone: Option<usize>,
    /// Whether the object is freed, and not used.
    pub frees: bool,
}

/// The error of the last step of a run, if its guard says which it is. The states are those
/// before the step; at least the last of them is given.
pub fn find(
    program: &Program,
    machine: &Machine,
    states: &[State],
    step: Step,
) -> Option<MemoryError> {
    let state = states.last()?;
    let thread = step.by.thread;
    let alive = state.threads.get(thread)?.as_ref()?;
    let template = program.template(alive.template);
    let edges = &template.location(alive.location).edges;
    let guard = &edges.get(step.by.edge)?.guard;
    let eval = |expr: &Expr| machine.eval(state, thread, expr);
    let looker = Looker { program, states };
    let mut found = None;
    guard.walk(&mut |part| {
        if found.is_some() {
            return;
        }
        match part {
            Expr::Binary(BinaryOp::ULe, end, size) if eval(part) == 0 => {
                if let Expr::ObjectSize(address) = &**size {
                    let address = eval(address);
                    let offset = program.pointers.offset(address);
                    found = Some(looker.access(address, eval(end).saturating_sub(offset)));
                }
            }
            Expr::ObjectSite { address, .. } => {
                let address = eval(address);
                let is_at_start = program.pointers.offset(address) == 0;
                if eval(part) == 0 || !is_at_start {
                    found = Some(looker.free(address));
                }
            }
            _ => {}
        }
    });
    found.or_else(|| {
        let message = index_error(program, guard, edges, eval)?;
        Some(MemoryError {
            message,
            gone: None,
            frees: false,
        })
    })
}

/// An index beyond the end of an array that the other ways of the same step use.
fn index_error(
    program: &Program,
    guard: &Expr,
    edges: &[Edge],
    eval: impl Fn(&Expr) -> u64,
) -> Option<String> {
    let mut beyond = None;
    guard.walk(&mut |part| {
        if let Expr::Binary(BinaryOp::ULt, index, len) = part
            && let Some(len) = len.as_const()
            && eval(part) == 0
        {
            let width = index.width();
            beyond = Some((mover_ir::expr::sign_extend(eval(index), width), len));
        }
    });
    let (index, len) = beyond?;
    let mut names: Vec<&str> = Vec::new();
    let mut note = |variable: mover_ir::expr::VariableRef| {
        if let mover_ir::expr::VariableRef::Global(id) = variable {
            let variable = &program.globals[id.index()];
            let name = source_name(&variable.name);
            let fits = u64::from(variable.len) == len && variable.is_array;
            if fits && !name.starts_with('%') && !names.contains(&name) {
                names.push(name);
            }
        }
    };
    for effect in edges.iter().flat_map(|edge| &edge.effects) {
        if let Effect::Assign { place, .. } = effect {
            note(place.variable);
        }
        effect.walk(&mut |part| {
            if let Expr::Read(place) = part {
                note(place.variable);
            }
        });
    }
    let elements = match len {
        1 => "1 element".to_string(),
        _ => format!("{len} elements"),
    };
    Some(match names[..] {
        [name] => format!("index out of bounds: {name}[{index}], but {name} has {elements}"),
        _ => format!("index out of bounds: {index}, but there are {elements}"),
    })
}

struct Looker<'a> {
    program: &'a Program,
    states: &'a [State],
}

impl Looker<'_> {
    fn slot(&self, address: u64) -> Option<usize> {
        let number = self.program.pointers.object(address);
        let first = self.program.addressable_globals() + 1;
        usize::try_from(number.checked_sub(first)?).ok()
    }

    /// The object at a position of the heap, now or when it was last there.
    fn last_object(&self, slot: usize) -> Option<&HeapObject> {
        let states = self.states.iter().rev();
        states
            .filter_map(|state| state.heap.get(slot)?.as_ref())
            .next()
    }

    fn live_object(&self, slot: usize) -> Option<&HeapObject> {
        self.states.last()?.heap.get(slot)?.as_ref()
    }

    fn access(&self, address: u64, bytes: u64) -> MemoryError {
        let layout = self.program.pointers;
        let (number, offset) = (layout.object(address), layout.offset(address));
        let error = |message: String| MemoryError {
            message,
            gone: None,
            frees: false,
        };
        if number == 0 {
            return error(match offset {
                0 => "null pointer dereference".into(),
                _ => format!("null pointer dereference (at offset {offset})"),
            });
        }
        let (name, size) = match self.slot(address) {
            None => {
                let position = usize::try_from(number - 1).unwrap_or(usize::MAX);
                let Some(variable) = addressable(self.program).nth(position) else {
                    return error("access through a pointer to no object".into());
                };
                let size = variable.bytes().saturating_sub(variable.names.hidden_bytes);
                (source_name(&variable.name).to_string(), size)
            }
            Some(slot) => match (self.live_object(slot), self.last_object(slot)) {
                (Some(object), _) => (
                    object_name(self.program, slot, object),
                    known_bytes(self.program, object),
                ),
                (None, Some(object)) => {
                    let name = object_name(self.program, slot, object);
                    let message = match self.program.site(object.site).kind {
                        SiteKind::Heap => format!("use after free of {name}"),
                        SiteKind::Stack => format!("use of {name} after its lifetime"),
                    };
                    return MemoryError {
                        gone: Some(slot),
                        ..error(message)
                    };
                }
                (None, None) => return error("access to memory that is not allocated".into()),
            },
        };
        // Offsets are numbers with a sign.
        let first = mover_ir::expr::sign_extend(offset, layout.offset_bits);
        let which = match bytes {
            0 | 1 => format!("byte {first}"),
            _ => format!("bytes {first} to {}", first + bytes as i64 - 1),
        };
        let plural = if size == 1 { "" } else { "s" };
        error(format!(
            "access out of bounds: {which} of {name}, which has {size} byte{plural}"
        ))
    }

    fn free(&self, address: u64) -> MemoryError {
        let error = |message: String| MemoryError {
            message,
            gone: None,
            frees: true,
        };
        let heap: &[Option<HeapObject>] = self.states.last().map_or(&[], |state| &state.heap);
        let shown = address_text(self.program, heap, address);
        let Some(slot) = self.slot(address) else {
            return error(format!("free of {shown}, which was not allocated"));
        };
        match (self.live_object(slot), self.last_object(slot)) {
            (Some(object), _) if self.program.site(object.site).kind == SiteKind::Stack => {
                error(format!("free of {shown}, which was not allocated"))
            }
            (Some(_), _) => error(format!(
                "free of {shown}, which is not the start of an allocation"
            )),
            (None, Some(object)) => MemoryError {
                gone: Some(slot),
                ..error(format!(
                    "double free of {}",
                    object_name(self.program, slot, object)
                ))
            },
            (None, None) => error(format!("free of {shown}, which was not allocated")),
        }
    }
}

/// The objects on the heap, by position.
pub fn allocated<'s>(
    program: &'s Program,
    state: &'s State,
) -> impl Iterator<Item = (usize, &'s HeapObject)> {
    let objects = state.heap.iter().enumerate();
    objects
        .filter_map(|(slot, object)| Some((slot, object.as_ref()?)))
        .filter(|(_, object)| program.site(object.site).kind == SiteKind::Heap)
}

/// What has not been freed when a program ends: the largest number that is told.
const MOST_LEAKS: usize = 3;

/// The objects that a leak is about, with their sizes.
pub fn leaked(program: &Program, state: &State) -> Option<String> {
    let objects: Vec<String> = allocated(program, state)
        .map(|(slot, object)| {
            let bytes = known_bytes(program, object);
            let plural = if bytes == 1 { "" } else { "s" };
            let name = object_name(program, slot, object);
            format!("{name} ({bytes} byte{plural})")
        })
        .collect();
    match objects.len() {
        0 => None,
        number if number > MOST_LEAKS => Some(format!(
            "{} and {} more",
            objects[..MOST_LEAKS].join(", "),
            number - MOST_LEAKS
        )),
        _ => Some(objects.join(" and ")),
    }
}
