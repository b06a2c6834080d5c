//! Shaders that quantize: their bindings and sources, assembled from hand-written parts (`wgsl`).

use fuse_artifact::{DType, Packing};
use fuse_quantize::{ScaleDType, Symmetry};

use super::wgsl;

/// Invocations of a workgroup.
pub(super) const INVOCATIONS: u32 = 64;

/// Neighbours along an axis per invocation: this many values of any width fill whole words, and means depend on it.
pub(super) const NEIGHBOURS: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Statistic {
    /// The largest magnitude.
    Most,
    /// Least and largest, as words that compare like the values.
    Range,
    Magnitudes,
    Sum,
    /// The sum of distances from the mean, for groups with known sums.
    Distances,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shader {
    /// Statistic of each [`NEIGHBOURS`] values of a group. Buffers: values, flag, statistics, and for distances the sums of
    /// groups.
    Values { statistic: Statistic, values: DType },
    /// Statistic of each [`NEIGHBOURS`] partial ones. Buffers: statistics, fewer statistics.
    Partials { statistic: Statistic },
    /// Scales and offsets of groups. Buffers: statistics, flag, scales, and for distances the sums.
    Pairs { packing: Packing, symmetry: Symmetry, scales: ScaleDType },
    /// Words of codes. Buffers: values, scales, words.
    Codes { packing: Packing, scales: ScaleDType, values: DType },
}

impl Statistic {
    /// The statistic for [`Rounding::Nearest`](fuse_quantize::Rounding::Nearest).
    pub(super) const fn of(packing: Packing, symmetry: Symmetry) -> Self {
        match (packing, symmetry) {
            (Packing::Q1, Symmetry::Symmetric) => Self::Magnitudes,
            (Packing::Q1, Symmetry::Asymmetric) => Self::Distances,
            (_, Symmetry::Symmetric) => Self::Most,
            (_, Symmetry::Asymmetric) => Self::Range,
        }
    }

    pub(super) const fn words(self) -> u64 {
        if matches!(self, Self::Range) { 2 } else { 1 }
    }

    /// Statistic that further reduces partial ones.
    pub(super) const fn kind(self) -> Self {
        if matches!(self, Self::Magnitudes | Self::Distances) { Self::Sum } else { self }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Most => "most",
            Self::Range => "range",
            Self::Magnitudes => "magnitudes",
            Self::Sum => "sum",
            Self::Distances => "distances",
        }
    }

    /// WGSL: type, neutral element, combination of `a` and `b`, value for `x`.
    const fn definition(self) -> [&'static str; 4] {
        match self {
            Self::Most => ["u32", "0u", "max(a, b)", "x & ~SIGN"],
            Self::Range => ["vec2<u32>", "vec2(~0u, 0u)", "vec2(min(a.x, b.x), max(a.y, b.y))", "vec2(comparable(x))"],
            Self::Magnitudes => ["u32", "0u", "add(a, b)", "x & ~SIGN"],
            Self::Sum => ["u32", "0u", "add(a, b)", "x"],
            Self::Distances => ["u32", "0u", "add(a, b)", "add(x, middle ^ SIGN) & ~SIGN"],
        }
    }
}

impl Shader {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Values { .. } => "quantize.values",
            Self::Partials { .. } => "quantize.partials",
            Self::Pairs { .. } => "quantize.pairs",
            Self::Codes { .. } => "quantize.codes",
        }
    }

    pub(super) const fn variant(self) -> &'static str {
        match self {
            Self::Values { statistic, .. } | Self::Partials { statistic } => statistic.name(),
            Self::Pairs { packing, .. } | Self::Codes { packing, .. } => packing.name(),
        }
    }

    pub(super) fn writes(self) -> &'static [bool] {
        match self {
            Self::Values { statistic: Statistic::Distances, .. }
            | Self::Pairs { packing: Packing::Q1, symmetry: Symmetry::Asymmetric, .. } => &[false, true, true, false],
            Self::Values { .. } | Self::Pairs { .. } => &[false, true, true],
            Self::Partials { .. } => &[false, true],
            Self::Codes { .. } => &[false, false, true],
        }
    }

    pub(super) fn text(self) -> String {
        let main = match self {
            Self::Values { statistic, values } => {
                let (sums, middle) = match statistic {
                    Statistic::Distances => (wgsl::SUMS, wgsl::MEAN_OF_ROW),
                    _ => ("", wgsl::NO_MEAN),
                };
                let main = wgsl::REDUCTION.replace("{middle}", middle);
                [&partial(statistic), wgsl::VALUE_TERMS, read(values), sums, &main].concat()
            }
            Self::Partials { statistic } => {
                let main = wgsl::REDUCTION.replace("{middle}", wgsl::NO_MEAN);
                [&partial(statistic), wgsl::PARTIAL_TERMS, &main].concat()
            }
            Self::Pairs { packing, symmetry, scales } => {
                [&pairs(packing, symmetry), store(scales), wgsl::PAIRS].concat()
            }
            Self::Codes { packing, scales, values } => {
                let widths = format!("const BITS = {}u;\nconst LARGEST = {}u;\n", packing.bits(), packing.largest());
                [&widths, read(values), load(scales), wgsl::CODES].concat()
            }
        };
        let neighbours = format!("const NEIGHBOURS = {NEIGHBOURS}u;\n");
        let text = [wgsl::PARAMS, &neighbours, wgsl::ARITHMETIC, &main].concat();
        text.replace("{entry}", wgsl::ENTRY).replace("{invocations}", &INVOCATIONS.to_string())
    }
}

fn partial(statistic: Statistic) -> String {
    let [partial, none, join, term] = statistic.definition();
    format!(
        "alias Partial = {partial};
const NONE = {none};

fn join(a: Partial, b: Partial) -> Partial {{
    return {join};
}}

fn statistic(x: u32, middle: u32) -> Partial {{
    return {term};
}}
"
    )
}

const fn read(values: DType) -> &'static str {
    if matches!(values, DType::F16) { wgsl::READ_HALVES } else { wgsl::READ_WORDS }
}

const fn store(scales: ScaleDType) -> &'static str {
    match scales {
        ScaleDType::F16 => wgsl::STORE_HALVES,
        ScaleDType::F32 => wgsl::STORE_WORDS,
    }
}

const fn load(scales: ScaleDType) -> &'static str {
    match scales {
        ScaleDType::F16 => wgsl::LOAD_HALVES,
        ScaleDType::F32 => wgsl::LOAD_WORDS,
    }
}

/// `span` of `fuse-quantize`, line by line.
fn pairs(packing: Packing, symmetry: Symmetry) -> String {
    let largest = packing.largest() as f32;
    let constant = |name: &str, value: f32| format!("const {name} = {:#010x}u; // {value}\n", value.to_bits());
    let (partial, constants, parts) = match Statistic::of(packing, symmetry) {
        Statistic::Most => {
            let part = constant("PART", 1.0 / (packing.largest() / 2) as f32);
            let zero = constant("ZERO", -(packing.largest().div_ceil(2) as f32));
            ("u32", part + &zero, [wgsl::AT_ZERO, wgsl::SYMMETRIC].concat())
        }
        Statistic::Range => ("vec2<u32>", constant("PART", 1.0 / largest), [wgsl::AT_ZERO, wgsl::BETWEEN].concat()),
        Statistic::Distances => ("u32", constant("TWO", 2.0), [wgsl::SUMS, wgsl::AT_MEAN, wgsl::AROUND].concat()),
        Statistic::Magnitudes | Statistic::Sum => ("u32", constant("TWO", 2.0), [wgsl::AT_ZERO, wgsl::AROUND].concat()),
    };
    format!("alias Partial = {partial};\n{}{constants}{parts}", constant("LARGEST", largest))
}

#[cfg(test)]
mod tests {
    use naga::{
        Module, ShaderStage,
        back::{hlsl, msl, spv, wgsl},
        valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
    };

    use super::*;

    fn shaders() -> Vec<Shader> {
        use Statistic::{Distances, Magnitudes, Most, Range, Sum};

        let (dtypes, scales) = ([DType::F32, DType::F16], [ScaleDType::F16, ScaleDType::F32]);
        let mut shaders = vec![];
        for statistic in [Most, Range, Magnitudes, Sum, Distances] {
            shaders.extend(dtypes.map(|values| Shader::Values { statistic, values }));
            shaders.push(Shader::Partials { statistic: statistic.kind() });
        }
        for (packing, scales) in Packing::ALL.into_iter().flat_map(|packing| scales.map(|scales| (packing, scales))) {
            let symmetries = [Symmetry::Symmetric, Symmetry::Asymmetric];
            shaders.extend(symmetries.map(|symmetry| Shader::Pairs { packing, symmetry, scales }));
            shaders.extend(dtypes.map(|values| Shader::Codes { packing, scales, values }));
        }
        shaders
    }

    fn validated(what: Shader, text: &str) -> (Module, ModuleInfo) {
        let module = naga::front::wgsl::parse_str(text)
            .unwrap_or_else(|error| panic!("{what:?}: {}\n{text}", error.emit_to_string(text)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{what:?}: {}\n{text}", error.emit_to_string(text)));
        (module, info)
    }

    #[test]
    fn every_text_goes_through_every_back_end() {
        for shader in shaders() {
            let (module, info) = validated(shader, &shader.text());
            let entry = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
            let spirv = spv::write_vec(&module, &info, &spv::Options::default(), Some(&entry));
            assert!(spirv.is_ok_and(|words| !words.is_empty()), "{shader:?}");

            let options = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
            let metal = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default());
            assert!(metal.is_ok_and(|(text, _)| !text.is_empty()), "{shader:?}");

            let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_2, ..Default::default() };
            let mut direct3d = String::new();
            let written = hlsl::Writer::new(&mut direct3d, &options, &hlsl::PipelineOptions::default())
                .write(&module, &info, None)
                .map(|_| ());
            assert!(written.is_ok() && !direct3d.is_empty(), "{shader:?}: {written:?}");

            let again = wgsl::write_string(&module, &info, wgsl::WriterFlags::empty());
            validated(shader, &again.unwrap_or_else(|error| panic!("{shader:?}: {error}")));
        }
    }

    #[test]
    fn texts_bind_what_the_runtime_binds_and_compute_in_integers() {
        for shader in shaders() {
            let text = shader.text();
            for (i, writes) in shader.writes().iter().enumerate() {
                let access = if *writes { "read_write" } else { "read" };
                assert!(text.contains(&format!("@binding({}) var<storage, {access}>", i + 1)), "{shader:?}\n{text}");
            }
            assert_eq!(text.matches("var<storage").count(), shader.writes().len(), "{shader:?}");
            let code: String = text.lines().filter_map(|line| line.split("//").next()).collect();
            assert!(!["f32", "f16", "0.5", "bitcast"].iter().any(|float| code.contains(float)), "{shader:?}");
        }
    }
}
