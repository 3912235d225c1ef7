//! Memory: variables, the objects that addresses lead to, and what their bytes are called.
//!
//! What is reached only by name is a [`Variable`]: a row of cells of one type. What has an address is an *object*,
//! a row of bytes: an [addressable](Variable::addressable) variable, or what was made at an [`AllocationSite`].
//! A [`PointerLayout`] says how an address names an object and a byte in it.

use mover_source::Span;

use crate::expr::{ChannelRef, Ty, mask};
use crate::program::index_type;

/// A row of cells of one type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    /// Number of cells; 1 for a scalar.
    pub len: u32,
    /// Whether it was declared as an array, which a row of one cell can be.
    pub is_array: bool,
    pub init: Init,
    /// Names for values, to print them by (Promela's `mtype`).
    pub symbols: Option<SymbolSetId>,
    /// Whether it is an object that pointers can point into; only globals can be.
    pub addressable: bool,
    /// What its bytes are called, to print them by.
    pub names: CellNames,
    pub span: Option<Span>,
}

impl Variable {
    /// One cell that is 0 at first.
    pub fn scalar(name: impl Into<String>, ty: Ty) -> Variable {
        Variable {
            name: name.into(),
            ty,
            len: 1,
            is_array: false,
            init: Init::All(0),
            symbols: None,
            addressable: false,
            names: CellNames::default(),
            span: None,
        }
    }

    /// A row of cells that are 0 at first.
    pub fn array(name: impl Into<String>, ty: Ty, len: u32) -> Variable {
        Variable {
            len,
            is_array: true,
            ..Variable::scalar(name, ty)
        }
    }

    /// Bytes of an addressable variable.
    pub fn bytes(&self) -> u64 {
        u64::from(self.len) * u64::from(self.ty.width / 8)
    }
}

index_type!(
    /// A set of names for values.
    SymbolSetId
);
index_type!(
    /// A place of the program that allocates.
    SiteId
);

/// What the bytes of an object are called in the source. Only for people: traces
/// print `node#2.next` instead of `node#2+8` and `&node#1` instead of a number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CellNames {
    /// Bytes of one element if the object is an array of structures, else 0.
    pub stride: u64,
    /// By offset; those that overlap (unions) are all printed.
    pub fields: Vec<CellName>,
    /// So many bytes at the end of the object are the front end's own.
    #[cfg_attr(feature = "serde", serde(default))]
    pub hidden_bytes: u64,
}

/// A named part of an object, or of each of its elements.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CellName {
    /// In bytes, from the start of the object or of the element.
    pub offset: u64,
    /// `next` or `position.x`; empty if it has none of its own.
    pub name: String,
    pub ty: Ty,
    /// Whether it holds an address.
    pub is_pointer: bool,
    /// Names for values: an enumeration's, or those of functions.
    pub symbols: Option<SymbolSetId>,
}

impl CellNames {
    /// For a variable or object that is one pointer, or nothing but pointers.
    pub fn pointers(layout: PointerLayout, symbols: Option<SymbolSetId>) -> CellNames {
        CellNames {
            stride: u64::from(layout.width / 8),
            fields: vec![CellName {
                offset: 0,
                name: String::new(),
                ty: Ty::unsigned(layout.width),
                is_pointer: true,
                symbols,
            }],
            hidden_bytes: 0,
        }
    }
}

/// Where the number of an object stands in an address, and where the byte in it.
///
/// An address is the object's number shifted left by `offset_bits`, plus the
/// offset. Object 0 never lives, so 0 is NULL. The addressable globals have the
/// numbers from 1 in order of declaration, dynamic objects those that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PointerLayout {
    /// Bits of an address.
    pub width: u8,
    /// Bits of the offset in it.
    pub offset_bits: u8,
}

impl Default for PointerLayout {
    fn default() -> Self {
        PointerLayout::LP64
    }
}

/// No object has more bytes than this, so that a state stays a thing that can be
/// copied.
pub const MAX_OBJECT_SIZE: u64 = 1 << 23;

impl PointerLayout {
    pub const LP64: PointerLayout = PointerLayout {
        width: 64,
        offset_bits: 32,
    };
    pub const ILP32: PointerLayout = PointerLayout {
        width: 32,
        offset_bits: 20,
    };

    pub fn object(self, address: u64) -> u64 {
        address >> self.offset_bits
    }

    pub fn offset(self, address: u64) -> u64 {
        address & mask(self.offset_bits)
    }

    pub fn address(self, object: u64) -> u64 {
        object << self.offset_bits
    }

    /// The largest number that an object can have.
    pub fn last_object(self) -> u64 {
        mask(self.width - self.offset_bits)
    }

    /// The largest number that a dynamic object can have; those above are left to
    /// the front end for what is not data, such as functions.
    pub fn last_dynamic_object(self) -> u64 {
        self.last_object() / 2
    }

    /// Maximum number of bytes that an object can have; the address after the last byte is
    /// still one of the object, and so are those in the room before it.
    pub fn max_object_size(self) -> u64 {
        mask(self.offset_bits)
            .saturating_sub(self.room_before())
            .min(MAX_OBJECT_SIZE)
    }

    /// How many addresses before an object belong to no other.
    pub fn room_before(self) -> u64 {
        1 << self.offset_bits.saturating_sub(4)
    }
}

/// A place of the program that makes objects.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AllocationSite {
    pub name: String,
    /// The type of the cells that represent the objects: 8, 16, 32 or 64 bits.
    /// The width most accessed is the fastest.
    pub cell: Ty,
    pub kind: SiteKind,
    pub names: CellNames,
    pub span: Option<Span>,
}

impl AllocationSite {
    /// On the heap, with nothing said of its parts.
    pub fn heap(name: impl Into<String>, cell: Ty) -> AllocationSite {
        AllocationSite {
            name: name.into(),
            cell,
            kind: SiteKind::Heap,
            names: CellNames::default(),
            span: None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SiteKind {
    /// Lives until it is freed by the program.
    Heap,
    /// A local variable whose address is taken.
    Stack,
}

/// What a variable holds at the start of its life.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Init {
    /// Every cell holds this value.
    All(u64),
    /// One value for each cell.
    Cells(Vec<u64>),
    /// Each cell holds its own channel.
    Channels(Vec<ChannelRef>),
}
