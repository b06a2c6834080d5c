//! Variants and specializations by name, for pages that compare them. Planning a named variant takes longer than most
//! kernels, so launches are captured once and replayed.

use std::{cell::RefCell, rc::Rc};

use fuse_gpu::{
    __private::RawTensor, ControlFlow, Error, Kernels, Sequence, Tensor1, Tensor2, Tensor3, Tuning, f16, fuse,
};
use js_sys::Float32Array;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::{Bench, Case, Launch};

fuse! {
    /// As `linear`, with 16-bit floats, whose products subgroup matrices compute where there are any.
    pub fn linear16(x: f16[M, K], w: f16[K, N], b: f16[N], r: f16[M, N]) -> f16[M, N] {
        relu(matmul(x, w) + b + r)
    }

    /// As `attention`, with 16-bit floats.
    pub fn attention16(q: f16[H, S, 64], k: f16[H, L, 64], v: f16[H, L, 64]) -> f16[H, S, 64] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }
}

pub(crate) fn prepare(bench: &Bench, kind: &str, sizes: &[usize], operands: &[Float32Array]) -> Prepared {
    Ok(Some(match (kind, sizes, operands) {
        ("linear16", &[m, n, k], [x, w, b, r]) => {
            let (x, w): (Tensor2<f16>, Tensor2<f16>) = (bench.upload(x, [m, k])?, bench.upload(w, [k, n])?);
            let (b, r): (Tensor1<f16>, Tensor2<f16>) = (bench.upload(b, [n])?, bench.upload(r, [m, n])?);
            let launch = move || Ok(linear16(&x, &w, &b, &r)?.raw().clone());
            (Box::new(launch), linear16::KERNELS, vec![vec![m, k], vec![k, n], vec![n], vec![m, n]])
        }
        ("attention16", &[h, s, l], [q, k, v]) => {
            let (q, k): (Tensor3<f16>, Tensor3<f16>) = (bench.upload(q, [h, s, 64])?, bench.upload(k, [h, l, 64])?);
            let v = bench.upload(v, [h, l, 64])?;
            let launch = move || Ok(attention16(&q, &k, &v)?.raw().clone());
            (Box::new(launch), attention16::KERNELS, vec![vec![h, s, 64], vec![h, l, 64], vec![h, l, 64]])
        }
        _ => return Ok(None),
    }))
}

type Prepared = Result<Option<(Launch, &'static Kernels, Vec<Vec<usize>>)>, JsError>;

#[derive(Default)]
pub(crate) struct Choice {
    /// Name on the page.
    form: String,
    /// `None` for the runtime's choice.
    tuning: Option<Tuning>,
}

pub(crate) type Shared = Rc<RefCell<Choice>>;

pub(crate) type Captured = RefCell<Option<(String, Sequence)>>;

#[wasm_bindgen]
impl Bench {
    /// Sets the form of later launches: empty for the runtime's choice, or some of `variant NAME`, `unroll 1|2|4`,
    /// `if`, `switch`, `bounds checks`, `fast math`, `workgroup N` and `tile N`, separated by `; `.
    pub fn choose(&self, form: &str) -> Result<(), JsError> {
        let (mut tuning, mut variant) = (None, None);
        for part in form.split("; ").filter(|part| !part.is_empty()) {
            let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
            let number = || rest.parse().map_err(|_| JsError::new(&format!("expected a number in `{part}`")));
            if word == "variant" {
                variant = Some(rest);
                continue;
            }
            let before: Tuning = tuning.take().unwrap_or_default();
            tuning = Some(match (word, rest) {
                ("unroll", _) => before.unroll(number()?),
                ("if", "") => before.control_flow(ControlFlow::If),
                ("switch", "") => before.control_flow(ControlFlow::Switch),
                ("bounds", "checks") => before.bounds_checks(true),
                ("fast", "math") => before.fast_math(true),
                ("workgroup", _) => before.workgroup_size(number()?),
                ("tile", _) => before.tile_size(number()?),
                _ => return Err(JsError::new(&format!("no form `{part}`"))),
            });
        }
        self.device.force_variant(variant);
        *self.choice.borrow_mut() = Choice { form: form.to_owned(), tuning };
        Ok(())
    }
}

#[wasm_bindgen]
impl Case {
    /// Variant of each kernel, and why.
    pub fn decided(&self) -> Result<Vec<String>, JsError> {
        self.explained(|kernel| {
            let decision = kernel.decision.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} ({decision})", kernel.chosen.as_deref().unwrap_or("nothing"))
        })
    }

    /// Tuning class and sizes of a launch of one kernel.
    pub fn key(&self) -> Result<Vec<String>, JsError> {
        let keys = self.explained(|kernel| {
            let sizes = kernel.sizes.iter().map(ToString::to_string);
            [kernel.class.clone()].into_iter().chain(sizes).collect::<Vec<_>>()
        })?;
        Ok(if keys.len() == 1 { keys.concat() } else { vec![] })
    }

    /// Legal variants of a launch of one kernel.
    pub fn variants(&self) -> Result<Vec<String>, JsError> {
        let legal = self.explained(|kernel| {
            let able = kernel.variants.iter().filter(|(_, estimate)| estimate.is_ok());
            able.map(|(name, _)| name.clone()).collect::<Vec<_>>()
        })?;
        Ok(if legal.len() == 1 { legal.concat() } else { vec![] })
    }

    fn explained<T>(&self, what: impl Fn(&fuse_gpu::KernelExplanation) -> T) -> Result<Vec<T>, JsError> {
        let shapes: Vec<&[usize]> = self.subject.shapes.iter().map(Vec::as_slice).collect();
        let explain = || self.device.explain(self.subject.function, &shapes);
        let explanation = match &self.choice.borrow().tuning {
            Some(tuning) => self.device.with_tuning(tuning, explain),
            None => explain(),
        };
        Ok(explanation?.kernels.iter().map(what).collect())
    }

    pub(crate) fn once(&self) -> Result<RawTensor, Error> {
        match &self.choice.borrow().tuning {
            Some(tuning) => self.device.with_tuning(tuning, || (self.launch)()),
            None => (self.launch)(),
        }
    }

    pub(crate) fn replay(&self, launches: usize) -> Result<(), Error> {
        let mut captured = self.captured.borrow_mut();
        let form = self.choice.borrow().form.clone();
        let sequence = match captured.take() {
            Some((of, sequence)) if of == form => sequence,
            _ => self.device.capture(|| self.once())?.0,
        };
        (0..launches).try_for_each(|_| sequence.replay())?;
        *captured = Some((form, sequence));
        Ok(())
    }
}
