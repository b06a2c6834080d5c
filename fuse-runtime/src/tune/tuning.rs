//! [`Tuning`]: a program's overrides of the choice of variants, and [`Applied`]: their effect on a device. Not here:
//! the choice (`plan::select_variant`).

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use fuse_artifact::{DomainKind, Schedule, Variant};

use crate::{
    context::{
        control_flow::{ControlFlow, UNROLL_FACTORS},
        environment::{Environment, Vendor},
        hardware::Hardware,
        info::{AdapterKind, DeviceInfo},
        specialization::Style,
    },
    tune::{
        built_in::{built_in, heads},
        knobs::Knobs,
        order::sort_by,
        table::{Status, Table},
    },
};

/// Choice of kernel variants: environment, tables and preferred sizes.
///
/// By default the program's environment with built-in tables. Set it for a [device](crate::DeviceBuilder::tuning) or a
/// [closure](crate::Device::with_tuning).
///
/// ```
/// use fuse_runtime::Tuning;
///
/// // As Firefox would choose, but with workgroups of about 64 invocations and tiles of about 16 rows and columns.
/// let tuning = Tuning::firefox().workgroup_size(64).tile_size(16);
/// # assert_ne!(tuning, Tuning::default());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a tuning does nothing until a device or a scope takes it"]
pub struct Tuning {
    environment: Environment,
    overrides: Knobs,
    int8_activations: bool,
    /// Later ones come first.
    tables: Vec<Arc<Table>>,
    built_in: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::for_environment(Environment::present())
    }
}

impl Tuning {
    /// The default choices of an environment.
    pub fn for_environment(environment: Environment) -> Self {
        Self { environment, overrides: Knobs::default(), int8_activations: false, tables: Vec::new(), built_in: true }
    }

    /// The choices for native programs.
    pub fn native() -> Self {
        Self::for_environment(Environment::Native)
    }

    /// The choices for Chrome.
    pub fn chrome() -> Self {
        Self::for_environment(Environment::Chrome)
    }

    /// The choices for Edge.
    pub fn edge() -> Self {
        Self::for_environment(Environment::Edge)
    }

    /// The choices for Firefox.
    pub fn firefox() -> Self {
        Self::for_environment(Environment::Firefox)
    }

    /// The choices for Safari.
    pub fn safari() -> Self {
        Self::for_environment(Environment::Safari)
    }

    /// Prefers workgroups of about this many invocations (0 counts as 1), even if slower.
    pub fn workgroup_size(mut self, invocations: u32) -> Self {
        self.overrides.workgroup_size = Some(invocations.max(1));
        self
    }

    /// Prefers tiles of about this many rows and columns (0 counts as 1) in products and attentions, even if slower.
    pub fn tile_size(mut self, elements: u32) -> Self {
        self.overrides.tile_size = Some(elements.max(1));
        self
    }

    /// Allows less exact functions than documented; overrides tables.
    ///
    /// `tanh`, `erf`, `gelu`, `sin`, `cos`, `tan`, `log1p`, `expm1`, `softplus`, `mish` and functions made of them then
    /// have absolute errors up to about 1e-6, also for small results; `relu`, `min` and `max` may lose NaN. Off unless
    /// enabled here or by a [table](Self::with_table) of the program.
    pub fn fast_math(mut self, fast: bool) -> Self {
        self.overrides.fast_math = Some(fast);
        self
    }

    /// Allows products of few rows with quantized weights to round the left operand to 8 bits, for integer products.
    ///
    /// Each 32 values along the summed axis share a scale. A value `x` errs by up to `a/254`, with `a` the largest
    /// magnitude of the 32; a sum `Σ x·w` by up to `Σ a·|w|/254` more. Values that are not finite make results
    /// meaningless; 32 values below 1.5e-36 count as zeros. Off by default.
    pub fn int8_activations(mut self, allowed: bool) -> Self {
        self.int8_activations = allowed;
        self
    }

    /// Makes shaders check indices natively, too, as browsers always do; overrides tables.
    ///
    /// Costs time; launches are proven to stay inside their tensors.
    pub fn bounds_checks(mut self, checked: bool) -> Self {
        self.overrides.bounds_checks = Some(checked);
        self
    }

    /// Unrolls loops by two (`factor` 2 or 3), four (4 or more), or not (0 or 1), with the same results.
    ///
    /// Inner loops of products and of most reductions are always unrolled (docs/tuning.md).
    pub fn unroll(mut self, factor: u32) -> Self {
        self.overrides.unroll = UNROLL_FACTORS.into_iter().rfind(|known| *known <= factor.max(1));
        self
    }

    /// Sets the form of integer branches, with the same results.
    pub fn control_flow(mut self, flow: ControlFlow) -> Self {
        self.overrides.control_flow = Some(flow);
        self
    }

    /// Adds a table for any adapter, with precedence over earlier and built-in ones.
    pub fn with_table(mut self, table: Table) -> Self {
        self.tables.insert(0, Arc::new(table));
        self
    }

    /// Ignores the built-in tables.
    pub fn without_built_in_tables(mut self) -> Self {
        self.built_in = false;
        self
    }

    /// The environment.
    pub fn environment(&self) -> Environment {
        self.environment
    }
}

#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) id: u64,
    pub(crate) tuning: Tuning,
    /// The device without features that the tuning forbids.
    pub(crate) info: DeviceInfo,
    pub(crate) tables: Vec<Arc<Table>>,
    pub(crate) prior: Prior,
}

/// Preferences in order of precedence: the program's, the environment's, the vendor's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Prior {
    pub(crate) knobs: Knobs,
    /// Table with the sizes.
    pub(crate) sizes_of: String,
}

impl Prior {
    fn of(given: &[Arc<Table>], tables: &[Table]) -> Self {
        // Measurements of this adapter, with the cost model in gaps, beat expectations of its vendor.
        let is_measured = tables.iter().any(|table| table.status == Status::Measured && table.names_adapters());
        let asked = tables.iter().filter(|table| !is_measured || table.adapters.is_none() || table.names_adapters());
        let mut asked: Vec<&Table> = asked.collect();
        let rank = |table: &Table| (table.status != Status::Measured, table.environment.is_none());
        sort_by(&mut asked, |a, b| rank(a) < rank(b));
        let all: Vec<&Table> = given.iter().map(|table| &**table).chain(asked).collect();
        let knobs = all.iter().fold(Knobs::default(), |knobs, table| knobs.or(table.knobs));
        let sizes_of = all.iter().find(|table| table.knobs.has_sizes());
        Self { knobs, sizes_of: sizes_of.map_or_else(String::new, |table| table.name.clone()) }
    }
}

impl Applied {
    /// Style of the program, else of the prior.
    pub(crate) fn style(&self) -> Style {
        let knobs = self.tuning.overrides.or(self.prior.knobs);
        Style {
            fast_math: knobs.fast_math == Some(true),
            bounds_checks: knobs.bounds_checks == Some(true),
            unroll: knobs.unroll.unwrap_or(1),
            control_flow: knobs.control_flow,
        }
    }

    pub(crate) fn new(tuning: &Tuning, info: &DeviceInfo) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let vendor = vendor(info);
        let serves = |table: &Table| tuning.built_in && table.is_about(tuning.environment, vendor, &info.name);
        let mut found: Vec<Table> = built_in(serves).collect();
        let prior = Prior::of(&tuning.tables, &found);
        // Tables that name adapters come before general ones, and measurements before priors.
        found.retain(|table| !table.entries.is_empty());
        let rank = |table: &Table| (table.status != Status::Measured, table.adapters.is_none());
        sort_by(&mut found, |a, b| rank(a) < rank(b));
        let tables = tuning.tables.iter().cloned().chain(found.into_iter().map(Arc::new)).collect();
        let mut info = info.clone();
        info.features.int8_activations &= tuning.int8_activations;
        info.hardware = hardware(&tuning.tables, vendor, &info).or(info.hardware);
        Self { id: IDS.fetch_add(1, Ordering::Relaxed), tuning: tuning.clone(), info, tables, prior }
    }

    pub(crate) fn overrides(&self) -> Option<&Knobs> {
        Some(&self.tuning.overrides).filter(|overrides| overrides.has_sizes())
    }
}

pub(crate) fn vendor(info: &DeviceInfo) -> Vendor {
    if info.kind == AdapterKind::Software {
        Vendor::Software
    } else {
        Vendor::named(&info.vendor).unwrap_or(Vendor::Other)
    }
}

/// Figures from the program's tables, else from built-in ones about the adapter in any environment.
fn hardware(given: &[Arc<Table>], vendor: Vendor, info: &DeviceInfo) -> Option<Hardware> {
    let mut found = given.iter().find_map(|table| table.hardware);
    if found.is_some() {
        return found;
    }
    for table in heads().filter(|table| table.is_about_adapter(vendor, &info.name)) {
        let Some(hardware) = table.hardware else { continue };
        if table.names_adapters() {
            return Some(hardware);
        }
        // A vendor's prior is about its integrated GPUs or about the others.
        if found.is_none() && kind(info).is_none_or(|kind| hardware.integrated == kind) {
            found = Some(hardware);
        }
    }
    found
}

/// True for an integrated GPU; `None` if unknown, as in browsers.
fn kind(info: &DeviceInfo) -> Option<bool> {
    match info.kind {
        AdapterKind::Discrete => Some(false),
        AdapterKind::Integrated => Some(true),
        AdapterKind::Other | AdapterKind::Software => None,
    }
}

impl Knobs {
    /// Distance in powers of two; `None` if the sizes do not apply to the variant's kind.
    pub(crate) fn distance(&self, kind: DomainKind, variant: &Variant) -> Option<f64> {
        let apart = |a: u64, b: u32| ((a.max(1) as f64).log2() - f64::from(b.max(1)).log2()).abs();
        let invocations = variant.passes.first().map_or(1, |pass| u64::from(pass.workgroup_size));
        let workgroup = self.workgroup_size.map(|wanted| apart(invocations, wanted));
        let tiled = !matches!(kind, DomainKind::Pointwise | DomainKind::Reduction { .. });
        let tile = self.tile_size.filter(|_| tiled).map(|wanted| {
            let [rows, columns, _] = variant.schedule.extents();
            match variant.schedule {
                // An attention or weighted sum has all columns of its rows; its tiles extend over rows and keys.
                Schedule::Attention(attention) => (apart(rows, wanted) + apart(attention.keys().into(), wanted)) / 2.0,
                Schedule::WeightedSum(sum) => (apart(rows, wanted) + apart(sum.keys().into(), wanted)) / 2.0,
                _ => (apart(rows, wanted) + apart(columns, wanted)) / 2.0,
            }
        });
        match (workgroup, tile) {
            (None, None) => None,
            (workgroup, tile) => Some(workgroup.unwrap_or(0.0) + tile.unwrap_or(0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::{
            environment::Vendor,
            info::{AdapterKind, tests::device_info},
        },
        tune::table::{Adapters, tests::table},
    };

    fn prior(name: &str, environment: Option<Environment>, vendor: Option<Vendor>, knobs: Knobs) -> Table {
        let adapters = vendor.map(|vendor| Adapters { vendor, names: vec![] });
        Table { name: name.to_owned(), environment, adapters, knobs, ..table(&[]) }
    }

    #[test]
    fn an_environment_comes_before_a_vendor_and_a_measured_adapter_has_none() {
        let [small, large] = [64, 512].map(|size| Knobs { workgroup_size: Some(size), ..Knobs::default() });
        let browser = prior("browser", Some(Environment::Safari), None, small);
        let vendor = Knobs { unroll: Some(2), control_flow: Some(ControlFlow::If), ..large };
        let vendor = prior("vendor", None, Some(Vendor::Apple), vendor);
        let native = Prior::of(&[], std::slice::from_ref(&vendor));
        assert_eq!((native.knobs, &*native.sizes_of), (vendor.knobs, "vendor"));
        let both = Prior::of(&[], &[vendor.clone(), browser.clone()]);
        let merged = Knobs { workgroup_size: small.workgroup_size, ..vendor.knobs };
        assert_eq!((both.knobs, &*both.sizes_of), (merged, "browser"));
        let adapters = Some(Adapters { vendor: Vendor::Apple, names: vec!["m9".into()] });
        let measured = Table { status: Status::Measured, adapters, ..prior("measured", None, None, Knobs::default()) };
        assert_eq!(Prior::of(&[], &[measured.clone(), vendor.clone()]), Prior::default());
        assert_eq!(Prior::of(&[], &[measured, browser.clone(), vendor.clone()]).knobs, small);
        let own = prior("own", None, None, Knobs { unroll: Some(4), ..Knobs::default() });
        let given = Prior::of(&[Arc::new(own)], &[vendor, browser]);
        assert_eq!((given.knobs, &*given.sizes_of), (Knobs { unroll: Some(4), ..merged }, "browser"));
        assert_eq!(Prior::of(&[], &[]), Prior::default());
    }

    #[test]
    fn what_a_program_overrides_comes_before_priors() {
        let styled = |tuning: Tuning, knobs: Knobs| {
            let prior = Prior { knobs, ..Prior::default() };
            let info = device_info(AdapterKind::Other, 0);
            let applied = Applied { id: 0, tuning, info, tables: vec![], prior };
            applied.style()
        };
        let loops = |tuning: Tuning, knobs: Knobs| {
            let Style { unroll, control_flow, .. } = styled(tuning, knobs);
            (unroll, control_flow)
        };
        let expected = Knobs { unroll: Some(4), control_flow: Some(ControlFlow::If), ..Knobs::default() };
        assert_eq!(loops(Tuning::native(), Knobs::default()), (1, None));
        assert_eq!(loops(Tuning::native(), expected), (4, Some(ControlFlow::If)));
        let asked = Tuning::native().unroll(3).control_flow(ControlFlow::Switch);
        assert_eq!(loops(asked, expected), (2, Some(ControlFlow::Switch)));
        let factors = [0, 1, 2, 3, 4, u32::MAX];
        let found = factors.map(|factor| loops(Tuning::native().unroll(factor), expected).0);
        assert_eq!(found, [1, 1, 2, 2, 4, 4]);
        let unsaid = styled(Tuning::native(), Knobs::default());
        assert_eq!((unsaid.bounds_checks, unsaid.fast_math), (false, false));
        for (said, asked) in [(false, true), (true, false)] {
            let table = Knobs { bounds_checks: Some(said), fast_math: Some(said), ..Knobs::default() };
            let by_table = styled(Tuning::native(), table);
            assert_eq!((by_table.bounds_checks, by_table.fast_math), (said, said));
            let both = styled(Tuning::native().bounds_checks(asked).fast_math(asked), table);
            assert_eq!((both.bounds_checks, both.fast_math), (asked, asked));
            let one = styled(Tuning::native().bounds_checks(asked), table);
            assert_eq!((one.bounds_checks, one.fast_math), (asked, said));
        }
    }

    #[test]
    fn hardware_is_the_programs_the_adapters_the_vendors_or_unknown() {
        let of = |tuning: &Tuning, name: &str, vendor: &str, kind| {
            let info = DeviceInfo { name: name.into(), vendor: vendor.into(), ..device_info(kind, 32) };
            Applied::new(tuning, &info).info.hardware
        };
        let units = |name, vendor, kind| of(&Tuning::native(), name, vendor, kind).map(|hardware| hardware.units);
        let (discrete, integrated) = (AdapterKind::Discrete, AdapterKind::Integrated);
        let h200 = ("NVIDIA H200", "NVIDIA", discrete);
        assert_eq!(units(h200.0, h200.1, h200.2), Some(132));
        let other = units("NVIDIA GeForce RTX 4070", "NVIDIA", discrete);
        assert!(other.is_some_and(|units| units < 132), "{other:?}");
        assert_eq!(units("NVIDIA Tegra", "NVIDIA", integrated), None, "the vendor's prior is about discrete ones");
        assert_eq!(units("", "NVIDIA", AdapterKind::Other), other, "as browsers have it");
        let vendors = ["AMD", "Intel", "Apple", "Qualcomm", "Arm"];
        for (vendor, kind) in vendors.into_iter().zip([discrete, integrated, integrated, integrated, integrated]) {
            assert!(units("some", vendor, kind).is_some(), "{vendor}");
        }
        assert_eq!(units("some", "3dfx", discrete), None);
        for tuning in [Tuning::chrome(), Tuning::native().without_built_in_tables()] {
            assert_eq!(of(&tuning, h200.0, h200.1, h200.2).unwrap().units, 132);
        }
        let known = Hardware { units: 7, ..of(&Tuning::native(), h200.0, h200.1, h200.2).unwrap() };
        let tuning = Tuning::native().with_table(table(&[]).with_hardware(known)).with_table(table(&[]));
        assert_eq!(of(&tuning, h200.0, h200.1, h200.2), Some(known));
    }

    #[test]
    fn software_adapters_have_a_prior_or_their_own_measurements() {
        let on = |name: &str, tuning: &Tuning| {
            let info = DeviceInfo { name: name.into(), ..device_info(AdapterKind::Software, 0) };
            let Applied { tables, prior, .. } = Applied::new(tuning, &info);
            (tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>(), prior)
        };
        for other in ["SwiftShader Device (Subzero)", "Microsoft Basic Render Driver"] {
            let (tables, prior) = on(other, &Tuning::native());
            assert_eq!((tables, &*prior.sizes_of), (vec![], "software"), "{other}");
            assert_eq!((prior.knobs.workgroup_size, prior.knobs.tile_size), (Some(32), Some(64)));
        }
        let measured = on("llvmpipe (LLVM 15.0.6, 256 bits)", &Tuning::native());
        assert_eq!(measured, (vec!["software-llvmpipe".to_owned()], Prior::default()));
        assert_eq!(on("SwiftShader", &Tuning::chrome()).0, ["chrome-swiftshader"]);
        assert_eq!(on("WARP", &Tuning::chrome()).1.sizes_of, "chrome", "of a browser, its own prior");
    }

    #[test]
    fn edge_checks_bounds_unless_the_program_says_otherwise() {
        let info = device_info(AdapterKind::Other, 0);
        let checks = |tuning: Tuning| Applied::new(&tuning, &info).style().bounds_checks;
        assert!(checks(Tuning::edge()) && !checks(Tuning::edge().bounds_checks(false)));
        assert!(!checks(Tuning::edge().without_built_in_tables()) && !checks(Tuning::chrome()));
    }
}
