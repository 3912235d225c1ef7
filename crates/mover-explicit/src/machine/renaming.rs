//! States that differ only in the numbers of their dynamic objects.
//!
//! Where numbers are opaque (`mover_reduce::facts::opaque_numbers`), an allocation commutes with
//! the steps of other threads up to a renaming of objects. The trial of movers compares states in
//! this way: it looks for a one-to-one map between the live objects of two states under which they
//! are equal. It goes from the variables to the objects that they point to, and from there on. A
//! cell does not say whether it holds an address; two equal values count as equal numbers, and
//! where values differ they must be addresses of objects that correspond to each other. Objects that
//! are left over correspond to those with the same number.

use std::collections::BTreeMap;

use super::Machine;
use crate::layout::Row;
use crate::memory::Home;

/// Two states and the objects that correspond to each other so far.
struct Comparison<'m> {
    machine: &'m Machine,
    a: &'m [u64],
    b: &'m [u64],
    forth: BTreeMap<u64, u64>,
    back: BTreeMap<u64, u64>,
    /// Pairs of objects whose contents are still to be compared.
    work: Vec<(u64, u64)>,
}

impl Comparison<'_> {
    /// Makes two objects correspond, if neither does to another one.
    fn matches(&mut self, a: u64, b: u64) -> bool {
        let is_known = self.forth.contains_key(&a) || self.back.contains_key(&b);
        if !is_known {
            self.forth.insert(a, b);
            self.back.insert(b, a);
            self.work.push((a, b));
        }
        self.forth.get(&a) == Some(&b)
    }

    /// Two pointer-sized values.
    fn values(&mut self, a: u64, b: u64) -> bool {
        let pointers = self.machine.memory.pointers;
        let is_dynamic = |number: u64| {
            number > self.machine.memory.globals.len() as u64
                && number <= pointers.last_dynamic_object()
        };
        let (in_a, in_b) = (pointers.object(a), pointers.object(b));
        a == b
            || (is_dynamic(in_a)
                && is_dynamic(in_b)
                && pointers.offset(a) == pointers.offset(b)
                && self.matches(in_a, in_b))
    }

    fn rows(&mut self, rows: &[Row], base: usize) -> bool {
        let width = self.machine.pointer_width;
        rows.iter().all(|row| {
            let mut cells = (0..u64::from(row.len)).filter_map(|index| row.cell(index));
            cells.all(|cell| {
                let (a, b) = (cell.get(self.a, base), cell.get(self.b, base));
                a == b || (row.width() == width && self.values(a, b))
            })
        })
    }

    /// The contents of two objects, or that there are none.
    fn objects(&mut self, a: u64, b: u64) -> bool {
        let Machine { memory, layout, .. } = self.machine;
        let (at_a, at_b) = (memory.pointers.address(a), memory.pointers.address(b));
        let (in_a, in_b) = (
            memory.home(layout, self.a, at_a),
            memory.home(layout, self.b, at_b),
        );
        let size = match (in_a, in_b) {
            (None, None) => return true,
            (Some(home @ Home::Global(_)), Some(Home::Global(_))) => home.size(),
            (Some(Home::Dynamic { object: a, .. }), Some(Home::Dynamic { object: b, .. }))
                if a.site() == b.site() && a.size() == b.size() =>
            {
                a.size()
            }
            _ => return false,
        };
        let bytes = u64::from(memory.pointers.width / 8);
        let whole = size / bytes;
        (0..whole).all(|group| {
            let offset = group * bytes;
            let a = memory.load(layout, self.a, at_a + offset, bytes);
            let b = memory.load(layout, self.b, at_b + offset, bytes);
            self.values(a, b)
        }) && (whole * bytes..size).all(|byte| {
            let a = memory.load(layout, self.a, at_a + byte, 1);
            a == memory.load(layout, self.b, at_b + byte, 1)
        })
    }

    fn all_objects(&mut self) -> bool {
        while let Some((a, b)) = self.work.pop() {
            if !self.objects(a, b) {
                return false;
            }
        }
        true
    }
}

impl Machine {
    /// Whether two states are equal but for the numbers of dynamic objects.
    pub fn is_renamed(&self, a: &[u64], b: &[u64]) -> bool {
        let lanes = a.len().max(b.len());
        let padded = |lanes_of: &[u64]| {
            let mut all = lanes_of.to_vec();
            all.resize(lanes, 0);
            all
        };
        let (a, b) = (padded(a), padded(b));
        let mut comparison = Comparison {
            machine: self,
            a: &a,
            b: &b,
            forth: BTreeMap::new(),
            back: BTreeMap::new(),
            work: Vec::new(),
        };
        let is_memory = |row: &Row| self.memory.globals.contains(row);
        let named = self.layout.globals.iter().filter(|row| !is_memory(row));
        let named: Vec<Row> = named.copied().collect();
        let mut threads = 0..self.layout.slots(lanes);
        let globals = self.memory.globals.len() as u64;
        let room = self.layout.heap_room(lanes);
        comparison.rows(&named, 0)
            && threads.all(|thread| {
                let slot = self.layout.slot(thread);
                let pc = self.layout.pc.get(&a, slot);
                let template = self.layout.template_of(pc);
                pc == self.layout.pc.get(&b, slot)
                    && template.is_none_or(|template| {
                        comparison.rows(&self.layout.templates[template].locals, slot)
                    })
            })
            && comparison.all_objects()
            && (1..=globals).all(|number| comparison.objects(number, number))
            && comparison.all_objects()
            && (globals + 1..=globals + room).all(|number| {
                let address = self.memory.pointers.address(number);
                let is_gone = |lanes| self.memory.home(&self.layout, lanes, address).is_none();
                let is_left = !comparison.forth.contains_key(&number);
                match (is_left, !comparison.back.contains_key(&number)) {
                    (true, true) => comparison.matches(number, number) && comparison.all_objects(),
                    (true, false) => is_gone(&a),
                    (false, true) => is_gone(&b),
                    (false, false) => true,
                }
            })
    }
}
