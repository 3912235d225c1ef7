//! Whether freed addresses may come back.
//!
//! A real allocator returns the address of a freed block again, often at once. A program that kept the
//! old address cannot tell the new block from the old one: that is the *ABA problem* of lock-free
//! algorithms (Treiber 1986, Michael 2004). An access through the old address is an error that is found
//! anyway, in the run in which the new block is elsewhere. So what is left is comparing addresses, and
//! only in programs that free memory and compare two words as wide as a pointer do allocations reuse
//! addresses ([`mover_ir::program::Effect::Allocate`]). All others cost what they did.

use crate::flatten::Body;
use crate::ssa::*;

/// How many of the freed addresses that the program still holds an allocation can get. The others
/// are not tried, and the verdict says so.
pub const MOST_REUSED: u32 = 3;

/// Whether some instruction compares two addresses, neither of which is constant.
pub fn compares_addresses(module: &Module, bodies: &[Body]) -> bool {
    let width = module.pointer_width();
    bodies.iter().any(|body| {
        let insts = body.blocks.iter().flat_map(|block| &block.insts);
        let is_wide = |operand: &Operand| is_address(body, operand, width);
        let mut kinds = insts.map(|inst| &inst.kind);
        kinds.any(|kind| match kind {
            Kind::CompareExchange {
                width: compared, ..
            } => *compared == width,
            Kind::Pure(Pure::Compare { lhs, rhs, .. }) => is_wide(lhs) && is_wide(rhs),
            _ => false,
        })
    })
}

/// Whether an operand may be an address of an object from the heap.
fn is_address(body: &Body, operand: &Operand, width: u8) -> bool {
    match operand {
        Operand::Value(id) => body.values[*id].shape == [width],
        Operand::Pure(_) => true,
        _ => false,
    }
}
