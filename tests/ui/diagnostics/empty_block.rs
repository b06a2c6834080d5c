// Nothing to compile.
use fuse_gpu::fuse;

fuse! {}

fn main() {}
