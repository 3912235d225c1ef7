//! Visits of all expressions below something.
//!
//! Who looks at expressions and who changes them must go to the same places in the same order,
//! or a part of the language is seen by the one and missed by the other. So the ways down are
//! written once, and the macro makes both visits of them.

use crate::expr::{Expr, ReceiveArg};
use crate::program::Effect;

macro_rules! walks {
    ($walk:ident $($mutable:ident)?) => {
        impl Expr {
            /// Calls `visit` on this expression and on all below it, parents first.
            pub fn $walk(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                visit(self);
                match self {
                    Expr::Const { .. }
                    | Expr::ThreadId
                    | Expr::ThreadCount
                    | Expr::Channel(_)
                    | Expr::Address { .. }
                    | Expr::Timeout => {}
                    Expr::Read(place) => place.index.$walk(visit),
                    Expr::Unary(_, arg)
                    | Expr::Resize { arg, .. }
                    | Expr::ThreadPriority(arg)
                    | Expr::ChannelExists(arg)
                    | Expr::ChannelLen(arg)
                    | Expr::ChannelCapacity(arg)
                    | Expr::ObjectSize(arg)
                    | Expr::Load { address: arg, .. }
                    | Expr::ObjectSite { address: arg, .. }
                    | Expr::ThreadAt { thread: arg, .. } => arg.$walk(visit),
                    Expr::Binary(_, lhs, rhs) => {
                        lhs.$walk(visit);
                        rhs.$walk(visit);
                    }
                    Expr::If(condition, then, otherwise) => {
                        condition.$walk(visit);
                        then.$walk(visit);
                        otherwise.$walk(visit);
                    }
                    Expr::RemoteRead { thread, index, .. } => {
                        thread.$walk(visit);
                        index.$walk(visit);
                    }
                    Expr::CanReceive { channel, args, .. } => {
                        channel.$walk(visit);
                        for arg in args {
                            arg.$walk(visit);
                        }
                    }
                }
            }
        }

        impl ReceiveArg {
            /// Calls `visit` on every expression that the argument evaluates.
            pub fn $walk(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                match self {
                    ReceiveArg::Match(value) => value.$walk(visit),
                    ReceiveArg::Store(place) => place.index.$walk(visit),
                    ReceiveArg::Ignore => {}
                }
            }
        }

        impl Effect {
            /// Calls `visit` on every expression that the effect evaluates.
            pub fn $walk(&$($mutable)? self, visit: &mut impl FnMut(&$($mutable)? Expr)) {
                match self {
                    Effect::Assign { place, value } => {
                        place.index.$walk(visit);
                        value.$walk(visit);
                    }
                    Effect::Store { address, value } => {
                        address.$walk(visit);
                        value.$walk(visit);
                    }
                    Effect::Havoc { place, .. } => place.index.$walk(visit),
                    Effect::Allocate { size, result, .. } => {
                        size.$walk(visit);
                        result.index.$walk(visit);
                    }
                    Effect::Free { address } => address.$walk(visit),
                    Effect::Send { channel, values, .. } => {
                        channel.$walk(visit);
                        for value in values {
                            value.$walk(visit);
                        }
                    }
                    Effect::Receive { channel, args, .. } => {
                        channel.$walk(visit);
                        for arg in args {
                            arg.$walk(visit);
                        }
                    }
                    Effect::Spawn { args, result, .. } => {
                        for arg in args {
                            arg.$walk(visit);
                        }
                        if let Some(place) = result {
                            place.index.$walk(visit);
                        }
                    }
                    Effect::Exit => {}
                    Effect::SetPriority { thread, priority } => {
                        thread.$walk(visit);
                        priority.$walk(visit);
                    }
                    Effect::Print { args, .. } => {
                        for arg in args {
                            arg.value.$walk(visit);
                        }
                    }
                }
            }
        }
    };
}

walks!(walk);
walks!(walk_mut mut);
