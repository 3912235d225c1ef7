//! The types of Promela and how they lie in memory.
//!
//! The IR knows only rows of scalars, so a structure becomes one variable for
//! each scalar in it (a *leaf*), and an array of structures an array for each
//! leaf: `s[3].f[2]` is a row `s.f` of all `f`s of all `s`s. A path such as
//! `s[i].f[j]` then means cell `i * 2 + j` of that row.
//!
//! Two facts of SPIN's verifier show here. A `bit` or `bool` is one bit wide,
//! but an array of them is kept in bytes and does not truncate. All arithmetic
//! is done in C's `int`, so a type matters only when a value is stored.

use std::rc::Rc;

use mover_ir::expr::Ty;
use mover_ir::program::SymbolSetId;
use mover_source::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Scalar(Ty),
    Mtype(SymbolSetId),
    Channel,
    /// The n-th typedef.
    Struct(usize),
}

/// A type and, for an array, how many of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub kind: Type,
    pub length: Option<u32>,
}

pub struct StructType {
    pub name: Rc<str>,
    pub span: Span,
    pub fields: Vec<StructField>,
}

pub struct StructField {
    pub name: Rc<str>,
    pub shape: Shape,
    pub initial: FieldInitial,
}

/// What a field holds when a structure comes to life.
#[derive(Clone)]
pub enum FieldInitial {
    Value(i32),
    Values(Vec<i32>),
    Channel(ChannelShape),
}

/// The buffer and the message of a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelShape {
    pub capacity: u32,
    pub fields: Vec<MessageField>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageField {
    pub ty: Ty,
    pub symbols: Option<SymbolSetId>,
}

/// A scalar or a row of scalars within a variable.
#[derive(Clone)]
pub struct Leaf {
    /// `.f.g` after the name of the variable; empty for a plain variable.
    pub suffix: String,
    pub ty: Ty,
    /// Whether it is declared as `bit` or `bool`, which arrays keep in bytes.
    is_bit: bool,
    pub symbols: Option<SymbolSetId>,
    pub is_channel: bool,
    /// Number of cells, over all arrays on the way.
    pub cells: u64,
    pub is_array: bool,
    /// Cells of the innermost array alone.
    pub own_cells: u32,
    pub initial: FieldInitial,
}

/// Deeper nests of typedefs than this are refused where they are declared.
pub const STRUCT_DEPTH_LIMIT: usize = 16;
/// More leaves than this in one type are refused where it is declared.
pub const LEAF_LIMIT: usize = 4096;

pub struct Types {
    pub structs: Vec<StructType>,
}

impl Types {
    /// How many levels of structures a type has.
    pub fn depth(&self, kind: Type) -> usize {
        match kind {
            Type::Struct(index) => {
                let fields = self.structs[index].fields.iter();
                1 + fields
                    .map(|field| self.depth(field.shape.kind))
                    .max()
                    .unwrap_or(0)
            }
            _ => 0,
        }
    }

    pub fn leaf_count(&self, kind: Type) -> usize {
        match kind {
            Type::Struct(index) => {
                let fields = self.structs[index].fields.iter();
                fields.map(|field| self.leaf_count(field.shape.kind)).sum()
            }
            _ => 1,
        }
    }

    /// The leaves of a variable in the order of their declaration.
    pub fn leaves(&self, shape: Shape) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let top = Leaf {
            suffix: String::new(),
            ty: Ty::BOOL,
            is_bit: false,
            symbols: None,
            is_channel: false,
            cells: 1,
            is_array: false,
            own_cells: 1,
            initial: FieldInitial::Value(0),
        };
        self.collect(shape, &top, &mut leaves);
        leaves
    }

    fn collect(&self, shape: Shape, above: &Leaf, leaves: &mut Vec<Leaf>) {
        let length = shape.length.unwrap_or(1);
        let here = Leaf {
            cells: above.cells.saturating_mul(u64::from(length)),
            is_array: above.is_array || shape.length.is_some(),
            own_cells: length,
            ..above.clone()
        };
        match shape.kind {
            Type::Struct(index) => {
                for field in &self.structs[index].fields {
                    let below = Leaf {
                        suffix: format!("{}.{}", here.suffix, field.name),
                        initial: field.initial.clone(),
                        ..here.clone()
                    };
                    self.collect(field.shape, &below, leaves);
                }
            }
            Type::Channel => leaves.push(Leaf {
                ty: Ty::CHANNEL,
                is_channel: true,
                ..here
            }),
            Type::Mtype(symbols) => leaves.push(Leaf {
                ty: Ty::BYTE,
                symbols: Some(symbols),
                ..here
            }),
            Type::Scalar(ty) => leaves.push(Leaf {
                ty: stored_type(ty, shape.length.is_some()),
                is_bit: ty == Ty::BOOL,
                ..here
            }),
        }
    }

    /// The fields of a message that carries a value of this type; `None` if
    /// they are more than [`LEAF_LIMIT`].
    pub fn message_fields(&self, kind: Type) -> Option<Vec<MessageField>> {
        let shape = Shape { kind, length: None };
        let mut fields = Vec::new();
        for leaf in self.leaves(shape) {
            let field = MessageField {
                ty: if leaf.is_bit { Ty::BOOL } else { leaf.ty },
                symbols: leaf.symbols,
            };
            let cells = usize::try_from(leaf.cells).ok()?;
            if fields.len().saturating_add(cells) > LEAF_LIMIT {
                return None;
            }
            fields.extend(std::iter::repeat_n(field, cells));
        }
        Some(fields)
    }

    pub fn field(&self, index: usize, name: &str) -> Option<(usize, &StructField)> {
        let fields = &self.structs[index].fields;
        let position = fields.iter().position(|field| &*field.name == name)?;
        Some((position, &fields[position]))
    }

    /// How many leaves stand before a field of a structure.
    pub fn leaves_before(&self, index: usize, field: usize) -> usize {
        let fields = &self.structs[index].fields[..field];
        fields
            .iter()
            .map(|field| self.leaf_count(field.shape.kind))
            .sum()
    }
}

/// SPIN keeps arrays of bits in bytes.
fn stored_type(ty: Ty, in_array: bool) -> Ty {
    if in_array && ty == Ty::BOOL {
        Ty::BYTE
    } else {
        ty
    }
}
