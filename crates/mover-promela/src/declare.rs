//! Declarations: types, mtype constants, variables and channels.
//!
//! SPIN numbers the names of an mtype set from the last one, which is 1, up to
//! the first; further declarations of the same set continue after it. A list of
//! initial values that is too short repeats its last value.
//!
//! Declarations at the very start of a body are part of the creation of a
//! process. Further down each declared name is a step that stores its initial
//! value, with SPIN's own notion of that: of an array only the first cell, of
//! a structure nothing.

use std::rc::Rc;

use mover_ir::expr::{ChannelRef, Expr, Place, Ty, VariableRef};
use mover_ir::program::{
    CellNames, ChannelDecl, Field, Init, SymbolSet, SymbolSetId, Variable, VariableId,
};
use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use crate::actions::Action;
use crate::ast::{
    ChannelInitial, Declaration, Expr as Syntax, ExprKind, Initial, MtypeDeclaration, Name,
    TypeName, Typedef, VariableDeclaration, Visibility,
};
use crate::constants::{InitialState, evaluate, fold};
use crate::context::{CELL_LIMIT, Context, Global, MtypeConstant};
use crate::paths::Found;
use crate::scopes::VariableInfo;
use crate::substitute::is_expressible;
use crate::types::{
    ChannelShape, FieldInitial, LEAF_LIMIT, Leaf, STRUCT_DEPTH_LIMIT, Shape, StructField,
    StructType, Type,
};
use crate::values::Value;

/// SPIN's own limit.
const MTYPE_LIMIT: usize = 255;
/// Messages times fields of one channel.
const CHANNEL_CELL_LIMIT: u64 = 1 << 16;
const CHANNEL_LIMIT: usize = 4096;

/// When a variable gets its initial value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// At the start of the model.
    Global,
    /// At the creation of its process.
    Creation,
    /// As a step of its process.
    Step,
    /// As a parameter.
    Parameter,
}

impl Context<'_> {
    pub fn declare_mtype(&mut self, declaration: &MtypeDeclaration) {
        let set = self.mtype_set(declaration.set.as_ref());
        let names = &mut self.symbols[set.index()].names;
        let before = names.len();
        let count = declaration.names.len();
        if before + count > MTYPE_LIMIT {
            self.error(
                declaration.names[0].span,
                format!("an mtype set has at most {MTYPE_LIMIT} names"),
            );
            return;
        }
        for (position, name) in declaration.names.iter().enumerate() {
            if !self.check_free(name) {
                continue;
            }
            let value = (before + count - position) as i32;
            self.symbols[set.index()]
                .names
                .push((i64::from(value), name.text.to_string()));
            let constant = MtypeConstant {
                value,
                set,
                unit: self.unit,
                span: name.span,
            };
            self.mtypes.insert(name.text.clone(), constant);
        }
    }

    fn mtype_set(&mut self, name: Option<&Name>) -> SymbolSetId {
        let key = name.map(|name| name.text.clone());
        if let Some(&set) = self.mtype_sets.get(&key) {
            return set;
        }
        let set = SymbolSetId(self.symbols.len() as u32);
        self.symbols.push(SymbolSet::default());
        self.mtype_sets.insert(key, set);
        set
    }

    pub fn declare_typedef(&mut self, typedef: &Typedef) {
        self.check_free(&typedef.name);
        let mut fields: Vec<StructField> = Vec::new();
        for declaration in &typedef.fields {
            for variable in &declaration.variables {
                let Some(shape) = self.shape(declaration, variable) else {
                    continue;
                };
                if fields.iter().any(|field| field.name == variable.name.text) {
                    self.error(
                        variable.name.span,
                        format!(
                            "`{}` has two fields `{}`",
                            typedef.name.text, variable.name.text
                        ),
                    );
                }
                let initial = self.field_initial(variable, shape);
                fields.push(StructField {
                    name: variable.name.text.clone(),
                    shape,
                    initial,
                });
            }
        }
        let index = self.types.structs.len();
        self.types.structs.push(StructType {
            name: typedef.name.text.clone(),
            span: typedef.name.span,
            fields,
        });
        let kind = Type::Struct(index);
        if self.types.depth(kind) > STRUCT_DEPTH_LIMIT || self.types.leaf_count(kind) > LEAF_LIMIT {
            self.error(
                typedef.name.span,
                format!("the type `{}` is too large", typedef.name.text),
            );
            self.types.structs[index].fields.clear();
        }
        self.type_names.insert(typedef.name.text.clone(), index);
    }

    fn field_initial(&mut self, variable: &VariableDeclaration, shape: Shape) -> FieldInitial {
        match &variable.initial {
            Initial::None => FieldInitial::Value(0),
            Initial::Channel(channel) if shape.kind == Type::Channel => {
                match self.channel_shape(channel) {
                    Some(channel) => FieldInitial::Channel(channel),
                    None => FieldInitial::Value(0),
                }
            }
            Initial::Channel(channel) => {
                self.error(
                    channel.span,
                    "only a `chan` can be initialised with a channel",
                );
                FieldInitial::Value(0)
            }
            Initial::Value(syntax) => FieldInitial::Value(self.constant(syntax).unwrap_or(0)),
            Initial::List(values) => {
                if shape.length.is_none() {
                    self.error(
                        variable.name.span,
                        format!("`{}` is not an array", variable.name.text),
                    );
                }
                FieldInitial::Values(
                    values
                        .iter()
                        .map(|value| self.constant(value).unwrap_or(0))
                        .collect(),
                )
            }
        }
    }

    /// A constant expression; reports one that is not.
    pub fn constant(&mut self, syntax: &Syntax) -> Option<i32> {
        let value = fold(syntax, &|name| {
            self.mtype(name).map(|constant| constant.value)
        });
        if value.is_none() && !matches!(syntax.kind, ExprKind::Invalid) {
            self.error(syntax.span, "this must be a constant");
        }
        value
    }

    /// A length or a count: a constant, or an initialised variable for one.
    pub fn size(&mut self, syntax: &Syntax) -> Option<i32> {
        if let ExprKind::Variable(path) = &syntax.kind
            && let [element] = path.elements.as_slice()
            && element.index.is_none()
            && let Some(info) = self.find(&element.name.text)
            && let Some(value) = info.constant
        {
            self.warning(
                syntax.span,
                format!(
                    "`{}` stands for its initial value {value} here",
                    element.name.text
                ),
            );
            return Some(value);
        }
        self.constant(syntax)
    }

    fn type_of(
        &mut self,
        type_name: &TypeName,
        width: Option<(i32, Span)>,
        span: Span,
    ) -> Option<Type> {
        if let Some((_, width_span)) = width
            && *type_name != TypeName::Unsigned
        {
            self.error(width_span, "only an `unsigned` has a number of bits");
            return None;
        }
        Some(match type_name {
            TypeName::Bit | TypeName::Bool => Type::Scalar(Ty::BOOL),
            TypeName::Byte | TypeName::Pid => Type::Scalar(Ty::BYTE),
            TypeName::Short => Type::Scalar(Ty::SHORT),
            TypeName::Int => Type::Scalar(Ty::INT),
            TypeName::Chan => Type::Channel,
            TypeName::Mtype(set) => {
                let known = self
                    .mtype_sets
                    .contains_key(&set.as_ref().map(|name| name.text.clone()));
                if let Some(name) = set
                    && !known
                {
                    self.error(
                        name.span,
                        format!("there is no mtype set `{}` before this", name.text),
                    );
                }
                Type::Mtype(self.mtype_set(set.as_ref()))
            }
            TypeName::Struct(name) => match self.type_names.get(&name.text) {
                Some(&index) => Type::Struct(index),
                None => {
                    self.error(
                        name.span,
                        format!("the type `{}` contains itself", name.text),
                    );
                    return None;
                }
            },
            TypeName::Unsigned => match width {
                Some((bits @ 1..=31, _)) => Type::Scalar(Ty::unsigned(bits as u8)),
                _ => {
                    self.error(
                        span,
                        "an `unsigned` needs a number of bits from 1 to 31: `unsigned x : 5`",
                    );
                    return None;
                }
            },
        })
    }

    fn shape(
        &mut self,
        declaration: &Declaration,
        variable: &VariableDeclaration,
    ) -> Option<Shape> {
        let kind = self.type_of(&declaration.type_name, variable.width, variable.name.span)?;
        let length = match &variable.length {
            None => None,
            Some(syntax) => {
                let length = self.size(syntax)?;
                if length <= 0 || u64::from(length.unsigned_abs()) > CELL_LIMIT {
                    self.error(
                        syntax.span,
                        format!("an array has 1 to {CELL_LIMIT} elements, not {length}"),
                    );
                    return None;
                }
                Some(length.unsigned_abs())
            }
        };
        if declaration.visibility == Visibility::Hidden && kind == Type::Scalar(Ty::BOOL) {
            self.error(variable.name.span, "a bit cannot be hidden");
        }
        Some(Shape { kind, length })
    }

    pub fn channel_shape(&mut self, initial: &ChannelInitial) -> Option<ChannelShape> {
        let capacity = self.size(&initial.capacity)?;
        let mut fields = Vec::new();
        for (type_name, span) in &initial.fields {
            let kind = self.type_of(type_name, None, *span)?;
            let more = self.types.message_fields(kind).unwrap_or_default();
            if more.is_empty() || fields.len() + more.len() > LEAF_LIMIT {
                self.error(*span, format!("a message has 1 to {LEAF_LIMIT} fields"));
                return None;
            }
            fields.extend(more);
        }
        // SPIN's verifier keeps a bit that is all of a message in a byte.
        if let [only] = &mut fields[..]
            && only.ty == Ty::BOOL
        {
            only.ty = Ty::BYTE;
        }
        let cells = u64::from(capacity.unsigned_abs()) * fields.len() as u64;
        if capacity < 0 || cells > CHANNEL_CELL_LIMIT {
            self.error(
                initial.capacity.span,
                format!("a channel of capacity {capacity} is not possible: messages times fields are at most {CHANNEL_CELL_LIMIT}"),
            );
            return None;
        }
        Some(ChannelShape {
            capacity: capacity.unsigned_abs(),
            fields,
            span: initial.span,
        })
    }

    /// Declares the variables of a declaration outside of all processes.
    pub fn declare_globals(&mut self, declaration: &Declaration) {
        let declared: Vec<VariableInfo> = declaration
            .variables
            .iter()
            .filter_map(|variable| self.declare(declaration, variable, Moment::Global, None))
            .collect();
        // A name can be used only after the whole declaration.
        for info in declared {
            let global = Global {
                info: info.clone(),
                unit: self.unit,
            };
            self.global_names.insert(info.name.clone(), global);
        }
    }

    /// Declares the variables of a declaration within a process.
    pub fn declare_locals(
        &mut self,
        declaration: &Declaration,
        moment: Moment,
        reserved: &mut impl Iterator<Item = u32>,
    ) {
        let mut declared = Vec::new();
        for variable in &declaration.variables {
            let slot = if moment == Moment::Creation && self.is_computed(declaration, variable) {
                reserved.next()
            } else {
                None
            };
            declared.extend(self.declare(declaration, variable, moment, slot));
        }
        for info in declared {
            self.make_visible(info);
        }
    }

    pub fn make_visible(&mut self, info: VariableInfo) {
        if let Some(process) = self.process {
            let process = &mut self.processes[process];
            if process.scopes.path().len() == 1 {
                process.visible.insert(info.name.clone(), info.clone());
            }
            process.scopes.declare(info);
        }
    }

    /// The IR variables of one declared variable. `slot` is the IR variable
    /// that has been reserved for it as a hidden parameter.
    fn declare(
        &mut self,
        declaration: &Declaration,
        variable: &VariableDeclaration,
        moment: Moment,
        slot: Option<u32>,
    ) -> Option<VariableInfo> {
        let name = &variable.name;
        let shape = self.shape(declaration, variable)?;
        if !self.check_free(name) {
            return None;
        }
        if matches!(&*name.text, "_pid" | "_nr_pr" | "_last" | "_priority" | "_") {
            self.error(
                name.span,
                format!("`{}` is a name of SPIN's own", name.text),
            );
            return None;
        }
        let mut info = VariableInfo {
            name: name.text.clone(),
            span: name.span,
            shape,
            is_global: moment == Moment::Global,
            first: 0,
            fixed_channels: None,
            channel: None,
            constant: None,
        };
        if let Some(slot) = slot {
            info.first = slot;
            self.declare_computed(&info, variable, slot);
            return Some(info);
        }
        let leaves = self.types.leaves(shape);
        info.first = self.variables(info.is_global).len() as u32;
        if !self.has_room(&leaves, info.is_global, name.span) {
            return None;
        }
        let initial = match moment {
            Moment::Step => &Initial::None,
            _ => &variable.initial,
        };
        if moment == Moment::Parameter && !matches!(initial, Initial::None) {
            self.error(name.span, "a parameter cannot have an initial value");
        }
        if moment == Moment::Step
            && let Initial::Channel(channel) = &variable.initial
        {
            let diagnostic = Diagnostic::coded(
                "P034",
                "a channel cannot be created in the middle of a body",
            )
            .at(channel.span, "")
            .help(format!(
                "declare `{}` at the start of the proctype",
                name.text
            ));
            self.report(diagnostic);
        }
        if moment == Moment::Step
            && let Initial::List(_) = variable.initial
        {
            self.error(
                name.span,
                "a list of initial values is possible only at the start of a body",
            );
        }
        for leaf in &leaves {
            let init = self.leaf_init(&mut info, variable, leaf, initial);
            let variable = Variable {
                name: format!("{}{}", name.text, leaf.suffix),
                ty: leaf.ty,
                len: u32::try_from(leaf.cells).unwrap_or(1),
                is_array: leaf.is_array,
                init,
                symbols: leaf.symbols,
                addressable: false,
                names: CellNames::default(),
                span: Some(name.span),
            };
            if info.is_global {
                self.globals.push(variable);
            } else if let Some(process) = self.process {
                self.processes[process].locals.push(variable);
            }
        }
        if self.changed_names.contains(&name.text) {
            info.fixed_channels = None;
        }
        Some(info)
    }

    fn variables(&self, global: bool) -> &[Variable] {
        match self.process {
            Some(process) if !global => &self.processes[process].locals,
            _ => &self.globals,
        }
    }

    fn has_room(&mut self, leaves: &[Leaf], global: bool, span: Span) -> bool {
        let cells: u64 = leaves
            .iter()
            .map(|leaf| leaf.cells)
            .fold(0, u64::saturating_add);
        let used = match self.process {
            Some(process) if !global => &mut self.processes[process].cells,
            _ => &mut self.global_cells,
        };
        *used = used.saturating_add(cells);
        let fits = *used <= CELL_LIMIT;
        if !fits {
            self.error(
                span,
                format!("the variables have more than {CELL_LIMIT} cells together"),
            );
        }
        fits
    }

    fn leaf_init(
        &mut self,
        info: &mut VariableInfo,
        variable: &VariableDeclaration,
        leaf: &Leaf,
        initial: &Initial,
    ) -> Init {
        let in_structure = !leaf.suffix.is_empty();
        if in_structure {
            self.ignore_initial(info, variable, initial);
            return match leaf.initial.clone() {
                FieldInitial::Value(value) => Init::All(leaf_bits(value, leaf.ty)),
                FieldInitial::Values(values) => {
                    let own = repeat_last(&values, leaf.own_cells as usize, leaf.ty);
                    let times = leaf.cells as usize / own.len().max(1);
                    Init::Cells(own.repeat(times))
                }
                FieldInitial::Channel(shape) => {
                    let name = format!("{}{}", variable.name.text, leaf.suffix);
                    Init::Channels(self.create_channels(
                        &name,
                        &shape,
                        leaf.cells,
                        leaf.is_array,
                        info.is_global,
                    ))
                }
            };
        }
        match initial {
            Initial::None => Init::All(0),
            Initial::Channel(channel) => {
                if !leaf.is_channel {
                    self.error(
                        channel.span,
                        "only a `chan` can be initialised with a channel",
                    );
                    return Init::All(0);
                }
                let Some(shape) = self.channel_shape(channel) else {
                    return Init::All(0);
                };
                let channels = self.create_channels(
                    &variable.name.text,
                    &shape,
                    leaf.cells,
                    leaf.is_array,
                    info.is_global,
                );
                info.channel = Some(Rc::new(shape));
                info.fixed_channels = Some(Rc::from(channels.as_slice()));
                Init::Channels(channels)
            }
            Initial::List(values) => {
                if info.shape.length.is_none() {
                    self.error(
                        variable.name.span,
                        format!("`{}` is not an array", variable.name.text),
                    );
                    return Init::All(0);
                }
                if values.len() > leaf.cells as usize {
                    self.error(
                        values[leaf.cells as usize].span,
                        "more initial values than elements",
                    );
                }
                let values: Vec<i32> = values
                    .iter()
                    .map(|value| self.constant(value).unwrap_or(0))
                    .collect();
                Init::Cells(repeat_last(&values, leaf.cells as usize, leaf.ty))
            }
            Initial::Value(syntax) => {
                if leaf.is_channel
                    && let Some(init) = self.alias(info, syntax)
                {
                    return init;
                }
                let value = self.initial_value(syntax, leaf.ty).unwrap_or(0);
                if info.shape.length.is_none() && !leaf.is_channel {
                    info.constant = i32::try_from(leaf.ty.number(value)).ok();
                }
                Init::All(value)
            }
        }
    }

    /// SPIN reads an initial value of a structure and ignores it: the fields have those of their
    /// type.
    fn ignore_initial(
        &mut self,
        info: &VariableInfo,
        variable: &VariableDeclaration,
        initial: &Initial,
    ) {
        let name = &variable.name;
        match initial {
            Initial::None => {}
            Initial::Channel(channel) => self.error(
                channel.span,
                "only a `chan` can be initialised with a channel",
            ),
            Initial::List(_) if info.shape.length.is_none() => {
                self.error(name.span, format!("`{}` is not an array", name.text));
            }
            Initial::Value(_) | Initial::List(_) => self.warning(
                name.span,
                "the initial value of a structure is ignored; its fields have those of their type",
            ),
        }
    }

    /// `chan c = d`, where `d` holds a channel from the start.
    fn alias(&mut self, info: &mut VariableInfo, syntax: &Syntax) -> Option<Init> {
        let ExprKind::Variable(path) = &syntax.kind else {
            return None;
        };
        self.find(&path.elements[0].name.text)?;
        let Some(Found::Cell(cell)) = self.lookup(path) else {
            return None;
        };
        let variable = match cell.place.variable {
            VariableRef::Global(id) => &self.globals[id.index()],
            VariableRef::Local(id) => &self.processes[self.process?].locals[id.index()],
        };
        let Init::Channels(channels) = &variable.init else {
            return None;
        };
        let channel = *channels.get(cell.place.index.as_const()? as usize)?;
        let count = info.shape.length.unwrap_or(1) as usize;
        let channels = vec![channel; count];
        info.channel = cell.channel.clone();
        if cell.fixed.is_some() {
            info.fixed_channels = Some(Rc::from(channels.as_slice()));
        }
        Some(Init::Channels(channels))
    }

    fn create_channels(
        &mut self,
        name: &str,
        shape: &ChannelShape,
        count: u64,
        is_array: bool,
        global: bool,
    ) -> Vec<ChannelRef> {
        let mut created = Vec::new();
        for cell in 0..count {
            let channel = ChannelDecl {
                name: if is_array {
                    format!("{name}[{cell}]")
                } else {
                    name.to_string()
                },
                capacity: shape.capacity,
                fields: shape
                    .fields
                    .iter()
                    .map(|field| Field {
                        ty: field.ty,
                        symbols: field.symbols,
                    })
                    .collect(),
                span: Some(shape.span),
            };
            let channels = match self.process {
                Some(process) if !global => &mut self.processes[process].channels,
                _ => &mut self.channels,
            };
            if channels.len() >= CHANNEL_LIMIT {
                self.error(
                    shape.span,
                    format!("there are more than {CHANNEL_LIMIT} channels"),
                );
                return vec![ChannelRef::Global(0); count as usize];
            }
            let number = channels.len() as u32;
            channels.push(channel);
            created.push(if global {
                ChannelRef::Global(number)
            } else {
                ChannelRef::Local(number)
            });
        }
        created
    }

    /// The value of an initial expression that is known from the start.
    fn initial_value(&mut self, syntax: &Syntax, ty: Ty) -> Option<u64> {
        let value = self.value(syntax);
        let checks = value.checks.clone();
        let expr = value.into_stored(ty);
        let locals = match self.process {
            Some(process) => &self.processes[process].locals[..],
            None => &[],
        };
        let state = InitialState {
            globals: &self.globals,
            locals,
            thread: None,
        };
        let sound = checks
            .iter()
            .all(|check| evaluate(&check.holds, &state) == Some(1));
        let known = evaluate(&expr, &state).filter(|_| sound);
        if known.is_none() {
            self.error(
                syntax.span,
                "this initial value is not known at the start of the model",
            );
        }
        known
    }

    /// A local whose initial value is computed when its process is created.
    fn declare_computed(&mut self, info: &VariableInfo, variable: &VariableDeclaration, slot: u32) {
        let Some(process) = self.process else {
            return;
        };
        let Initial::Value(syntax) = &variable.initial else {
            return;
        };
        let leaves = self.types.leaves(info.shape);
        let [leaf] = leaves.as_slice() else {
            return;
        };
        if info.shape.length.is_some() {
            self.error(
                syntax.span,
                "an array can only be initialised with constants; assign its elements instead",
            );
            return;
        }
        let value = self.value(syntax);
        if let Some(check) = value.checks.first() {
            let diagnostic =
                Diagnostic::coded("P034", "an initial value that can fail is not supported")
                    .at(check.span, check.message.clone())
                    .help("declare the variable without it and assign the value in a statement");
            self.report(diagnostic);
        }
        let expr = value.into_stored(leaf.ty);
        let locals = &mut self.processes[process].locals;
        locals[slot as usize] = Variable {
            name: info.name.to_string(),
            ty: leaf.ty,
            len: 1,
            is_array: false,
            init: Init::All(0),
            symbols: leaf.symbols,
            addressable: false,
            names: CellNames::default(),
            span: Some(info.span),
        };
        if !is_expressible(&expr, locals) {
            self.unsupported(
                syntax.span,
                "this initial value is not supported; assign it in a statement",
            );
        }
        self.processes[process]
            .computed
            .push((VariableId(slot), expr));
    }

    /// Whether a declaration at the start of a body needs to know the state at
    /// the creation of its process. Anything but a plain constant counts.
    pub fn is_computed(&self, declaration: &Declaration, variable: &VariableDeclaration) -> bool {
        match &variable.initial {
            _ if matches!(declaration.type_name, TypeName::Struct(_)) => false,
            Initial::Value(syntax) => fold(syntax, &|name| {
                self.mtype(name).map(|constant| constant.value)
            })
            .is_none(),
            _ => false,
        }
    }

    /// The steps that declarations in the middle of a body are.
    pub fn declaration_steps(&mut self, declaration: &Declaration) -> Vec<Action> {
        self.declare_locals(declaration, Moment::Step, &mut std::iter::empty());
        let mut steps = Vec::new();
        for variable in &declaration.variables {
            let name = &variable.name;
            let Some(info) = self.find(&name.text).cloned() else {
                continue;
            };
            let value = match &variable.initial {
                Initial::Value(syntax) => self.value(syntax),
                _ => Value::constant(0),
            };
            let shown = match &variable.initial {
                Initial::Value(syntax) => self.text(syntax.span),
                _ => "0".to_string(),
            };
            let leaves = self.types.leaves(info.shape);
            match leaves.as_slice() {
                [leaf] if leaf.suffix.is_empty() => {
                    let place = Place::element(info.leaf(0), Expr::int(0), leaf.ty);
                    let cell = if info.shape.length.is_some() {
                        "[0]"
                    } else {
                        ""
                    };
                    let text = format!("{}{cell} = {shown}", name.text);
                    steps.push(self.store(place, Vec::new(), value, text, name.span));
                }
                _ => {
                    let mut step = Action::skip(self.text(declaration.span), name.span);
                    step.is_skip = false;
                    steps.push(step);
                }
            }
        }
        steps
    }
}

fn leaf_bits(value: i32, ty: Ty) -> u64 {
    value as u64 & mover_ir::expr::mask(ty.width)
}

fn repeat_last(values: &[i32], count: usize, ty: Ty) -> Vec<u64> {
    let last = values.last().copied().unwrap_or(0);
    (0..count)
        .map(|index| leaf_bits(values.get(index).copied().unwrap_or(last), ty))
        .collect()
}
