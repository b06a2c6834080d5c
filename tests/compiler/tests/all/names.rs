//! Names in shaders: none is a word of WGSL, a predeclared type or alias, or a builtin function that the shader calls.
//!
//! A name represents all with other numbers: `i7` is refused because `i32` is a type.

use std::collections::BTreeSet;

/// Keywords, reserved words, and types that are predeclared or known to naga.
const WORDS: &str = "
    alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop
    override requires return struct switch true var while
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await
    co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit
    crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external
    fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof
    interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline
    nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch
    pixelfragment precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast
    require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target
    template this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using
    varying virtual volatile wgsl where with writeonly yield
    array atomic bool f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 ptr sampler sampler_comparison
    mat2x2 mat2x2f mat2x2h vec2 vec2f vec2h vec2i vec2u coop_mat8x8
    texture_1d texture_storage_1d texture_depth_2d texture_depth_2d_array texture_depth_cube texture_external";

const FUNCTIONS: &str = "
    abs acos acosh all any arrayLength asin asinh atan atan2 atanh atomicAdd atomicAnd atomicCompareExchangeWeak atomicExchange
    atomicLoad atomicMax atomicMin atomicOr atomicStore atomicSub atomicXor bitcast ceil clamp cos cosh countLeadingZeros
    countOneBits countTrailingZeros cross degrees determinant distance dot dot4I8Packed dot4U8Packed exp exp2 extractBits
    faceForward firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix
    modf normalize pack2x16float pack2x16snorm pack2x16unorm pack4x8snorm pack4x8unorm pack4xI8 pack4xI8Clamp pack4xU8
    pack4xU8Clamp pow quantizeToF16 radians reflect refract reverseBits round saturate select sign sin sinh smoothstep sqrt step
    storageBarrier subgroupAdd subgroupBroadcastFirst subgroupMax subgroupMin subgroupShuffle subgroupShuffleXor tan tanh
    transpose trunc unpack2x16float unpack2x16snorm unpack2x16unorm unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8
    workgroupBarrier workgroupUniformLoad";

fn pattern(name: &str) -> String {
    let mut pattern = String::new();
    for char in name.chars() {
        match char {
            '0'..='9' if pattern.ends_with('#') => {}
            '0'..='9' => pattern.push('#'),
            _ => pattern.push(char),
        }
    }
    pattern
}

fn identifiers(text: &str) -> impl Iterator<Item = (&str, &str, Option<char>)> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut before = "";
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        if rest[..start].contains(['=', ';', '{', '(', ',']) {
            before = "";
        }
        let found = &rest[start..];
        let name = &found[..found.find(|char| !is_part(char)).unwrap_or(found.len())];
        rest = &found[name.len()..];
        let item = (name, before, rest.trim_start().chars().next());
        if !(before == "var" && matches!(name, "private" | "workgroup" | "storage" | "uniform" | "read" | "read_write"))
        {
            before = name;
        }
        Some(item)
    })
}

/// Declared names, and called ones.
fn names(text: &str) -> [BTreeSet<&str>; 2] {
    let (mut declared, mut called) = (BTreeSet::new(), BTreeSet::new());
    let code = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    for (name, before, after) in code.flat_map(identifiers) {
        let starts = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
        if !starts || matches!(name, "private" | "workgroup" | "storage" | "uniform") && before == "var" {
            continue;
        }
        let is_declared = matches!(before, "let" | "var" | "const" | "override" | "fn" | "struct" | "alias");
        if is_declared || after == Some(':') && name != "default" {
            declared.insert(name);
        } else if after == Some('(') {
            called.insert(name);
        }
    }
    [declared, called]
}

pub(super) fn refused(text: &str) -> Vec<String> {
    let [declared, called] = names(text);
    let reserved: BTreeSet<String> = WORDS.split_whitespace().map(pattern).collect();
    let functions: BTreeSet<String> = FUNCTIONS.split_whitespace().map(pattern).collect();
    let numbered = |name: &str| name.contains(|char: char| char.is_ascii_digit());
    let is_refused = |name: &&str| {
        let pattern = pattern(name);
        let function = functions.contains(&pattern) && (numbered(name) || called.contains(name));
        reserved.contains(&pattern) || function
    };
    declared.into_iter().filter(is_refused).map(str::to_owned).collect()
}

#[test]
fn words_types_and_called_functions_are_refused() {
    let text = "struct Params { from: u32, count: u32 }
        var<workgroup> shared_0: array<f32, 4>;
        fn load(i7: u32) -> f32 { return f32(i7); }
        fn main(@builtin(local_invocation_id) local: vec3<u32>) {
            let exp10 = 1.0; let max = 2.0; // let f32 = 1.0;
            var length = min(max, exp10);
            for (var vec5f = 0u; vec5f < 4u; vec5f++) { let min = length; }
            switch 1u { case 1u: { let x_8 = 1u; } default: {} }
        }";
    assert_eq!(refused(text), ["exp10", "from", "i7", "min", "vec5f"]);
}
