//! Tests of compiler output without an adapter (`tests/all`), and the hash by which goldens name shaders.

/// Shader hash in goldens and in file names of the example `shaders`: FNV-1a of 64 bits, since `DefaultHasher` may
/// change between versions of Rust.
pub fn shader_hash(shader: &str) -> String {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", shader.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
