//! Explains why a history has no serial order, by a cycle.
//!
//! Looked at are the transactions around the point at which the search got
//! stuck. Known at first: the order in time, and who read from whom where a
//! value has one writer. Then, as long as something follows: if x read from y
//! and z wrote the same variable, z before x gives z before y, and y before z
//! gives x before z. If a transaction comes to be before itself, the edges that
//! led there are the argument.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::history::{History, ValueId, Variable};
use crate::history_search::{Counted, Role};

/// More transactions are not checked.
const WINDOW: usize = 120;

#[derive(Clone, Debug)]
enum Why {
    InTime,
    ReadFrom(Variable, ValueId),
    ReadInitial(Variable),
    /// The source wrote the variable before the value that a third read.
    Overwritten {
        variable: Variable,
        reader: usize,
    },
    /// The source read the value before the target overwrote it.
    ReadBefore(Variable, ValueId),
}

pub fn explain(history: &History, counted: &Counted, deepest: &[usize]) -> Option<String> {
    let window = window(history, counted, deepest);
    let mut order = Order::new(window.len());
    for (i, &x) in window.iter().enumerate() {
        for (j, &y) in window.iter().enumerate() {
            let (a, b) = (&history.transactions[x], &history.transactions[y]);
            if i != j && a.is_finished() && a.last < b.first {
                order.add(i, j, Why::InTime);
            }
        }
    }
    let mut writers: HashMap<Variable, Vec<usize>> = HashMap::new();
    for (i, &x) in window.iter().enumerate() {
        if counted.roles[x] == Some(Role::Writer) {
            for &(variable, _) in &history.transactions[x].writes {
                writers.entry(variable).or_default().push(i);
            }
        }
    }
    // Who read what from whom: none for the initial value.
    let mut reads: Vec<(usize, Variable, ValueId, Option<usize>)> = Vec::new();
    for (i, &x) in window.iter().enumerate() {
        if counted.roles[x] == Some(Role::Either) {
            continue;
        }
        for &(variable, value) in &history.transactions[x].reads {
            let mut sources = counted
                .roles
                .iter()
                .enumerate()
                .filter(|(_, role)| matches!(role, Some(Role::Writer | Role::Either)))
                .map(|(y, _)| y)
                .filter(|&y| history.transactions[y].writes.contains(&(variable, value)));
            let is_initial = history.initial[variable as usize] == value;
            match (sources.next(), sources.next()) {
                (None, _) if is_initial => reads.push((i, variable, value, None)),
                (None, _) => {
                    return Some(format!(
                        "{} read {} = {}, which no transaction that counts wrote.",
                        history.name(x),
                        history.variable_names[variable as usize],
                        history.value_names[value as usize]
                    ));
                }
                (Some(y), None) if !is_initial && y != x => {
                    if let Some(j) = window.iter().position(|&w| w == y) {
                        order.add(j, i, Why::ReadFrom(variable, value));
                        reads.push((i, variable, value, Some(j)));
                    }
                }
                _ => {}
            }
        }
    }
    saturate(&mut order, &reads, &writers);
    let cycle = order.cycle()?;
    let steps: Vec<String> = cycle
        .iter()
        .map(|&(i, j)| {
            let because = because(history, &window, &order.why[&(i, j)], i, j);
            format!(
                "T{} before T{}, because {because}",
                window[i] + 1,
                window[j] + 1
            )
        })
        .collect();
    let actors: Vec<String> = cycle
        .iter()
        .map(|&(i, _)| history.name(window[i]))
        .collect();
    Some(format!(
        "Between {}: {}. So no serial order exists.",
        actors.join(", "),
        steps.join("; ")
    ))
}

fn because(history: &History, window: &[usize], why: &Why, i: usize, j: usize) -> String {
    // Transactions count from 1 in words.
    let (x, y) = (window[i] + 1, window[j] + 1);
    let variable_name = |v: &Variable| &history.variable_names[*v as usize];
    match why {
        Why::InTime => format!("T{x} had ended before T{y} began"),
        Why::ReadFrom(v, value) => format!(
            "T{y} read {} = {}, which T{x} wrote",
            variable_name(v),
            history.value_names[*value as usize]
        ),
        Why::ReadInitial(v) => format!(
            "T{x} read the initial value of {}, which T{y} overwrites",
            variable_name(v)
        ),
        Why::Overwritten { variable, reader } => format!(
            "T{x} wrote {} before T{r} read it, and T{r} read what T{y} wrote",
            variable_name(variable),
            r = window[*reader] + 1
        ),
        Why::ReadBefore(v, value) => format!(
            "T{x} read {} = {}, which T{y} overwrites",
            variable_name(v),
            history.value_names[*value as usize]
        ),
    }
}

/// The transactions around the point where the search got stuck.
fn window(history: &History, counted: &Counted, deepest: &[usize]) -> Vec<usize> {
    let total: usize = counted.rows.iter().map(Vec::len).sum();
    let mut chosen: Vec<usize> = Vec::new();
    if total <= WINDOW {
        chosen.extend(counted.rows.iter().flatten());
    } else {
        let each = (WINDOW / (2 * counted.rows.len().max(1))).max(2);
        for (row, &position) in counted.rows.iter().zip(deepest) {
            let end = (position + each).min(row.len());
            chosen.extend(&row[position.saturating_sub(each)..end]);
        }
        chosen.truncate(2 * WINDOW);
    }
    chosen.sort_by_key(|&x| history.transactions[x].first);
    chosen
}

fn saturate(
    order: &mut Order,
    reads: &[(usize, Variable, ValueId, Option<usize>)],
    writers: &HashMap<Variable, Vec<usize>>,
) {
    let none = Vec::new();
    let mut changed = true;
    while changed && !order.has_cycle() {
        changed = false;
        for &(x, variable, value, from) in reads {
            for &z in writers.get(&variable).unwrap_or(&none) {
                if z == x || Some(z) == from {
                    continue;
                }
                let added = match from {
                    None => order.add(x, z, Why::ReadInitial(variable)),
                    Some(y) if order.before(z, x) => {
                        let reader = x;
                        order.add(z, y, Why::Overwritten { variable, reader })
                    }
                    Some(y) if order.before(y, z) => {
                        order.add(x, z, Why::ReadBefore(variable, value))
                    }
                    Some(_) => false,
                };
                changed |= added;
            }
        }
    }
}

/// A relation that is kept transitive, with reasons for the edges put in.
struct Order {
    reach: Vec<Vec<bool>>,
    why: BTreeMap<(usize, usize), Why>,
}

impl Order {
    fn new(size: usize) -> Self {
        Order {
            reach: vec![vec![false; size]; size],
            why: BTreeMap::new(),
        }
    }

    fn before(&self, i: usize, j: usize) -> bool {
        self.reach[i][j]
    }

    fn add(&mut self, i: usize, j: usize, why: Why) -> bool {
        if self.reach[i][j] {
            return false;
        }
        self.why.insert((i, j), why);
        let after: Vec<usize> = (0..self.reach.len())
            .filter(|&k| k == j || self.reach[j][k])
            .collect();
        for h in 0..self.reach.len() {
            if h == i || self.reach[h][i] {
                for &k in &after {
                    self.reach[h][k] = true;
                }
            }
        }
        true
    }

    fn has_cycle(&self) -> bool {
        (0..self.reach.len()).any(|i| self.reach[i][i])
    }

    /// A shortest cycle of edges with reasons.
    fn cycle(&self) -> Option<Vec<(usize, usize)>> {
        let mut best: Option<Vec<(usize, usize)>> = None;
        for start in (0..self.reach.len()).filter(|&i| self.reach[i][i]) {
            let mut came_from = vec![None; self.reach.len()];
            let mut queue = VecDeque::from([start]);
            while let Some(i) = queue.pop_front() {
                for &(_, j) in self.why.keys().filter(|(from, _)| *from == i) {
                    if came_from[j].is_none() {
                        came_from[j] = Some(i);
                        queue.push_back(j);
                    }
                }
            }
            let mut cycle = Vec::new();
            let mut at = start;
            while let Some(previous) = came_from[at] {
                cycle.push((previous, at));
                at = previous;
                if at == start {
                    break;
                }
            }
            cycle.reverse();
            let closed = at == start && !cycle.is_empty();
            if closed && best.as_ref().is_none_or(|best| cycle.len() < best.len()) {
                best = Some(cycle);
            }
        }
        best
    }
}
