// Logic has two signs.
use fuse_gpu::fuse;

fuse! {
    pub fn both(a: bool[N], b: bool[N]) -> bool[N] {
        a & b
    }
}

fn main() {}
