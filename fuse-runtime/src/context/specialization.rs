//! Specializations: shaders adapted at run time.
//!
//! Output: a shader that differs from the validated one only by the [constants](fuse_artifact::constants) at its head,
//! and by constant sizes in place of the uniform block.

use std::{borrow::Cow, collections::HashSet};

use fuse_artifact::{
    Pass, Slot, UNIFORM_BLOCK, UNIFORM_WORKGROUPS, Uniform,
    constants::{FAST_MATH, ROUNDS, SWITCH, declaration, wide_scales},
};

use crate::context::control_flow::{ControlFlow, UNROLL_FACTORS};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Style {
    /// Allows less exact functions than documented.
    pub(crate) fast_math: bool,
    pub(crate) bounds_checks: bool,
    /// 0 and 1 change nothing.
    pub(crate) unroll: u32,
    /// `None` changes nothing.
    pub(crate) control_flow: Option<ControlFlow>,
}

/// Form of a compiled pass. Equal ones share a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Specialization {
    style: Style,
    /// Words of the uniform block, if constant.
    sizes: Option<Box<[u32]>>,
    /// Quantized parameters whose scales are `f32`.
    wide: Box<[u16]>,
}

impl Specialization {
    /// Scales of quantized parameters `wide` are `f32`. `words` of the uniform block become constants, unless launches
    /// of equal shapes differ in them.
    pub(crate) fn new(pass: &Pass, style: Style, words: Option<&[u32]>, wide: &[u16]) -> Self {
        let fast_math = style.fast_math && pass.wgsl.contains(&declaration(FAST_MATH, false));
        let differ = pass.uniforms.iter().any(|uniform| matches!(uniform, Uniform::Scalar { .. }));
        let sizes = words.filter(|words| !words.is_empty() && !differ).map(Into::into);
        let unroll = if style.unroll > 1 && pass.wgsl.contains(&declaration(ROUNDS, "1u")) { style.unroll } else { 0 };
        let control_flow = style.control_flow.filter(|&flow| pass.wgsl.contains(&branches(flow.other())));
        let wide = quantized(pass).filter(|param| wide.contains(param)).collect();
        Self { style: Style { fast_math, unroll, control_flow, ..style }, sizes, wide }
    }

    pub(crate) const fn bounds_checks(&self) -> bool {
        self.style.bounds_checks
    }

    pub(crate) const fn has_sizes(&self) -> bool {
        self.sizes.is_some()
    }

    /// Bytes of the uniform block, a multiple of 16; 0 for none.
    pub(crate) fn uniform_bytes(&self, pass: &Pass) -> u64 {
        if self.sizes.is_some() { 0 } else { (pass.uniforms.len() as u64 * 4).next_multiple_of(16) }
    }

    pub(crate) fn text<'p>(&self, pass: &'p Pass) -> Cow<'p, str> {
        let mut text = pass.wgsl.text();
        let mut set = |before: String, after: String| text = text.replacen(&before, &after, 1).into();
        let mut allow = |name: &str| set(declaration(name, false), declaration(name, true));
        if self.style.fast_math {
            allow(FAST_MATH);
        }
        self.wide.iter().for_each(|&param| allow(&wide_scales(param)));
        if self.style.unroll > 1 {
            set(declaration(ROUNDS, "1u"), declaration(ROUNDS, format_args!("{}u", self.style.unroll)));
        }
        if let Some(flow) = self.style.control_flow {
            set(branches(flow.other()), branches(flow));
        }
        match &self.sizes {
            Some(words) => with_sizes(&text, pass, words).into(),
            None => text,
        }
    }
}

fn branches(flow: ControlFlow) -> String {
    declaration(SWITCH, flow == ControlFlow::Switch)
}

/// Parameters whose scales a pass reads.
fn quantized(pass: &Pass) -> impl Iterator<Item = u16> {
    pass.bindings.iter().filter_map(|binding| if let Slot::Scales(param) = binding.slot { Some(param) } else { None })
}

/// Replaces the uniform block by a private, never written variable: the driver knows its value, but naga does not fold
/// it, which would refuse overflow.
fn with_sizes(text: &str, pass: &Pass, words: &[u32]) -> String {
    let literals: Vec<String> = words.iter().map(|word| format!("{word}u")).collect();
    let constant = format!("var<private> p: Params = Params({});", literals.join(", "));
    let text = text.replacen(UNIFORM_BLOCK, &constant, 1);
    // naga refuses matrix operations after a return that depends on a private variable: not uniform for it.
    match pass.uniforms.iter().position(|uniform| *uniform == Uniform::Workgroups) {
        Some(word) => text.replace(UNIFORM_WORKGROUPS, &literals[word]),
        None => text,
    }
}

/// All shaders that a driver may get, with `words` as constant sizes, for tests.
pub fn texts(pass: &Pass, words: &[u32]) -> Vec<String> {
    let wide: Vec<u16> = quantized(pass).collect();
    let mut specializations: Vec<Specialization> = vec![Specialization::new(pass, Style::default(), None, &wide)];
    for fast_math in [false, true] {
        for unroll in UNROLL_FACTORS {
            for control_flow in [None, Some(ControlFlow::If), Some(ControlFlow::Switch)] {
                let style = Style { fast_math, bounds_checks: false, unroll, control_flow };
                specializations.extend([None, Some(words)].map(|sizes| Specialization::new(pass, style, sizes, &[])));
            }
        }
    }
    let mut seen = HashSet::new();
    specializations.retain(|specialization| seen.insert(specialization.clone()));
    specializations.iter().map(|specialization| specialization.text(pass).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use fuse_artifact::Grid;

    use super::*;

    fn pass(uniforms: Vec<Uniform>) -> Pass {
        Pass {
            wgsl: format!(
                "struct Params {{\n}}\n\n{UNIFORM_BLOCK}\n{}\nfn f() {{ {UNIFORM_WORKGROUPS} }}\n",
                declaration(FAST_MATH, false)
            )
            .into(),
            bindings: vec![].into(),
            uniforms: uniforms.into(),
            grid: Grid::Elements { per_workgroup: 1 },
            workgroup_size: 1,
            workgroup_bytes: 0,
            pins_loads: false,
        }
    }

    fn specialization(pass: &Pass, fast_math: bool, words: Option<&[u32]>) -> Specialization {
        Specialization::new(pass, Style { fast_math, ..Style::default() }, words, &[])
    }

    #[test]
    fn sizes_take_the_place_of_the_block() {
        let pass = pass(vec![Uniform::Count, Uniform::Workgroups]);
        let special = specialization(&pass, false, Some(&[7, 2]));
        let expected = "struct Params {\n}\n\nvar<private> p: Params = Params(7u, 2u);\n";
        assert_eq!(special.text(&pass), format!("{expected}{}\nfn f() {{ 2u }}\n", declaration(FAST_MATH, false)));
        assert_eq!((special.uniform_bytes(&pass), specialization(&pass, false, None).uniform_bytes(&pass)), (0, 16));
    }

    #[test]
    fn what_differs_between_launches_stays_a_uniform() {
        let without = pass(vec![]);
        assert_eq!(specialization(&without, false, Some(&[])), Specialization::default());
        let scalar = pass(vec![Uniform::Count, Uniform::Scalar { param: 0 }]);
        assert_eq!(specialization(&scalar, false, Some(&[7, 0])), Specialization::default());
    }

    #[test]
    fn only_texts_with_loops_and_choices_have_such_forms() {
        let plain = pass(vec![]);
        let loops = Pass { wgsl: declaration(ROUNDS, "1u").into(), ..plain.clone() };
        let switch = Pass { wgsl: branches(ControlFlow::Switch).into(), ..plain.clone() };
        let unrolled = |factor| Style { unroll: factor, ..Style::default() };
        let flow = |flow| Style { control_flow: Some(flow), ..Style::default() };
        let differs = |pass: &Pass, style| Specialization::new(pass, style, None, &[]) != Specialization::default();
        assert!(differs(&loops, unrolled(2)) && !differs(&loops, unrolled(1)) && !differs(&plain, unrolled(4)));
        assert!(differs(&switch, flow(ControlFlow::If)) && !differs(&switch, flow(ControlFlow::Switch)));
        assert_eq!((texts(&loops, &[]).len(), texts(&switch, &[]).len()), (3, 2));
    }

    #[test]
    fn only_texts_with_fast_functions_have_a_fast_form() {
        let pass = pass(vec![Uniform::Count]);
        assert!(specialization(&pass, true, None).text(&pass).contains(&declaration(FAST_MATH, true)));
        let plain = Pass { wgsl: "fn f() {}".into(), ..pass };
        assert_eq!(specialization(&plain, true, None), Specialization::default());
        assert_eq!(texts(&plain, &[]), ["fn f() {}"]);
    }
}
