//! Variants with cooperative matrices for every adapter (`fuse_compiler::kernel::software`).

use fuse_artifact::{
    DomainKind, Features, Function, Schedule, Variant,
    schedule::{Attention, WeightedSum},
};
use fuse_compiler::kernel::print::Dialect;

use crate::Program;

/// Keeps the variants with cooperative matrices, in software, and the last variant for other sizes. Reductions and
/// pointwise kernels are unchanged.
///
/// # Errors
/// If a kernel of another kind has no such variant.
pub fn in_software(program: &Program) -> Result<Program, String> {
    let program = program.with_dialect(Dialect::Software)?;
    let mut function: Function = program.function.clone();
    function.alternatives = vec![].into();
    for kernel in function.kernels.to_mut() {
        if let DomainKind::Pointwise | DomainKind::Reduction { .. } = kernel.domain.kind {
            continue;
        }
        let mut variants: Vec<Variant> = kernel.variants.iter().filter_map(variant).collect();
        if variants.is_empty() {
            return Err(format!("{} has no variant with cooperative matrices", kernel.name));
        }
        variants.extend(kernel.variants.last().cloned());
        kernel.variants = variants.into();
    }
    Ok(Program { function: Box::leak(Box::new(function)), ..program })
}

/// Most accumulator matrices per subgroup that software adapters compile in seconds. Each is stored between barriers,
/// across which every value stays live.
const MOST_MATRICES: u32 = 16;

fn variant(variant: &Variant) -> Option<Variant> {
    let fits = match variant.schedule {
        Schedule::Tile(tile) => tile
            .coop_matrix()
            .is_some_and(|size| tile.invocation_rows * tile.invocation_columns <= MOST_MATRICES * size * size),
        Schedule::Attention(Attention::CoopMatrix(_))
        | Schedule::WeightedSum(WeightedSum { coop_matrix: true, .. }) => true,
        _ => false,
    };
    let features = Features { f16: variant.features.f16, ..Features::default() };
    fits.then(|| Variant { features, ..variant.clone() })
}
