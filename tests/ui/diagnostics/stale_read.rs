// Updates take effect at the end of the function: `n` is still the old count in the second statement.
use fuse_gpu::fuse;

fuse! {
    pub fn running_mean(x: f32[N], n: &mut f32[], mean: &mut f32[N]) {
        *n += 1.0;
        *mean += (x - mean) / n;
    }
}

fn main() {}
