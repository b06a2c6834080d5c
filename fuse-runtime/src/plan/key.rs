//! [`Key`]: a kernel's class and sizes in tuning tables.
//!
//! Within a class, the choice of variants depends on sizes only. A class names operation, dtypes, operands' memory
//! order, and fused work, equally in all versions of a program.

use fuse_artifact::{Access, DomainKind, Function, Kernel, Schedule, Slot, Space, Variant};

use crate::{plan::domain::Domain, tune::order::distinct};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// For example `contraction f16·f16 depth·outer`.
    pub(crate) class: String,
    /// See [`Entry::sizes`](crate::Entry::sizes).
    pub(crate) sizes: Vec<u64>,
}

impl Key {
    /// `vectors`: a legal variant uses vector loads.
    pub(crate) fn of(kernel: &Kernel, domain: &Domain, vectors: bool) -> Self {
        let mut class = match kernel.domain.kind {
            DomainKind::Pointwise => format!("pointwise {}", dtypes(kernel, Space::Point)),
            DomainKind::Reduction { axes } => reduction(kernel, usize::from(axes)),
            DomainKind::Contraction { products } => contraction(kernel, products),
            DomainKind::Attention | DomainKind::WeightedSum => attention(kernel, domain),
        };
        if !vectors {
            class += " scalar";
        }
        Self { class, sizes: sizes(kernel, domain) }
    }

    /// Ranks alternatives. `symbols` are the values of the function's dimensions.
    pub(crate) fn of_plan(function: &Function, symbols: &[u64]) -> Self {
        let class = format!("{}{:016x}", plan_prefix(function), fingerprint(function));
        // Tables require a size.
        let sizes = if symbols.is_empty() { vec![1] } else { symbols.to_vec() };
        Self { class, sizes }
    }
}

/// Class prefix of a function's plans.
pub(crate) fn plan_prefix(function: &Function) -> String {
    // Expressions are named by their place (`fuse! at …`), which may move.
    let name = if function.name.contains(' ') { "expression" } else { &*function.name };
    format!("plan {name} ")
}

pub(crate) fn plan_name(alternative: usize) -> String {
    format!("alternative {alternative}")
}

fn contraction(kernel: &Kernel, products: u8) -> String {
    let directions = |space, names| named_directions(kernel, space, 2, names);
    let mut class = format!(
        "contraction {}·{} {}·{}",
        dtypes(kernel, Space::Lhs),
        dtypes(kernel, Space::Rhs),
        directions(Space::Lhs, ["depth", "outer"]),
        directions(Space::Rhs, ["outer", "depth"]),
    );
    let packed = |variant: &Variant| if let Schedule::Gemv(gemv) = variant.schedule { gemv.rhs.bits() } else { None };
    if let Some(bits) = kernel.variants.iter().find_map(packed) {
        class += &format!(" q{bits}");
    }
    if products > 1 {
        class += &format!(" products {products}");
        let grouped = |variant: &Variant| matches!(variant.schedule, Schedule::Tile(tile) if tile.is_grouped());
        if kernel.variants.iter().any(grouped) {
            class += " grouped";
        }
    }
    if kernel.work.row_passes > 0 {
        class += " normalized";
    } else if kernel.work.lhs > 0 || kernel.work.rhs > 0 {
        class += " computed";
    }
    if kernel.work.row_epilogue {
        class += " reduced";
    }
    class
}

/// Class of an attention, or of a weighted sum with its numbers of products and sums.
fn attention(kernel: &Kernel, domain: &Domain) -> String {
    let spaces = [Space::Lhs, Space::Rhs, Space::Value];
    let dtypes = spaces.map(|space| dtypes(kernel, space)).join("·");
    let mut class = if domain.kind == DomainKind::WeightedSum {
        let products = 1 + usize::from(loads(kernel, Space::SecondLhs).next().is_some());
        format!("weighted sum {dtypes} products {products} sums {}", written(kernel).len())
    } else {
        format!("attention {dtypes}")
    };
    // By default, keys are contiguous along their depth and values along their columns.
    if (&*directions(kernel, Space::Rhs, 2), &*directions(kernel, Space::Value, 2)) != ("outer", "inner") {
        class += " transposed";
    }
    if kernel.work.causal {
        class += " causal";
    }
    // Schedules are for heads up to some width.
    class + &format!(" head {}", head(domain).next_power_of_two().max(SMALLEST_HEAD))
}

/// The larger of scores' depth and value columns.
fn head(domain: &Domain) -> u64 {
    domain.extents.last().copied().unwrap_or(1).max(domain.contraction().columns)
}

/// Size class of shorter heads.
const SMALLEST_HEAD: u64 = 32;

fn reduction(kernel: &Kernel, axes: usize) -> String {
    let mut class = format!(
        "reduction {} {}",
        dtypes(kernel, Space::Point),
        match &*directions(kernel, Space::Point, axes) {
            "inner" => "rows",
            "outer" => "columns",
            other => other,
        }
    );
    // Split variants have one pass more than dependent reductions.
    let passes = kernel.variants.iter().map(|variant| variant.passes.len()).max().unwrap_or(1);
    if passes > 2 {
        class += &format!(" stages {}", passes - 1);
    }
    if results(kernel).any(|access| walks_any(access, axes)) {
        class += " mapped";
    }
    class
}

fn loads(kernel: &Kernel, space: Space) -> impl Iterator<Item = &Access> {
    let written = written(kernel);
    kernel.accesses.iter().filter(move |access| access.space == space && !written.contains(&access.slot))
}

fn results(kernel: &Kernel) -> impl Iterator<Item = &Access> {
    let written = written(kernel);
    kernel.accesses.iter().filter(move |access| written.contains(&access.slot))
}

fn written(kernel: &Kernel) -> Vec<Slot> {
    let bindings =
        kernel.variants.iter().flat_map(|variant| variant.passes.iter()).flat_map(|pass| pass.bindings.iter());
    distinct(bindings.filter(|binding| binding.writable).map(|binding| binding.slot))
}

/// Sorted, or `none`.
fn dtypes(kernel: &Kernel, space: Space) -> String {
    let bindings =
        || kernel.variants.iter().flat_map(|variant| variant.passes.iter()).flat_map(|pass| pass.bindings.iter());
    let dtype =
        |access: &Access| bindings().find(|binding| binding.slot == access.slot).map(|binding| binding.dtype.name());
    listed(loads(kernel, space).filter_map(dtype))
}

/// Sorted, or `none`.
fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words = distinct(words);
    if words.is_empty() { "none".to_owned() } else { words.join("+") }
}

/// Contiguous axes of a space's reads: `inner` for the last (in reductions, one of the last `inner`), `outer` for those
/// before, `strided` for neither.
fn directions(kernel: &Kernel, space: Space, inner: usize) -> String {
    named_directions(kernel, space, inner, ["inner", "outer"])
}

/// [`directions`] with other names for the last axis and those before.
fn named_directions(kernel: &Kernel, space: Space, inner: usize, [last_axis, before]: [&'static str; 2]) -> String {
    let reduction = space == Space::Point;
    let direction = |access: &Access| {
        let last = access.view.len().checked_sub(1)?;
        let along = access.axes.iter().position(|axis| *axis == Some(last as u8));
        let from_end = along.map(|axis| access.axes.len() - axis);
        Some(match from_end {
            Some(1) => last_axis,
            Some(axis) if reduction && axis <= inner => last_axis,
            Some(2) => before,
            Some(_) if reduction => before,
            _ => "strided",
        })
    };
    // Accesses constant along a row have no order there.
    let of_elements = |access: &&Access| !reduction || walks_any(access, inner);
    listed(loads(kernel, space).filter(of_elements).filter_map(direction))
}

fn walks_any(access: &Access, axes: usize) -> bool {
    access.axes.iter().rev().take(axes).any(Option::is_some)
}

fn sizes(kernel: &Kernel, domain: &Domain) -> Vec<u64> {
    let sizes = domain.contraction();
    match domain.kind {
        DomainKind::Pointwise => vec![domain.count()],
        DomainKind::Reduction { .. } => vec![sizes.rows, sizes.depth],
        DomainKind::Contraction { .. } => vec![sizes.batch, sizes.rows, sizes.columns, sizes.depth],
        DomainKind::Attention | DomainKind::WeightedSum => {
            // A query with a window sees no more keys.
            let keys = kernel.work.window.map_or(sizes.depth, |window| sizes.depth.min(window.into()));
            vec![sizes.batch, sizes.rows, keys, head(domain)]
        }
    }
}

/// 64-bit FNV-1a of the kernels of a function and its alternatives, equal in every program.
fn fingerprint(function: &Function) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for plan in std::iter::once(function).chain(function.alternatives.iter()) {
        for kernel in plan.kernels.iter() {
            add(&kernel.name);
            for variant in kernel.variants.iter() {
                add(&variant.name);
                variant.passes.iter().for_each(|pass| add(&pass.wgsl.text()));
            }
        }
    }
    hash
}
