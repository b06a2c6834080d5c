//! What recording and evaluating cost besides the launch: allocations, GPU memory and pipelines.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use fuse_gpu::auto::{Error, LazyTensor, stats};

use super::{device, lazy};

/// The system's allocator, which counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all requests go to the system's allocator as they are; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends counts nothing.
        _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
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

#[test]
fn an_operation_is_one_allocation() -> Result<(), Error> {
    let device = device();
    let ((x, _), (b, _)) = (lazy(&device, [8, 8], 1), lazy(&device, [8], 2));
    // Lists of this thread grow to what they need.
    let mut kept: Vec<LazyTensor> = Vec::with_capacity(300);
    for _ in 0..300 {
        kept.push(x.add(&b)?);
    }
    kept.clear();
    let before = allocations();
    let y = x.add(&b)?.mul(2.0)?.relu()?.matmul(&x)?.transpose()?;
    let y = y.unsqueeze(0)?.gt(0.0)?.select(&y, 0.0)?.softmax(1)?;
    assert_eq!(allocations() - before, 9, "one for each operation");
    // Lists of axes and sizes that are given.
    let before = allocations();
    let z = y.sum([0, 1])?.reshape([2, 4])?;
    assert!(allocations() - before <= 2 + 4, "{}", allocations() - before);
    drop((y, z));
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
