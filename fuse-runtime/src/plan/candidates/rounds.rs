//! Limit of loop rounds: Mesa's lavapipe silently ends loops after 65535 rounds of all loops of an invocation together.
//!
//! Depths are split further there, or variants near the limit refused.

use fuse_artifact::{
    Kernel, Schedule, Variant,
    schedule::{Mainloop, Tile},
};

use crate::{
    context::info::DeviceInfo,
    plan::{
        domain::Contraction,
        require::Refusal,
        split::{Split, parted},
    },
};

/// Limit of rounds over a depth: of 65535, some remain for loops over parts, layers and places.
const MOST: u64 = 60_000;

/// Adapter name without versions.
const ADAPTER: &str = "llvmpipe";

/// `product_depths` are those of a weighted sum's products.
pub(super) fn within(
    kernel: &Kernel,
    variant: &Variant,
    (sizes, product_depths): (Contraction, u64),
    split: Split,
    info: &DeviceInfo,
) -> Result<Split, Refusal> {
    // Browsers do not report this name.
    if cfg!(target_arch = "wasm32") || !info.name.starts_with(ADAPTER) {
        return Ok(split);
    }
    let of = |split: Split| rounds(kernel, variant, (sizes, product_depths), split);
    let needed = of(split);
    let further = variant.schedule.is_split() && split.tiles == [0; 2] && needed > MOST;
    let parts = || split.parts.saturating_mul(needed.div_ceil(MOST));
    let split = if further { parted(&variant.schedule, sizes.depth, parts()) } else { split };
    match of(split) {
        ..=MOST => Ok(split),
        needed => Err(Refusal::Limit("rounds of a kernel's loops", needed, MOST)),
    }
}

/// Upper bound per invocation.
fn rounds(kernel: &Kernel, variant: &Variant, (sizes, product_depths): (Contraction, u64), split: Split) -> u64 {
    let [_, _, step] = variant.schedule.extents().map(|extent| extent.max(1));
    let part = split.depth.min(sizes.depth);
    let steps = part.div_ceil(step);
    let walked = match variant.schedule {
        // A step of k-groups is a loop, with at least four depths per round.
        Schedule::Tile(Tile { mainloop: Mainloop::SliceK(_), .. }) => steps.saturating_mul(1 + step / 4),
        Schedule::Tile(_) | Schedule::Gemv(_) => steps,
        // Each dependent reduction, and its results, reads the row again.
        Schedule::Reduction(_) => {
            let passes = kernel.variants.iter().map(|variant| variant.passes.len()).max().unwrap_or(1);
            steps.saturating_mul(if split.parts > 1 { 1 } else { passes as u64 + 1 })
        }
        Schedule::Attention(attention) => {
            let (keys, head) = (u64::from(attention.keys()), u64::from(attention.head()));
            steps.saturating_mul(2 + (keys + head).div_ceil(4))
        }
        // Each step loops over the products' depths, and each sum's keys.
        Schedule::WeightedSum(sum) => {
            let products = 2 + product_depths.div_ceil(sum.depth_step.max(1).into());
            let values = u64::from(sum.keys() / sum.value_step.max(1));
            steps.saturating_mul(1 + products + 2 * values)
        }
        Schedule::Pointwise(_) => 0,
    };
    walked.saturating_add(split.parts).saturating_add(operand_rows(kernel, variant, sizes))
}

/// A workgroup reduces the rows of its left operand sequentially.
fn operand_rows(kernel: &Kernel, variant: &Variant, sizes: Contraction) -> u64 {
    let [rows, ..] = variant.schedule.extents();
    let invocations = variant.passes.first().map_or(1, |pass| u64::from(pass.workgroup_size.max(1)));
    let elements = rows.saturating_mul(sizes.depth).saturating_mul(kernel.work.row_passes.into());
    elements.div_ceil(invocations)
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        Domain, DomainKind, Features, Scratch, Work,
        schedule::{K, Reduction, ReductionOrder, RowLoads},
    };

    use super::*;
    use crate::{
        context::info::{AdapterKind, tests::device_info},
        plan::{candidates::split, cost::Machine},
    };

    fn variant(schedule: Schedule) -> Variant {
        Variant {
            name: "v".into(),
            requires: vec![].into(),
            features: Features::default(),
            schedule,
            scratch: Scratch::default(),
            passes: vec![].into(),
        }
    }

    fn kernel(kind: DomainKind, variant: Variant) -> Kernel {
        Kernel {
            name: "k".into(),
            domain: Domain { kind, extents: vec![].into(), fixed: false },
            accesses: vec![].into(),
            variants: vec![variant].into(),
            work: Work::default(),
        }
    }

    fn on(name: &str, schedule: &Schedule, sizes: Contraction) -> Result<Split, Refusal> {
        let variant = variant(*schedule);
        let kernel = kernel(DomainKind::Contraction { products: 1 }, variant.clone());
        let info = DeviceInfo { name: name.to_owned(), ..device_info(AdapterKind::Software, 0) };
        within(&kernel, &variant, (sizes, 0), split(schedule, sizes, &Machine::of(&info)), &info)
    }

    fn tiles(split: bool) -> Schedule {
        let k = if split { K::Split } else { K::Whole };
        Schedule::Tile(Tile { lanes: 1, k, ..Tile::new(32, 32, 16, [4, 4]) })
    }

    #[test]
    fn depths_are_split_until_no_loop_ends_early() {
        let sizes = Contraction { batch: 1, rows: 4, columns: 1, depth: 8_388_608 };
        let elsewhere = on("GeForce", &tiles(true), sizes).unwrap();
        let here = on("llvmpipe (LLVM 15.0.6, 256 bits)", &tiles(true), sizes).unwrap();
        assert!(elsewhere.depth / 16 > MOST && here.depth / 16 <= MOST, "{elsewhere:?} {here:?}");
        assert!(here.parts * here.depth >= sizes.depth && (here.parts - 1) * here.depth < sizes.depth, "{here:?}");
        let whole = on("llvmpipe (LLVM 15.0.6, 256 bits)", &tiles(false), sizes);
        assert_eq!(whole, Err(Refusal::Limit("rounds of a kernel's loops", 524_289, MOST)));
        let short = Contraction { depth: 100_000, ..sizes };
        assert_eq!(on("llvmpipe", &tiles(true), short), on("GeForce", &tiles(true), short));
    }

    #[test]
    fn rows_are_split_as_far_as_workgroups_can_read_what_others_found() {
        let schedule = Schedule::Reduction(Reduction {
            split: true,
            ..Reduction::new(ReductionOrder::rows(RowLoads::Streamed), [1, 256], [1, 2])
        });
        let row = |depth| Contraction { batch: 1, rows: 1, columns: 1, depth };
        let split = on("llvmpipe", &schedule, row(1 << 31)).unwrap();
        assert!(split.depth / 256 <= MOST && split.parts <= 256, "{split:?}");
        assert!(on("llvmpipe", &schedule, row(4_000_000_000)).is_err());
    }
}
