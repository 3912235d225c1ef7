//! Which programs are well-formed.
//!
//! A front end that builds an ill-formed program has a defect, and engines that trust it would
//! give wrong answers. So every program is validated once, and later passes may rely on it: all
//! names exist, all widths agree, the effects that determine enabledness are where the
//! semantics expects them, and edges do what they are declared to do ([`crate::sync`]).

use crate::expr::{ChannelRef, Expr, INDEX_WIDTH, Place, ReceiveArg, Ty, VariableRef, mask};
use crate::program::{
    ChannelDecl, Edge, Effect, Init, Program, SiteId, SymbolSetId, Template, Variable,
};

/// Why a program is ill-formed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct IllFormed {
    /// Which part: `thread P, location 3, edge 0`.
    pub place: String,
    pub reason: String,
}

/// The reason of an [`IllFormed`] is a sentence for the author of a front end: there is one for
/// each rule below, and no caller tells them apart.
type Checked = Result<(), String>;

/// Largest number of cells of one variable and of messages in one channel.
pub const MAX_ROW: u32 = 1 << 20;

pub fn validate(program: &Program) -> Result<(), IllFormed> {
    let at = |place: String| move |reason: String| IllFormed { place, reason };
    check_variables(program, None, &program.globals).map_err(at("globals".into()))?;
    check_channels(program, &program.channels).map_err(at("channels".into()))?;
    check_program(program).map_err(at("program".into()))?;
    check_memory(program).map_err(at("memory".into()))?;
    for template in &program.templates {
        let name = &template.name;
        check_template(program, template).map_err(at(format!("thread {name}")))?;
        let context = Context { program, template };
        for (number, location) in template.locations.iter().enumerate() {
            let here = format!("thread {name}, location {number}");
            context.location(number).map_err(at(here.clone()))?;
            for (index, edge) in location.edges.iter().enumerate() {
                context
                    .edge(edge)
                    .map_err(at(format!("{here}, edge {index} (`{}`)", edge.text)))?;
            }
        }
    }
    Ok(())
}

fn ensure(condition: bool, reason: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(reason()) }
}

fn check_program(program: &Program) -> Checked {
    let threads = u64::from(program.max_threads);
    ensure(program.initial.len() as u64 <= threads, || {
        format!("more initial threads than the maximum of {threads}")
    })?;
    let channels =
        program.channels.len() as u64 + threads * u64::from(program.channels_per_thread());
    ensure(channels < mask(Ty::CHANNEL.width), || {
        format!("up to {channels} channels do not fit a channel reference")
    })?;
    for instance in &program.initial {
        let template = program
            .templates
            .get(instance.template.index())
            .ok_or("an initial thread has no template")?;
        ensure(instance.args.len() == template.params as usize, || {
            format!("wrong number of arguments for `{}`", template.name)
        })?;
        for (param, &arg) in template.locals.iter().zip(&instance.args) {
            check_fits(param.ty, arg)?;
        }
    }
    Ok(())
}

/// Widths that loads, stores and the cells of objects can have.
fn is_byte_width(width: u8) -> bool {
    matches!(width, 8 | 16 | 32 | 64)
}

fn check_memory(program: &Program) -> Checked {
    let layout = program.pointers;
    ensure(matches!(layout.width, 32 | 64), || {
        format!("pointers of {} bits", layout.width)
    })?;
    ensure((1..layout.width).contains(&layout.offset_bits), || {
        format!("{} bits of offset in a pointer", layout.offset_bits)
    })?;
    let objects = program.addressable_globals();
    ensure(objects <= layout.last_dynamic_object(), || {
        format!("{objects} addressable variables do not fit a pointer")
    })?;
    for variable in program.globals.iter().filter(|global| global.addressable) {
        let name = &variable.name;
        ensure(is_byte_width(variable.ty.width), || {
            format!("`{name}` has an address and cells that are not bytes")
        })?;
        ensure(variable.bytes() <= layout.max_object_size(), || {
            format!("`{name}` is too large for its address")
        })?;
    }
    for site in &program.sites {
        ensure(is_byte_width(site.cell.width), || {
            format!("the cells of `{}` are not bytes", site.name)
        })?;
    }
    Ok(())
}

fn check_fits(ty: Ty, value: u64) -> Checked {
    ensure(value & !mask(ty.width) == 0, || {
        format!("value {value} does not fit {} bits", ty.width)
    })
}

fn check_type(ty: Ty) -> Checked {
    ensure((1..=64).contains(&ty.width), || {
        format!("width {} is not within 1 to 64", ty.width)
    })
}

fn check_symbols(program: &Program, symbols: Option<SymbolSetId>) -> Checked {
    ensure(
        symbols.is_none_or(|set| set.index() < program.info.symbols.len()),
        || "unknown set of symbols".into(),
    )
}

fn check_variables(
    program: &Program,
    template: Option<&Template>,
    variables: &[Variable],
) -> Checked {
    for variable in variables {
        let name = &variable.name;
        check_type(variable.ty).map_err(|reason| format!("`{name}`: {reason}"))?;
        check_symbols(program, variable.symbols)?;
        ensure((1..=MAX_ROW).contains(&variable.len), || {
            format!("`{name}` has {} cells", variable.len)
        })?;
        let len = variable.len as usize;
        match &variable.init {
            Init::All(value) => check_fits(variable.ty, *value)?,
            Init::Cells(values) => {
                ensure(values.len() == len, || {
                    format!("`{name}` has {len} cells and {} values", values.len())
                })?;
                values
                    .iter()
                    .try_for_each(|&value| check_fits(variable.ty, value))?;
            }
            Init::Channels(channels) => {
                ensure(variable.ty == Ty::CHANNEL && channels.len() == len, || {
                    format!("`{name}` does not hold its channels")
                })?;
                for &channel in channels {
                    check_channel_ref(program, template, channel)?;
                }
            }
        }
    }
    Ok(())
}

fn check_channel_ref(
    program: &Program,
    template: Option<&Template>,
    channel: ChannelRef,
) -> Checked {
    let exists = match channel {
        ChannelRef::Global(index) => (index as usize) < program.channels.len(),
        ChannelRef::Local(index) => {
            template.is_some_and(|template| (index as usize) < template.channels.len())
        }
    };
    ensure(exists, || format!("unknown channel {channel:?}"))
}

fn check_channels(program: &Program, channels: &[ChannelDecl]) -> Checked {
    for channel in channels {
        let name = &channel.name;
        ensure(channel.capacity <= MAX_ROW, || {
            format!("channel `{name}` has capacity {}", channel.capacity)
        })?;
        for field in &channel.fields {
            check_type(field.ty).map_err(|reason| format!("channel `{name}`: {reason}"))?;
            check_symbols(program, field.symbols)?;
        }
    }
    Ok(())
}

fn check_template(program: &Program, template: &Template) -> Checked {
    check_variables(program, Some(template), &template.locals)?;
    if let Some(local) = template.locals.iter().find(|local| local.addressable) {
        return Err(format!("the local `{}` is addressable", local.name));
    }
    check_channels(program, &template.channels)?;
    ensure(template.params as usize <= template.locals.len(), || {
        "more parameters than local variables".into()
    })?;
    ensure(
        template.locals[..template.params as usize]
            .iter()
            .all(|param| param.len == 1),
        || "a parameter is not a scalar".into(),
    )?;
    ensure(template.entry.index() < template.locations.len(), || {
        "the entry is not a location".into()
    })?;
    ensure(template.location(template.entry).bound.is_none(), || {
        "the entry is a bound".into()
    })
}

struct Context<'a> {
    program: &'a Program,
    template: &'a Template,
}

impl Context<'_> {
    fn location(&self, number: usize) -> Checked {
        let location = &self.template.locations[number];
        if location.bound.is_some() {
            ensure(location.edges.is_empty(), || {
                "a bound location has an edge".into()
            })?;
            ensure(location.error.is_none(), || {
                "a bound location is an error, too".into()
            })?;
        }
        let Some(error) = &location.error else {
            return Ok(());
        };
        ensure(location.edges.is_empty(), || {
            "an error location has an edge".into()
        })?;
        let known = |id: crate::program::LocationId| {
            self.template
                .locations
                .get(id.index())
                .is_some_and(|location| !location.ends_run())
        };
        ensure(error.resume.is_none_or(known), || {
            "an error resumes at no proper location".into()
        })
    }

    fn edge(&self, edge: &Edge) -> Checked {
        ensure(edge.target.index() < self.template.locations.len(), || {
            "the target is not a location".into()
        })?;
        self.typed(&edge.guard, 1, "the guard")?;
        let operations = edge.effects.iter().filter(|e| e.is_channel_operation());
        ensure(operations.count() <= 1, || {
            "more than one channel operation".into()
        })?;
        let choices = edge.effects.iter();
        let choices = choices.filter(|effect| matches!(effect, Effect::Havoc { .. }));
        ensure(
            match choices.count() {
                0 => true,
                1 => !edge.effects[0].is_channel_operation(),
                _ => false,
            },
            || "a choice beside another choice or a channel operation".into(),
        )?;
        let target = self.template.location(edge.target);
        let has_effects = !edge.effects.is_empty();
        ensure(!has_effects || target.error.is_none(), || {
            "an edge into an error has effects".into()
        })?;
        ensure(!has_effects || target.bound.is_none(), || {
            "an edge into a bound has effects".into()
        })?;
        for (position, effect) in edge.effects.iter().enumerate() {
            ensure(!effect.is_channel_operation() || position == 0, || {
                "a channel operation is not the first effect".into()
            })?;
            ensure(
                *effect != Effect::Exit || position + 1 == edge.effects.len(),
                || "an effect follows the exit".into(),
            )?;
            self.effect(effect)?;
        }
        for op in &edge.sync {
            self.expr(&op.cell)?;
            op.count.iter().try_for_each(|count| self.expr(count))?;
            if let Some(breach) = op.breach(edge) {
                return Err(format!(
                    "declared as an operation on a {}, but {breach}",
                    op.kind.name()
                ));
            }
        }
        Ok(())
    }

    fn effect(&self, effect: &Effect) -> Checked {
        match effect {
            Effect::Assign { place, value } => {
                self.place(place)?;
                self.typed(value, place.ty.width, "the value")
            }
            Effect::Store { address, value } => {
                self.address(address)?;
                self.expr(value)?;
                ensure(is_byte_width(value.width()), || {
                    format!("a store of {} bits", value.width())
                })
            }
            Effect::Havoc { place, values } => {
                self.place(place)?;
                ensure(
                    values
                        .checked_sub(1)
                        .is_none_or(|most| most <= mask(place.ty.width)),
                    || format!("{values} values do not fit the cell"),
                )
            }
            Effect::Allocate {
                site, size, result, ..
            } => {
                self.site(*site)?;
                self.typed(size, self.program.pointers.width, "a size")?;
                self.place(result)?;
                ensure(result.ty.width == self.program.pointers.width, || {
                    format!("an address does not fit {} bits", result.ty.width)
                })
            }
            Effect::Free { address } => self.address(address),
            Effect::Send {
                channel, values, ..
            } => {
                self.typed(channel, Ty::CHANNEL.width, "the channel")?;
                values.iter().try_for_each(|value| self.expr(value))
            }
            Effect::Receive { channel, args, .. } => {
                self.typed(channel, Ty::CHANNEL.width, "the channel")?;
                args.iter().try_for_each(|arg| self.receive_arg(arg))
            }
            Effect::Spawn {
                template,
                args,
                result,
                ..
            } => {
                let spawned = self
                    .program
                    .templates
                    .get(template.index())
                    .ok_or("unknown template")?;
                ensure(args.len() == spawned.params as usize, || {
                    format!("wrong number of arguments for `{}`", spawned.name)
                })?;
                for (param, arg) in spawned.locals.iter().zip(args) {
                    self.typed(arg, param.ty.width, "an argument")?;
                }
                result.iter().try_for_each(|place| self.place(place))
            }
            Effect::Exit => Ok(()),
            Effect::SetPriority { thread, priority } => {
                self.typed(thread, INDEX_WIDTH, "the thread")?;
                self.typed(priority, 8, "the priority")
            }
            Effect::Print { args, .. } => args.iter().try_for_each(|arg| {
                check_symbols(self.program, arg.symbols)?;
                self.expr(&arg.value)
            }),
        }
    }

    fn address(&self, address: &Expr) -> Checked {
        self.typed(address, self.program.pointers.width, "an address")
    }

    fn site(&self, site: SiteId) -> Checked {
        ensure(site.index() < self.program.sites.len(), || {
            "unknown allocation site".into()
        })
    }

    fn receive_arg(&self, arg: &ReceiveArg) -> Checked {
        match arg {
            ReceiveArg::Match(value) => self.expr(value),
            ReceiveArg::Store(place) => self.place(place),
            ReceiveArg::Ignore => Ok(()),
        }
    }

    fn place(&self, place: &Place) -> Checked {
        let variable = match place.variable {
            VariableRef::Global(id) => self.program.globals.get(id.index()),
            VariableRef::Local(id) => self.template.locals.get(id.index()),
        };
        let variable = variable.ok_or_else(|| format!("unknown variable {:?}", place.variable))?;
        self.cell(variable, &place.index, place.ty)
    }

    fn cell(&self, variable: &Variable, index: &Expr, ty: Ty) -> Checked {
        let name = &variable.name;
        ensure(variable.ty == ty, || {
            format!("`{name}` is used with another type than its own")
        })?;
        self.typed(index, INDEX_WIDTH, "an index")?;
        ensure(
            index
                .as_const()
                .is_none_or(|index| index < u64::from(variable.len)),
            || format!("constant index outside of `{name}`"),
        )
    }

    fn typed(&self, expr: &Expr, width: u8, what: &str) -> Checked {
        self.expr(expr)?;
        ensure(expr.width() == width, || {
            format!("{what} has width {} and not {width}", expr.width())
        })
    }

    fn expr(&self, expr: &Expr) -> Checked {
        match expr {
            Expr::Const { value, width } => {
                let ty = Ty::unsigned(*width);
                check_type(ty)?;
                check_fits(ty, *value)
            }
            Expr::Read(place) => self.place(place),
            Expr::Unary(_, arg) => self.expr(arg),
            Expr::Binary(_, lhs, rhs) => {
                self.expr(lhs)?;
                self.typed(rhs, lhs.width(), "the right operand")
            }
            Expr::If(condition, then, otherwise) => {
                self.typed(condition, 1, "a condition")?;
                self.expr(then)?;
                self.typed(otherwise, then.width(), "an alternative")
            }
            Expr::Resize { arg, width, .. } => {
                check_type(Ty::unsigned(*width))?;
                self.expr(arg)
            }
            Expr::ThreadId | Expr::ThreadCount | Expr::Timeout => Ok(()),
            Expr::ThreadAt {
                thread,
                template,
                locations,
            } => {
                self.typed(thread, INDEX_WIDTH, "the thread")?;
                let template = self
                    .program
                    .templates
                    .get(template.index())
                    .ok_or("unknown template")?;
                ensure(
                    locations
                        .iter()
                        .all(|location| location.index() < template.locations.len()),
                    || format!("unknown location of `{}`", template.name),
                )
            }
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ty,
            } => {
                self.typed(thread, INDEX_WIDTH, "the thread")?;
                let variable = self
                    .program
                    .templates
                    .get(template.index())
                    .and_then(|template| template.locals.get(variable.index()))
                    .ok_or("unknown variable of another thread")?;
                self.cell(variable, index, *ty)
            }
            Expr::ThreadPriority(thread) => self.typed(thread, INDEX_WIDTH, "the thread"),
            Expr::Channel(channel) => {
                check_channel_ref(self.program, Some(self.template), *channel)
            }
            Expr::ChannelExists(channel)
            | Expr::ChannelLen(channel)
            | Expr::ChannelCapacity(channel) => {
                self.typed(channel, Ty::CHANNEL.width, "the channel")
            }
            Expr::CanReceive { channel, args, .. } => {
                self.typed(channel, Ty::CHANNEL.width, "the channel")?;
                args.iter().try_for_each(|arg| self.receive_arg(arg))
            }
            Expr::Address { variable, width } => {
                let global = self.program.globals.get(variable.index());
                ensure(global.is_some_and(|global| global.addressable), || {
                    format!("the address of {variable:?}, which has none")
                })?;
                ensure(*width == self.program.pointers.width, || {
                    format!("an address of {width} bits")
                })
            }
            Expr::Load { address, ty } => {
                self.address(address)?;
                ensure(is_byte_width(ty.width), || {
                    format!("a load of {} bits", ty.width)
                })
            }
            Expr::ObjectSize(address) => self.address(address),
            Expr::ObjectSite { address, sites } => {
                self.address(address)?;
                sites.iter().try_for_each(|&site| self.site(site))
            }
        }
    }
}
