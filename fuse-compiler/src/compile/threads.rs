//! Work on all cores: rustc expands on one thread, and programs that compile while they run wait for it.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The results of `work` for all items, in their order. A thread is worth the time it takes to start for `per_thread` items.
/// In browsers there is one.
pub(super) fn map<T: Sync, R: Send>(items: &[T], per_thread: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let most = items.len() / per_thread;
    // Asking the system takes as long as a small kernel does.
    let threads = if most < 2 { 1 } else { thread::available_parallelism().map_or(1, usize::from).min(most) };
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    // Each takes the next item, since items differ much in what they take.
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
