// No tensor, so no device.
use fuse_gpu::{fuse};

fn run() {
    let _ = fuse!(1.0 + 2.0);
}

fn main() {}
