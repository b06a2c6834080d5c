//! Validates each distinct shader once.

use std::{borrow::Cow, collections::HashSet};

use fuse_artifact::{Kernel, Variant};

use super::{CompileError, threads};
use crate::validate::{self, Valid};

/// Minimum per thread: validating a shader takes about as long as starting one.
const SHADERS_PER_THREAD: usize = 4;

pub(super) fn validate_kernels<'k>(
    kernels: impl Iterator<Item = &'k Kernel>,
    valid: &Valid,
) -> Result<(), CompileError> {
    let (mut shaders, mut seen) = (vec![], HashSet::new());
    for kernel in kernels {
        for variant in kernel.variants.iter() {
            let texts = variant.passes.iter().map(|pass| pass.wgsl.text());
            let new = texts.filter(|text| {
                !valid.contains(text, variant.features) && seen.insert((text.clone(), variant.features))
            });
            shaders.extend(new.collect::<Vec<_>>().into_iter().map(|text| (kernel, variant, text)));
        }
    }
    let validate = |(kernel, variant, text): &(&Kernel, &Variant, Cow<'_, str>)| {
        validate::validate(text, variant.features).map_err(|message| CompileError {
            stage: "wgsl",
            message: format!("generated WGSL of {} {} failed validation: {message}", kernel.name, variant.name),
        })?;
        valid.add(text, variant.features);
        Ok(())
    };
    // Most of an expansion's time. The first error in shader order is deterministic.
    threads::map(&shaders, SHADERS_PER_THREAD, validate).into_iter().collect()
}
