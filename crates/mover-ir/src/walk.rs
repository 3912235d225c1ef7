//! Traversal of expressions.
//!
//! The *parts* of an expression or effect are its direct subexpressions. Code that inspects
//! expressions and code that changes them must visit the same parts in the same order,
//! otherwise one of them misses a construct. So the parts are listed once; the macro generates
//! the shared and the mutable visit of the same list, and walks and rewriting are built on it.

use crate::expr::{Expr, ReceiveArg};
use crate::program::Effect;

macro_rules! walks {
    ($parts:ident $walk:ident $($mutable:ident)?) => {
        impl Expr {
            /// Calls `visit` on this expression and on all below it, parents first.
            pub fn $walk(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                visit(self);
                self.$parts(&mut |part| part.$walk(visit));
            }

            /// Calls `visit` on the parts of this expression.
            pub fn $parts(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                match self {
                    Expr::Const { .. }
                    | Expr::ThreadId
                    | Expr::ThreadCount
                    | Expr::Channel(_)
                    | Expr::Address { .. }
                    | Expr::Timeout => {}
                    Expr::Read(place) => visit(&$($mutable)? place.index),
                    Expr::Unary(_, arg)
                    | Expr::Resize { arg, .. }
                    | Expr::ThreadPriority(arg)
                    | Expr::ChannelExists(arg)
                    | Expr::ChannelLen(arg)
                    | Expr::ChannelCapacity(arg)
                    | Expr::ObjectSize(arg)
                    | Expr::Load { address: arg, .. }
                    | Expr::ObjectSite { address: arg, .. }
                    | Expr::ThreadAt { thread: arg, .. } => visit(arg),
                    Expr::Binary(_, lhs, rhs) => {
                        visit(lhs);
                        visit(rhs);
                    }
                    Expr::If(condition, then, otherwise) => {
                        visit(condition);
                        visit(then);
                        visit(otherwise);
                    }
                    Expr::RemoteRead { thread, index, .. } => {
                        visit(thread);
                        visit(index);
                    }
                    Expr::CanReceive { channel, args, .. } => {
                        visit(channel);
                        for arg in args {
                            arg.$parts(visit);
                        }
                    }
                }
            }
        }

        impl ReceiveArg {
            /// Calls `visit` on the parts of the argument.
            pub fn $parts(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                match self {
                    ReceiveArg::Match(value) => visit(value),
                    ReceiveArg::Store(place) => visit(&$($mutable)? place.index),
                    ReceiveArg::Ignore => {}
                }
            }
        }

        impl Effect {
            /// Calls `visit` on every expression that the effect evaluates.
            pub fn $walk(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                self.$parts(&mut |part| part.$walk(visit));
            }

            /// Calls `visit` on the parts of the effect.
            pub fn $parts(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                match self {
                    Effect::Assign { place, value } => {
                        visit(&$($mutable)? place.index);
                        visit(value);
                    }
                    Effect::Store { address, value } => {
                        visit(address);
                        visit(value);
                    }
                    Effect::Havoc { place, .. } => visit(&$($mutable)? place.index),
                    Effect::Allocate { size, result, .. } => {
                        visit(size);
                        visit(&$($mutable)? result.index);
                    }
                    Effect::Free { address } => visit(address),
                    Effect::Send { channel, values, .. } => {
                        visit(channel);
                        for value in values {
                            visit(value);
                        }
                    }
                    Effect::Receive { channel, args, .. } => {
                        visit(channel);
                        for arg in args {
                            arg.$parts(visit);
                        }
                    }
                    Effect::Spawn { args, result, .. } => {
                        for arg in args {
                            visit(arg);
                        }
                        if let Some(place) = result {
                            visit(&$($mutable)? place.index);
                        }
                    }
                    Effect::Exit => {}
                    Effect::SetPriority { thread, priority } => {
                        visit(thread);
                        visit(priority);
                    }
                    Effect::Print { args, .. } => {
                        for arg in args {
                            visit(&$($mutable)? arg.value);
                        }
                    }
                }
            }
        }
    };
}

walks!(parts walk);
walks!(parts_mut walk_mut mut);

impl Expr {
    /// The expression with every part replaced for which `replace` gives another. What was
    /// replaced is not looked into.
    pub fn rewrite(&self, replace: &mut impl FnMut(&Expr) -> Option<Expr>) -> Expr {
        let mut copy = self.clone();
        copy.rewrite_in_place(replace);
        copy
    }

    fn rewrite_in_place(&mut self, replace: &mut impl FnMut(&Expr) -> Option<Expr>) {
        match replace(self) {
            Some(other) => *self = other,
            None => self.parts_mut(&mut |part| part.rewrite_in_place(replace)),
        }
    }
}
