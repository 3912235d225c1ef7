//! Addressable memory on terms.
//!
//! An address is a number; the object it points into is determined by a case distinction over
//! the objects that a points-to analysis allows, and the cell of the object by one over the
//! offsets. There are few cases where addresses are known to be aligned (a base plus a multiple
//! of the cell's size): then each cell is one case. Otherwise every byte is.
//!
//! Dynamic objects live in slots, as threads do. A slot has the allocation site (0 while it is
//! empty), the size, and cells for the largest object that fits the bounds; a larger object
//! leaves the bounds.

use mover_ir::expr::{Expr, Ty};
use mover_ir::program::{REUSED_NUMBERS, SiteId};
use mover_reduce::facts::points_to::Targets;

use crate::layout::{ObjectHome, ObjectLayout};
use crate::machine::{Performer, View};
use crate::term::{Node, Term, Terms};

impl View<'_, '_> {
    /// The objects that an address may point into, as far as is known statically.
    fn candidates(&self, address: &Expr) -> Vec<usize> {
        let targets: Targets = self.layout.points_to.targets(self.template, address);
        let objects = self.layout.objects.iter().enumerate();
        objects
            .filter(|(_, object)| match object.home {
                ObjectHome::Global(variable) => {
                    targets.globals.iter().any(|id| id.index() == variable)
                }
                ObjectHome::Dynamic => !targets.sites.is_empty(),
                ObjectHome::Made(site) => targets.sites.contains(&site),
            })
            .map(|(number, _)| number)
            .collect()
    }

    /// Whether an address points into a live object, whatever the offset.
    fn is_in(&self, terms: &mut Terms, address: Term, object: &ObjectLayout) -> Term {
        let pointers = self.layout.program.pointers;
        let by = terms.constant(pointers.offset_bits.into(), pointers.width);
        let number = terms.lshr(address, by);
        let same = terms.equals(number, object.number);
        let alive = self.lives(terms, object);
        terms.and(same, alive)
    }

    fn lives(&self, terms: &mut Terms, object: &ObjectLayout) -> Term {
        match object.site {
            None => Terms::TRUE,
            Some(cell) => {
                let gone = terms.equals(self.state[cell], 0);
                terms.not(gone)
            }
        }
    }

    /// The size in bytes, as wide as a pointer.
    fn size(&self, terms: &mut Terms, object: &ObjectLayout) -> Term {
        let width = self.layout.program.pointers.width;
        match object.size {
            Some(cell) => terms.resize(self.state[cell], width, false),
            None => terms.constant(object.bytes(), width),
        }
    }

    pub(crate) fn object_size(&self, terms: &mut Terms, address: &Expr) -> Term {
        let candidates = self.candidates(address);
        let address = self.eval(terms, address);
        let mut size = terms.constant(0, self.layout.program.pointers.width);
        for object in candidates {
            let object = &self.layout.objects[object];
            let here = self.is_in(terms, address, object);
            let this = self.size(terms, object);
            size = terms.ite(here, this, size);
        }
        size
    }

    pub(crate) fn object_site(&self, terms: &mut Terms, address: &Expr, sites: &[SiteId]) -> Term {
        let candidates = self.candidates(address);
        let address = self.eval(terms, address);
        let mut cases = Vec::new();
        for object in candidates {
            let object = &self.layout.objects[object];
            let made = match (object.home, object.site) {
                (ObjectHome::Made(site), _) => terms.truth(sites.contains(&site)),
                (ObjectHome::Dynamic, Some(cell)) => {
                    let is_one =
                        |site: &SiteId| terms.equals(self.state[cell], u64::from(site.0) + 1);
                    let made: Vec<Term> = sites.iter().map(is_one).collect();
                    terms.any(made)
                }
                _ => continue,
            };
            let here = self.is_in(terms, address, object);
            cases.push(terms.and(here, made));
        }
        terms.any(cases)
    }

    /// The bytes at an address; 0 unless all are within a live object.
    pub(crate) fn load(&self, terms: &mut Terms, address: &Expr, ty: Ty) -> Term {
        let candidates = self.candidates(address);
        let address = self.eval(terms, address);
        let count = u64::from(ty.width / 8);
        let mut ranges = Vec::new();
        for object in candidates {
            let object = &self.layout.objects[object];
            for offset in offsets(terms, address, object, count) {
                let here = self.is_range(terms, address, object, offset, count);
                if here != Terms::FALSE {
                    ranges.push((here, object, offset));
                }
            }
        }
        if let Some(value) = self.load_by_cells(terms, &ranges, ty) {
            return value;
        }
        let mut value = terms.constant(0, ty.width);
        for (here, object, offset) in ranges {
            let there = self.bytes_at(terms, object, offset, ty.width);
            value = terms.ite(here, there, value);
        }
        value
    }

    /// The same where a value is made of several whole cells: each of them is a choice between
    /// cells, which the event engine takes for one read.
    fn load_by_cells(
        &self,
        terms: &mut Terms,
        ranges: &[(Term, &ObjectLayout, u64)],
        ty: Ty,
    ) -> Option<Term> {
        let (_, first, _) = ranges.first()?;
        let width = first.cell_width;
        let bytes = u64::from(width / 8);
        let is_whole = |(_, object, offset): &(Term, &ObjectLayout, u64)| {
            object.cell_width == width && offset.is_multiple_of(bytes)
        };
        if ty.width <= width || !ty.width.is_multiple_of(width) || !ranges.iter().all(is_whole) {
            return None;
        }
        let mut value = terms.constant(0, ty.width);
        for part in 0..ty.width / width {
            let mut bits = terms.constant(0, width);
            for &(here, object, offset) in ranges {
                let cell = object.first + (offset / bytes) as usize + usize::from(part);
                bits = terms.ite(here, self.state[cell], bits);
            }
            let wide = terms.resize(bits, ty.width, false);
            let by = terms.constant(u64::from(part) * u64::from(width), ty.width);
            let moved = terms.shl(wide, by);
            value = terms.or(value, moved);
        }
        Some(value)
    }

    /// Whether the address is this byte of the object, with this many bytes after it.
    fn is_range(
        &self,
        terms: &mut Terms,
        address: Term,
        object: &ObjectLayout,
        offset: u64,
        count: u64,
    ) -> Term {
        let base = self.layout.program.pointers.address(object.number);
        let here = terms.equals(address, base + offset);
        if here == Terms::FALSE {
            return here;
        }
        let alive = self.lives(terms, object);
        let here = terms.and(here, alive);
        match object.size {
            None => here,
            Some(cell) => {
                let size = self.state[cell];
                let end = terms.constant(offset + count, terms.width(size));
                let short = terms.ult(size, end);
                let fits = terms.not(short);
                terms.and(here, fits)
            }
        }
    }

    /// The bytes of an object from a known offset.
    fn bytes_at(&self, terms: &mut Terms, object: &ObjectLayout, offset: u64, width: u8) -> Term {
        let cell_bytes = u64::from(object.cell_width / 8);
        if width == object.cell_width && offset.is_multiple_of(cell_bytes) {
            return self.state[object.first + (offset / cell_bytes) as usize];
        }
        let mut value = terms.constant(0, width);
        for byte in 0..u64::from(width / 8) {
            let (cell, shift) = place_of(offset + byte, cell_bytes);
            let bits = part(terms, self.state[object.first + cell], shift, 8);
            let wide = terms.resize(bits, width, false);
            let by = terms.constant(byte * 8, width);
            let moved = terms.shl(wide, by);
            value = terms.or(value, moved);
        }
        value
    }

    /// Whether some cell holds an address of the object: all cells as wide as a
    /// pointer, and in objects all aligned groups of as many bytes.
    fn is_mentioned(&self, terms: &mut Terms, number: u64) -> Term {
        let pointers = self.layout.program.pointers;
        let mut cases = Vec::new();
        let object_of = |terms: &mut Terms, value: Term| {
            let by = terms.constant(pointers.offset_bits.into(), pointers.width);
            let object = terms.lshr(value, by);
            terms.equals(object, number)
        };
        for (cell, &width) in self.layout.widths.iter().enumerate() {
            if width == pointers.width && self.layout.counts_alone(cell) {
                cases.push(object_of(terms, self.state[cell]));
            }
        }
        let group = u64::from(pointers.width / 8);
        for object in &self.layout.objects {
            for index in 0..object.bytes() / group {
                // What lies behind the end of an object is 0 and mentions nothing.
                let value = self.bytes_at(terms, object, index * group, pointers.width);
                let mut is = object_of(terms, value);
                if object.size.is_some() && is != Terms::FALSE {
                    let base = pointers.address(object.number);
                    let address = terms.constant(base + index * group, pointers.width);
                    let whole = self.is_range(terms, address, object, index * group, group);
                    is = terms.and(is, whole);
                }
                cases.push(is);
            }
        }
        terms.any(cases)
    }
}

impl Performer<'_, '_> {
    pub(crate) fn store_bytes(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        address: &Expr,
        value: &Expr,
    ) {
        let before = self.state.clone();
        let view = View {
            layout: self.layout,
            state: &before,
            slot,
            template,
            timeout: Terms::FALSE,
        };
        let candidates = view.candidates(address);
        let address = view.eval(terms, address);
        let value = view.eval(terms, value);
        let count = u64::from(terms.width(value) / 8);
        for object in candidates {
            let object = &self.layout.objects[object];
            let cell_bytes = u64::from(object.cell_width / 8);
            for offset in offsets(terms, address, object, count) {
                let here = view.is_range(terms, address, object, offset, count);
                if here == Terms::FALSE {
                    continue;
                }
                let first = offset / cell_bytes;
                let last = (offset + count - 1) / cell_bytes;
                for number in first..=last {
                    let cell = object.first + number as usize;
                    let new = blend(
                        terms,
                        before[cell],
                        number * cell_bytes * 8,
                        value,
                        offset * 8,
                    );
                    self.state[cell] = terms.ite(here, new, self.state[cell]);
                }
            }
        }
    }

    /// Makes an object and gives its address; 0 if there can be none.
    pub(crate) fn allocate(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        (site, reuse): (SiteId, u32),
        size: &Expr,
    ) -> Term {
        if let Some(made) = &mut self.made {
            let object = made.pop().flatten();
            return self.make(terms, slot, template, object, size);
        }
        let before = self.state.clone();
        let view = View {
            layout: self.layout,
            state: &before,
            slot,
            template,
            timeout: Terms::FALSE,
        };
        let pointers = self.layout.program.pointers;
        let size = view.eval(terms, size);
        let most = terms.constant(pointers.max_object_size(), pointers.width);
        let too_large = terms.ult(most, size);
        let possible = terms.not(too_large);
        let mut address = terms.constant(0, pointers.width);
        let mut found = Terms::FALSE;
        let mut too_long = Terms::FALSE;
        let again = self.reused(terms, &view, reuse);
        let is_fresh = terms.not(again.found);
        for object in &self.layout.objects {
            let (Some(site_cell), Some(size_cell)) = (object.site, object.size) else {
                continue;
            };
            let lives = view.lives(terms, object);
            let mentioned = view.is_mentioned(terms, object.number);
            let taken = terms.or(lives, mentioned);
            let free = terms.not(taken);
            let none_before = terms.not(found);
            let lowest = terms.all([free, none_before, is_fresh]);
            found = terms.or(found, free);
            let here = match again.at.iter().find(|(number, _)| *number == object.number) {
                Some((_, is_it)) => terms.or(lowest, *is_it),
                None => lowest,
            };
            let here = terms.and(here, possible);
            let this = terms.constant(pointers.address(object.number), pointers.width);
            address = terms.ite(here, this, address);
            let width = self.layout.widths[site_cell];
            let made = terms.constant(u64::from(site.0) + 1, width);
            self.state[site_cell] = terms.ite(here, made, self.state[site_cell]);
            let kept = terms.resize(size, self.layout.widths[size_cell], false);
            self.state[size_cell] = terms.ite(here, kept, self.state[size_cell]);
            let room = terms.constant(object.bytes(), pointers.width);
            let longer = terms.ult(room, size);
            let longer = terms.and(here, longer);
            too_long = terms.or(too_long, longer);
        }
        let none = terms.not(found);
        let none = terms.all([none, is_fresh]);
        let none = terms.or(none, again.beyond);
        let none = terms.and(none, possible);
        let leaves = terms.or(none, too_long);
        self.beyond = terms.or(self.beyond, leaves);
        address
    }

    /// Gives the address of an object that this step alone makes. It has lived all the time: only
    /// its size may have to be noted.
    fn make(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        object: Option<usize>,
        size: &Expr,
    ) -> Term {
        let pointers = self.layout.program.pointers;
        let size = self.view(slot, template).eval(terms, size);
        let none = terms.constant(0, pointers.width);
        let Some(object) = object.map(|object| &self.layout.objects[object]) else {
            self.beyond = Terms::TRUE;
            return none;
        };
        let most = terms.constant(pointers.max_object_size(), pointers.width);
        let too_large = terms.ult(most, size);
        if let Some(cell) = object.size {
            let kept = terms.resize(size, self.layout.widths[cell], false);
            self.state[cell] = kept;
            let room = terms.constant(object.bytes(), pointers.width);
            let longer = terms.ult(room, size);
            let possible = terms.not(too_large);
            let leaves = terms.and(longer, possible);
            self.beyond = terms.or(self.beyond, leaves);
        }
        let address = terms.constant(pointers.address(object.number), pointers.width);
        terms.ite(too_large, none, address)
    }

    /// Which freed number comes back to an allocation, see [`mover_ir::program::Effect::Allocate`].
    fn reused(&self, terms: &mut Terms, view: &View, reuse: u32) -> Reused {
        let mut reused = Reused {
            found: Terms::FALSE,
            at: Vec::new(),
            beyond: Terms::FALSE,
        };
        if reuse == 0 {
            return reused;
        }
        let objects = &self.layout.objects;
        let globals = objects
            .iter()
            .filter(|object| object.site.is_none())
            .count() as u64;
        // Entry k tells whether so many freed numbers that are mentioned have been passed.
        let mut passed = vec![Terms::FALSE; reuse as usize];
        passed[0] = Terms::TRUE;
        for number in globals + 1..=globals + REUSED_NUMBERS {
            let object = objects.iter().find(|object| object.number == number);
            let mentioned = view.is_mentioned(terms, number);
            let left = match object {
                Some(object) => {
                    let lives = view.lives(terms, object);
                    let dead = terms.not(lives);
                    terms.and(dead, mentioned)
                }
                None => mentioned,
            };
            let last = passed[reuse as usize - 1];
            let none_before = terms.not(reused.found);
            let is_it = terms.all([left, last, none_before]);
            reused.found = terms.or(reused.found, is_it);
            match object {
                Some(_) => reused.at.push((number, is_it)),
                None => reused.beyond = terms.or(reused.beyond, is_it),
            }
            for count in (1..reuse as usize).rev() {
                passed[count] = terms.ite(left, passed[count - 1], passed[count]);
            }
            if let Some(none) = passed.first_mut().filter(|_| reuse > 1) {
                let kept = terms.not(left);
                *none = terms.and(*none, kept);
            }
        }
        reused
    }

    /// Removes the dynamic object that an address points into.
    pub(crate) fn free(&mut self, terms: &mut Terms, slot: usize, template: usize, address: &Expr) {
        let before = self.state.clone();
        let view = View {
            layout: self.layout,
            state: &before,
            slot,
            template,
            timeout: Terms::FALSE,
        };
        let candidates = view.candidates(address);
        let address = view.eval(terms, address);
        for object in candidates {
            let object = &self.layout.objects[object];
            let Some(site) = object.site else { continue };
            let here = view.is_in(terms, address, object);
            // What is left in an object that nobody makes again does not matter.
            let is_last = matches!(object.home, ObjectHome::Made(_));
            let contents = object.first..object.first + object.cells;
            let left = contents.chain(object.size).filter(|_| !is_last);
            for cell in left.chain([site]) {
                let none = terms.constant(0, self.layout.widths[cell]);
                self.state[cell] = terms.ite(here, none, self.state[cell]);
            }
        }
    }
}

/// Where an allocation that reuses addresses puts its object.
struct Reused {
    /// Whether there is such a number.
    found: Term,
    /// By number: whether it is that one.
    at: Vec<(u64, Term)>,
    /// Whether it is a number that is not encoded.
    beyond: Term,
}

/// The cell of a byte and by how many bits it is shifted there.
fn place_of(offset: u64, cell_bytes: u64) -> (usize, u64) {
    ((offset / cell_bytes) as usize, offset % cell_bytes * 8)
}

/// So many bits of a term from a place.
fn part(terms: &mut Terms, term: Term, from: u64, width: u8) -> Term {
    let by = terms.constant(from, terms.width(term));
    let moved = terms.lshr(term, by);
    terms.resize(moved, width, false)
}

/// A cell that begins at a bit of memory, with a value written over it that begins at another.
fn blend(terms: &mut Terms, old: Term, old_at: u64, value: Term, value_at: u64) -> Term {
    let (width, value_width) = (terms.width(old), terms.width(value));
    if old_at == value_at && width == value_width {
        return value;
    }
    let mut new = terms.constant(0, width);
    for byte in 0..u64::from(width / 8) {
        let at = old_at + byte * 8;
        let inside = at >= value_at && at < value_at + u64::from(value_width);
        let bits = if inside {
            part(terms, value, at - value_at, 8)
        } else {
            part(terms, old, byte * 8, 8)
        };
        let wide = terms.resize(bits, width, false);
        let by = terms.constant(byte * 8, width);
        let moved = terms.shl(wide, by);
        new = terms.or(new, moved);
    }
    new
}

/// The offsets at which an access of this many bytes can lie within an object.
fn offsets(terms: &Terms, address: Term, object: &ObjectLayout, count: u64) -> Vec<u64> {
    let Some(last) = object.bytes().checked_sub(count) else {
        return Vec::new();
    };
    let step = 1u64 << aligned_bits(terms, address, 8).min(6);
    (0..=last).step_by(step.min(last + 1) as usize).collect()
}

/// How many of the lowest bits are certainly 0; looks only so deep.
fn aligned_bits(terms: &Terms, term: Term, depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    let below = |term| aligned_bits(terms, term, depth - 1);
    match terms.node(term) {
        Node::Const(value) => value.trailing_zeros(),
        Node::Add(a, b) | Node::Sub(a, b) => below(a).min(below(b)),
        Node::Mul(a, b) => (below(a) + below(b)).min(63),
        Node::Shl(a, by) => match terms.as_const(by) {
            Some(by) => (below(a) + by.min(63) as u32).min(63),
            None => 0,
        },
        Node::And(a, b) => below(a).max(below(b)),
        Node::Ite(_, a, b) => below(a).min(below(b)),
        Node::Low(a) | Node::ZeroExtend(a) | Node::SignExtend(a) => below(a),
        _ => 0,
    }
}
