//! Tests with many independent parts, done by all cores.
//!
//! Cargo runs one test binary after the other, so a binary with one long test would leave all cores
//! but one idle.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does the work for every item, as many at a time as there are cores; the results are in the order
/// of the items. If an item panics, no other is begun, and the panic goes on here.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let stop = StopOnPanic(&next);
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                std::mem::forget(stop);
                return results;
            };
            results.push((number, work(item)));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let ended = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect()
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Takes all items that are left when it is dropped, which happens in a panic only.
struct StopOnPanic<'a>(&'a AtomicUsize);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        // Far from both ends, so that the others can go on counting.
        self.0.store(usize::MAX / 2, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        let doubled = on_all_cores(&items, |item| 2 * item);
        assert!(doubled.iter().zip(&items).all(|(two, one)| *two == 2 * one));
        assert_eq!(doubled.len(), items.len());
        assert!(on_all_cores(&[], |item: &u32| *item).is_empty());
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_goes_on() {
        on_all_cores(&[1, 2, 3], |item| assert_ne!(*item, 3, "item 3"));
    }
}
