//! Costs besides the launch: allocations, GPU memory and pipelines of recording and evaluating.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use fuse_gpu::auto::{Error, FusionConfig, LazyTensor, configure, grad, stats};

use super::{device, lazy};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: forwards all requests to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Thread-local storage is gone at the end of a thread.
        _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        _ = BYTES.try_with(|count| count.set(count.get() + layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> usize {
    ALLOCATIONS.with(Cell::get)
}

/// Unlike time, independent of the machine's load.
fn allocated(work: impl FnOnce() -> Result<(), Error>) -> Result<usize, Error> {
    let before = BYTES.with(Cell::get);
    work()?;
    Ok(BYTES.with(Cell::get) - before)
}

#[test]
fn an_operation_is_one_allocation() -> Result<(), Error> {
    let device = device();
    let ((x, _), (b, _)) = (lazy(&device, [8, 8], 1), lazy(&device, [8], 2));
    let mut kept: Vec<LazyTensor> = Vec::with_capacity(300);
    for _ in 0..300 {
        kept.push(x.add(&b)?);
    }
    kept.clear();
    let before = allocations();
    let y = x.add(&b)?.mul(2.0)?.relu()?.matmul(&x)?.transpose()?;
    let y = y.unsqueeze(0)?.gt(0.0)?.select(&y, 0.0)?.softmax(1)?;
    assert_eq!(allocations() - before, 9, "one for each operation");
    let before = allocations();
    let z = y.sum([0, 1])?.reshape([2, 4])?;
    assert!(allocations() - before <= 2 + 4, "{}", allocations() - before);
    drop((y, z));
    Ok(())
}

#[test]
fn recording_costs_the_same_however_much_waits() -> Result<(), Error> {
    let device = device();
    configure(&device, FusionConfig { max_pending: 100_000, ..FusionConfig::default() });
    let x = lazy(&device, [8], 1).0;
    // Every value has two readers, so expanding operands as a tree doubles at each.
    let record = |count: usize| -> Result<usize, Error> {
        allocated(|| {
            let mut h = x.clone();
            for _ in 0..count {
                h = &h + &h.tanh()?;
            }
            assert!(!h.is_evaluated()?);
            Ok(())
        })
    };
    let (few, many) = (record(500)?, record(2000)?);
    // Four times the values, and tables that double; quadratic work would need sixteen times.
    assert!(many <= 8 * few, "{many} and {few} bytes");
    configure(&device, FusionConfig { max_pending: 300, ..FusionConfig::default() });
    let before = stats(&device).evaluations;
    let mut h = x.clone();
    for _ in 0..400 {
        h = &h + &(0.01 * h.tanh()?);
    }
    let evaluations = stats(&device).evaluations - before;
    assert!((3..=5).contains(&evaluations), "{evaluations} of 1,200 operations");
    Ok(())
}

#[test]
fn keeping_a_result_costs_the_same_however_many_are_kept() -> Result<(), Error> {
    let device = device();
    let x = lazy(&device, [8], 1).0;
    let mut kept = vec![x.clone()];
    let mut steps = |count: usize| -> Result<usize, Error> {
        kept.reserve(count);
        allocated(|| {
            for _ in 0..count {
                let next = kept.last().expect("one").add(1.0)?;
                next.eval()?;
                kept.push(next);
            }
            Ok(())
        })
    };
    steps(300)?;
    let few = steps(300)?;
    steps(600)?;
    let many = steps(300)?;
    assert!(2 * many <= 3 * few, "{many} and {few} bytes");
    // The first values' graph is dropped; its leaves are remembered.
    let last = kept.last().expect("one");
    for wrt in [&x, &kept[1], &kept[500]] {
        let error = grad(&(last * wrt).sum(())?, &[wrt]).expect_err("forgotten");
        assert!(matches!(error, Error::Evaluated { .. }), "{error}");
    }
    let other = x.exp()?;
    other.eval()?;
    assert!(grad(&(&other * last).sum(())?, &[&other]).is_ok());
    Ok(())
}

#[test]
fn a_steady_state_makes_no_memory_and_no_pipelines() -> Result<(), Error> {
    let device = device();
    let ((x, _), (w, _)) = (lazy(&device, [16, 24], 3), lazy(&device, [24, 8], 4));
    let run = |number: f32| -> Result<(), Error> {
        let y = (x.matmul(&w)? * number).tanh()?;
        y.eval()?;
        drop(y);
        Ok(())
    };
    for number in 0..20 {
        run(number as f32)?;
        device.synchronize_blocking()?;
    }
    let (created, pipelines, told) = (device.memory_report().created, device.pipelines(), stats(&device));
    for number in 0..200 {
        run(number as f32)?;
    }
    assert_eq!((device.memory_report().created, device.pipelines()), (created, pipelines));
    let after = stats(&device);
    assert_eq!((after.misses, after.hits - told.hits), (told.misses, 200));
    Ok(())
}
