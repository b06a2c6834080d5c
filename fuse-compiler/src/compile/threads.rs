//! Parallel map over all cores.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Maps in parallel, keeping order. A thread pays from `per_thread` items on; browsers use one.
pub(super) fn map<T: Sync, R: Send>(items: &[T], per_thread: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let most = items.len() / per_thread;
    // The query takes as long as a small kernel.
    let threads = if most < 2 { 1 } else { thread::available_parallelism().map_or(1, usize::from).min(most) };
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    // One by one, since costs differ much.
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = vec![];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut done = share();
        for thread in others {
            done.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_the_order_of_items() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled: Vec<u64> = items.iter().map(|item| 2 * item).collect();
        assert_eq!(map(&items, 1, |item| 2 * item), doubled);
        assert_eq!(map(&items, 1000, |item| 2 * item), doubled);
        assert!(map(&[] as &[u64], 1, |item| 2 * item).is_empty());
    }
}
