//! Variants and specializations by name, so that a page can measure them against each other.

use std::{cell::RefCell, rc::Rc};

use fuse_gpu::{__private::RawTensor, ControlFlow, Error, Tuning};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::{Bench, Case};

/// What all cases of a device are launched with; `None` if it is up to the runtime.
pub(crate) type Shared = Rc<RefCell<Option<Tuning>>>;

#[wasm_bindgen]
impl Bench {
    /// From now on launches run as this says: nothing for the runtime's choice, or some of `variant NAME`, `unroll 1|2|4`, `if`,
    /// `switch`, `bounds checks`, `fast math`, `workgroup N` and `tile N`, separated by `; `.
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
        *self.choice.borrow_mut() = tuning;
        Ok(())
    }
}

#[wasm_bindgen]
impl Case {
    /// Which variant each kernel of a launch would run, and what decided that.
    pub fn decided(&self) -> Result<Vec<String>, JsError> {
        self.explained(|kernel| {
            let decision = kernel.decision.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} ({decision})", kernel.chosen.as_deref().unwrap_or("nothing"))
        })
    }

    /// What tables know the kernel by, where a launch is one: its class, and after it its sizes.
    pub fn key(&self) -> Result<Vec<String>, JsError> {
        let keys = self.explained(|kernel| {
            let sizes = kernel.sizes.iter().map(ToString::to_string);
            [kernel.class.clone()].into_iter().chain(sizes).collect::<Vec<_>>()
        })?;
        Ok(if keys.len() == 1 { keys.concat() } else { vec![] })
    }

    /// The variants that may run, where a launch is one kernel.
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
        let tuning = self.choice.borrow().clone();
        let explanation = match tuning {
            Some(tuning) => self.device.with_tuning(&tuning, explain),
            None => explain(),
        };
        Ok(explanation?.kernels.iter().map(what).collect())
    }

    pub(crate) fn once(&self) -> Result<RawTensor, Error> {
        match &*self.choice.borrow() {
            Some(tuning) => self.device.with_tuning(tuning, || (self.launch)()),
            None => (self.launch)(),
        }
    }
}
