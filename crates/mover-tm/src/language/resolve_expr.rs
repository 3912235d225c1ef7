//! Checks the types of expressions and resolves them.

use mover_source::Span;

use super::program::{Code, Range, Type};
use super::resolve::{Resolved, Resolver, Scope};
use super::syntax::*;

/// The type of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    Bool,
    Int,
    Set(IndexKind),
    /// `{}`: a set of either kind.
    EmptySet,
    Index(IndexKind),
    ThreadOrNone,
    Enumeration(Vec<String>),
    Time,
    /// `x + 1` for a time `x`.
    NextTime,
}

impl Ty {
    pub(super) fn describe(&self) -> String {
        match self {
            Ty::Bool => "a truth value".into(),
            Ty::Int => "a number".into(),
            Ty::Set(IndexKind::Variable) => "a set of variables".into(),
            Ty::Set(IndexKind::Thread) => "a set of threads".into(),
            Ty::EmptySet => "an empty set".into(),
            Ty::Index(IndexKind::Variable) => "a variable".into(),
            Ty::Index(IndexKind::Thread) => "a thread".into(),
            Ty::ThreadOrNone => "a thread or none".into(),
            Ty::Enumeration(names) => format!("one of {}", names.join(", ")),
            Ty::Time | Ty::NextTime => "a time".into(),
        }
    }

    pub(super) fn of(ty: &Type) -> Ty {
        match ty {
            Type::Enumeration(names) => Ty::Enumeration(names.clone()),
            Type::VariableSet => Ty::Set(IndexKind::Variable),
            Type::ThreadSet => Ty::Set(IndexKind::Thread),
            Type::Bool => Ty::Bool,
            Type::Range { .. } => Ty::Int,
            Type::ThreadOrNone => Ty::ThreadOrNone,
            Type::Time => Ty::Time,
        }
    }

    pub(super) fn is_set(&self) -> bool {
        matches!(self, Ty::Set(_) | Ty::EmptySet)
    }

    /// Whether a value of type `other` may stand where this is wanted.
    pub(super) fn accepts(&self, other: &Ty) -> bool {
        self == other
            || (self.is_set() && *other == Ty::EmptySet)
            || (*self == Ty::ThreadOrNone && *other == Ty::Index(IndexKind::Thread))
            || (*self == Ty::Time && *other == Ty::NextTime)
    }

    fn is_time(&self) -> bool {
        matches!(self, Ty::Time | Ty::NextTime)
    }
}

impl Resolver {
    pub(super) fn binder(
        &mut self,
        binder: &Binder,
        scope: &mut Scope,
    ) -> Resolved<(usize, Range)> {
        let (kind, range) = match &binder.domain {
            Domain::Threads => (IndexKind::Thread, Range::Threads),
            Domain::Variables => (IndexKind::Variable, Range::Variables),
            Domain::OtherThan(name) => {
                let than = self.index(name, IndexKind::Thread, scope)?;
                (IndexKind::Thread, Range::OtherThreads { than })
            }
            Domain::Members(set) => {
                let (code, ty) = self.expr(set, None, scope)?;
                match ty {
                    Ty::Set(kind) => (kind, Range::Members(code)),
                    other => {
                        return self.error(
                            format!("expected a set, but this is {}", other.describe()),
                            set.span,
                        );
                    }
                }
            }
        };
        self.refuse_acting_thread(&binder.name)?;
        let slot = self.fresh_slot(scope, binder.name.span)?;
        scope.bound.push((binder.name.text.clone(), slot, kind));
        Some((slot, range))
    }

    pub(super) fn condition(&mut self, expr: &Expr, scope: &mut Scope) -> Resolved<Code> {
        self.typed(expr, &Ty::Bool, scope)
    }

    pub(super) fn typed(&mut self, expr: &Expr, wanted: &Ty, scope: &mut Scope) -> Resolved<Code> {
        let (code, ty) = self.expr(expr, Some(wanted), scope)?;
        if !wanted.accepts(&ty) {
            return self.error(
                format!(
                    "expected {}, but this is {}",
                    wanted.describe(),
                    ty.describe()
                ),
                expr.span,
            );
        }
        Some(coerce(code, wanted, &ty))
    }

    fn expr(
        &mut self,
        expr: &Expr,
        wanted: Option<&Ty>,
        scope: &mut Scope,
    ) -> Resolved<(Code, Ty)> {
        self.count_node(expr.span)?;
        Some(match &expr.kind {
            ExprKind::Name(name) => return self.name(name, expr.span, wanted, scope),
            ExprKind::Apply { name, arguments } => {
                return self.apply(name, arguments, scope);
            }
            ExprKind::Number(0) if wanted.is_some_and(Ty::is_time) => (Code::Constant(0), Ty::Time),
            ExprKind::Number(number) => (Code::Constant(i32::from(*number)), Ty::Int),
            ExprKind::Bool(value) => (Code::Constant(i32::from(*value)), Ty::Bool),
            ExprKind::Nobody => (Code::Constant(0), Ty::ThreadOrNone),
            ExprKind::Everything(kind) => (Code::Everything(*kind), Ty::Set(*kind)),
            ExprKind::SetOf(members) => return self.set_of(members, scope),
            ExprKind::Not(operand) => (self.condition(operand, scope)?.negated(), Ty::Bool),
            ExprKind::Binary { op, left, right } => {
                return self.binary(*op, left, right, expr.span, scope);
            }
            ExprKind::Quantified {
                universal,
                binder,
                body,
            } => {
                let mut inner = scope.clone();
                let (slot, range) = self.binder(binder, &mut inner)?;
                let body = self.condition(body, &mut inner)?;
                let body = if *universal { body.negated() } else { body };
                let exists = Code::Exists {
                    slot,
                    range: Box::new(range),
                    body: Box::new(body),
                };
                let code = if *universal { exists.negated() } else { exists };
                (code, Ty::Bool)
            }
            ExprKind::Size(set) => {
                let (code, ty) = self.expr(set, None, scope)?;
                if !ty.is_set() {
                    return self.error("`size` is for sets", set.span);
                }
                (Code::Size(Box::new(code)), Ty::Int)
            }
            ExprKind::Least {
                largest,
                left,
                right,
            } => {
                let (left, ty) = self.expr(left, wanted, scope)?;
                if !matches!(ty, Ty::Int | Ty::Time) {
                    return self.error("`min` and `max` are for numbers and times", expr.span);
                }
                let (right, other) = self.expr(right, Some(&ty), scope)?;
                if other != ty {
                    return self.error("`min` and `max` are of two of a kind", expr.span);
                }
                let (left, right) = (Box::new(left), Box::new(right));
                let code = if *largest {
                    Code::Max(left, right)
                } else {
                    Code::Min(left, right)
                };
                (code, ty)
            }
        })
    }

    fn name(
        &mut self,
        name: &str,
        span: Span,
        wanted: Option<&Ty>,
        scope: &Scope,
    ) -> Resolved<(Code, Ty)> {
        if let Some((slot, kind)) = scope.find(name) {
            return Some((Code::Slot(slot), Ty::Index(kind)));
        }
        if let Some(Ty::Enumeration(names)) = wanted
            && let Some(position) = names.iter().position(|known| known == name)
        {
            return Some((
                Code::Constant(position as i32),
                Ty::Enumeration(names.clone()),
            ));
        }
        if self.fields.iter().any(|field| field.name == name) {
            let name = Name {
                text: name.to_string(),
                span,
            };
            let (field, index) = self.field_at(&name, None, scope)?;
            return Some((Code::Load { field, index }, Ty::of(&self.fields[field].ty)));
        }
        let message = match wanted {
            Some(ty @ Ty::Enumeration(_)) => {
                format!("`{name}` is unknown here; expected {}", ty.describe())
            }
            _ => format!("`{name}` is unknown here"),
        };
        self.error(message, span)
    }

    fn apply(
        &mut self,
        name: &Name,
        arguments: &[Name],
        scope: &mut Scope,
    ) -> Resolved<(Code, Ty)> {
        let predicate = self.predicates.iter().find(|p| p.name.text == name.text);
        if let Some(predicate) = predicate.cloned() {
            let mut inner = self.bind(name, &predicate.params, arguments, scope)?;
            self.may_expand()?;
            return Some((self.condition(&predicate.body, &mut inner)?, Ty::Bool));
        }
        if let Some(extra) = arguments.get(1) {
            return self.error("a field has one index at most", extra.span);
        }
        let (field, index) = self.field_at(name, arguments.first(), scope)?;
        Some((Code::Load { field, index }, Ty::of(&self.fields[field].ty)))
    }

    fn set_of(&mut self, members: &[Expr], scope: &mut Scope) -> Resolved<(Code, Ty)> {
        let mut set = Code::Constant(0);
        let mut kind = None;
        for member in members {
            let (code, ty) = self.expr(member, None, scope)?;
            match ty {
                Ty::Index(of) if kind.is_none_or(|known| known == of) => kind = Some(of),
                other => {
                    return self.error(
                        format!("{} cannot be a member of this set", other.describe()),
                        member.span,
                    );
                }
            }
            set = Code::BitOr(Box::new(set), Box::new(Code::Singleton(Box::new(code))));
        }
        Some((set, kind.map_or(Ty::EmptySet, Ty::Set)))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        span: Span,
        scope: &mut Scope,
    ) -> Resolved<(Code, Ty)> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let left = self.condition(left, scope);
            let right = self.condition(right, scope);
            let (left, right) = (Box::new(left?), Box::new(right?));
            let code = match op {
                BinaryOp::And => Code::And(left, right),
                _ => Code::Or(left, right),
            };
            return Some((code, Ty::Bool));
        }
        // A value of an enumeration is understood from the other side.
        let bare = |expr: &Expr, resolver: &Self, scope: &Scope| match &expr.kind {
            ExprKind::Name(name) => {
                scope.find(name).is_none() && !resolver.fields.iter().any(|f| f.name == *name)
            }
            _ => false,
        };
        let ((a, ta), (b, tb)) = if bare(left, self, scope) {
            let (b, tb) = self.expr(right, None, scope)?;
            (self.expr(left, Some(&tb), scope)?, (b, tb))
        } else {
            let (a, ta) = self.expr(left, None, scope)?;
            let right = self.expr(right, Some(&ta), scope)?;
            ((a, ta), right)
        };
        let both_sets = ta.is_set() && tb.is_set() && (ta.accepts(&tb) || tb.accepts(&ta));
        let joined_set = if ta == Ty::EmptySet { &tb } else { &ta };
        let fits = match op {
            BinaryOp::Equal | BinaryOp::NotEqual => ta.accepts(&tb) || tb.accepts(&ta),
            BinaryOp::In | BinaryOp::NotIn => {
                matches!((&ta, &tb), (Ty::Index(kind), Ty::Set(of)) if kind == of)
            }
            BinaryOp::Meets
            | BinaryOp::Within
            | BinaryOp::Union
            | BinaryOp::Intersection
            | BinaryOp::Difference => both_sets,
            // The abstraction of clocks knows distances of 1 and no others.
            BinaryOp::Plus if ta == Ty::Time => matches!(right.kind, ExprKind::Number(1)),
            BinaryOp::Plus | BinaryOp::Minus => ta == Ty::Int && tb == Ty::Int,
            _ => (ta == Ty::Int && tb == Ty::Int) || (ta.is_time() && tb.is_time()),
        };
        if !fits {
            return self.error(
                format!(
                    "`{}` does not apply to {} and {}",
                    op.symbol(),
                    ta.describe(),
                    tb.describe()
                ),
                span,
            );
        }
        self.asks_distance |= ta == Ty::NextTime || tb == Ty::NextTime;
        let result = match op {
            BinaryOp::Plus if ta == Ty::Time => Ty::NextTime,
            BinaryOp::Plus | BinaryOp::Minus => Ty::Int,
            BinaryOp::Union | BinaryOp::Intersection | BinaryOp::Difference => joined_set.clone(),
            _ => Ty::Bool,
        };
        let (a, b) = if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            (Box::new(coerce(a, &tb, &ta)), Box::new(coerce(b, &ta, &tb)))
        } else {
            (Box::new(a), Box::new(b))
        };
        let code = match op {
            BinaryOp::Equal => Code::Equal(a, b),
            BinaryOp::NotEqual => Code::Equal(a, b).negated(),
            BinaryOp::Less => Code::Less(a, b),
            BinaryOp::LessOrEqual => Code::LessOrEqual(a, b),
            BinaryOp::Greater => Code::Less(b, a),
            BinaryOp::GreaterOrEqual => Code::LessOrEqual(b, a),
            BinaryOp::In => Code::Contains { element: a, set: b },
            BinaryOp::NotIn => Code::Contains { element: a, set: b }.negated(),
            BinaryOp::Meets => {
                Code::Less(Box::new(Code::Constant(0)), Box::new(Code::BitAnd(a, b)))
            }
            BinaryOp::Within => {
                Code::Equal(Box::new(Code::BitAndNot(a, b)), Box::new(Code::Constant(0)))
            }
            BinaryOp::Plus => Code::Plus(a, b),
            BinaryOp::Minus => Code::Minus(a, b),
            BinaryOp::Union => Code::BitOr(a, b),
            BinaryOp::Intersection | BinaryOp::And | BinaryOp::Or => Code::BitAnd(a, b),
            BinaryOp::Difference => Code::BitAndNot(a, b),
        };
        Some((code, result))
    }
}

/// A thread where "a thread or none" is wanted is stored one higher.
fn coerce(code: Code, wanted: &Ty, given: &Ty) -> Code {
    if *wanted == Ty::ThreadOrNone && *given == Ty::Index(IndexKind::Thread) {
        Code::Plus(Box::new(code), Box::new(Code::Constant(1)))
    } else {
        code
    }
}
