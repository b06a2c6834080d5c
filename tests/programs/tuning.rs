//! Tables, overrides and the search on the adapter: their choices, and correct results.

use std::{collections::BTreeMap, time::Duration};

use fuse_gpu::{
    Arg, CUT_OFF, Decision, Device, Environment, Error, Explanation, KernelExplanation, Search, Status, Table, Tensor2,
    Tuning, Vendor, artifact::Function, fuse,
};

#[path = "../../benches/tune/cases.rs"]
#[allow(dead_code, reason = "the search measures more than names")]
mod cases;
#[path = "../../benches/tune/shapes.rs"]
#[allow(dead_code, reason = "the search measures more sizes")]
mod shapes;

fuse! {
    fn product(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
        matmul(x, w)
    }

    fn gelu_product(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
        matmul(gelu(x), w)
    }

    fn attention(q: f32[H, S, D], k: f32[H, S, D], v: f32[H, S, D]) -> f32[H, S, D] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }

    fn attention_of_32(q: f32[H, S, 32], k: f32[H, S, 32], v: f32[H, S, 32]) -> f32[H, S, 32] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }
}

const CLASS: &str = "contraction f32·f32 depth·outer";

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

fn matrix(device: &Device, shape: [usize; 2]) -> Tensor2<f32> {
    let value = |i: usize| ((i * 7 + 3) % 17) as f32 / 8.0 - 1.0;
    Tensor2::from_vec(device, (0..shape[0] * shape[1]).map(value).collect(), shape).expect("a tensor")
}

fn table(class: &str, sizes: &[u64], schedules: &[&str]) -> Table {
    let schedules: Vec<String> =
        schedules.iter().enumerate().map(|(i, name)| format!("[\"{name}\", {:?}]", 1.0 + i as f64 / 10.0)).collect();
    let entry =
        format!("class = \"{class}\"\nsizes = {sizes:?}\nmicroseconds = 1.0\nschedules = [{}]", schedules.join(", "));
    Table::parse("by hand", &format!("format = 1\nstatus = \"prior\"\n[[entry]]\n{entry}\n")).expect("a table")
}

fn only_kernel(explanation: Explanation) -> KernelExplanation {
    assert_eq!(explanation.kernels.len(), 1, "{explanation}");
    explanation.kernels.into_iter().next().unwrap()
}

fn explain(device: &Device, tuning: &Tuning, function: &'static Function, shapes: &[&[usize]]) -> KernelExplanation {
    only_kernel(device.with_tuning(tuning, || device.explain(function, shapes)).unwrap())
}

fn legal(kernel: &KernelExplanation) -> Vec<&str> {
    kernel.variants.iter().filter(|(_, verdict)| verdict.is_ok()).map(|(name, _)| &**name).collect()
}

fn model() -> Tuning {
    Tuning::native().without_built_in_tables()
}

#[test]
fn every_member_of_every_built_in_table_exists() {
    let device = device();
    let mut schedules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let cases = [cases::grid(false), cases::grid(true)];
    for case in cases.iter().flatten().filter(|case| case.fits(device.info())) {
        let known = case.known(&device, &model()).unwrap();
        let variants = case.kernels().iter().flat_map(|kernel| kernel.variants.iter());
        schedules.entry(known.class).or_default().extend(variants.map(|variant| variant.name.to_string()));
    }
    let mut unknown = vec![];
    for table in Table::built_in() {
        for entry in table.entries() {
            assert!(!entry.family.is_empty(), "table `{}`, `{}` {:?}", table.name(), entry.class, entry.sizes);
            let names = schedules.get(&entry.class);
            let missing = |(name, _): &&(String, f64)| names.is_none_or(|names| !names.contains(name));
            let missing: Vec<_> = entry.schedules.iter().filter(missing).collect();
            if !missing.is_empty() {
                unknown.push(format!("table `{}`, `{}`: no {missing:?}", table.name(), entry.class));
            }
        }
    }
    unknown.dedup();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(Table::built_in().iter().any(|table| table.status() == Status::Measured), "no measured table");
}

#[test]
fn no_search_measures_what_judges_its_table() {
    for quick in [false, true] {
        let searched = cases::grid(quick);
        for held_out in cases::held_out(quick) {
            assert!(searched.iter().all(|case| case.name() != held_out.name()), "{} is in the grid", held_out.name());
        }
    }
}

#[test]
fn priors_are_marked_and_have_the_sources_numbers() {
    let tables = Table::built_in();
    for environment in [Environment::Chrome, Environment::Edge, Environment::Firefox, Environment::Safari] {
        let of = |table: &&Table| table.environment() == Some(environment) && table.adapters().is_none();
        let found = tables.iter().find(of).unwrap_or_else(|| panic!("no table for {environment}"));
        assert_eq!((found.status(), found.measured()), (Status::Prior, None));
        let numbers = match environment {
            Environment::Chrome => "workgroup_size = 256\ntile_size = 16\nunroll = 4\n",
            Environment::Edge => {
                "workgroup_size = 256\ntile_size = 16\nunroll = 2\ncontrol_flow = \"switch\"\nbounds_checks = true\n"
            }
            Environment::Firefox => "workgroup_size = 128\ntile_size = 8\nunroll = 1\ncontrol_flow = \"if\"\n",
            _ => "workgroup_size = 512\ntile_size = 32\n",
        };
        assert!(found.text().contains(numbers), "{}", found.text());
    }
}

#[test]
fn every_vendor_has_priors() {
    let tables = Table::built_in();
    for vendor in Vendor::ALL.into_iter().filter(|vendor| *vendor != Vendor::Other) {
        let of = |table: &&Table| {
            table.name() == vendor.name()
                && table.adapters().is_some_and(|of| of.vendor == vendor && of.names.is_empty())
        };
        let found = tables.iter().find(of).unwrap_or_else(|| panic!("no table for {}", vendor.name()));
        // Browsers have measured tables, or priors on software adapters.
        let environment = (vendor == Vendor::Software).then_some(Environment::Native);
        assert_eq!((found.status(), found.environment(), found.entries().len()), (Status::Prior, environment, 0));
        for knob in ["workgroup_size", "tile_size", "unroll", "control_flow"] {
            assert!(found.text().contains(knob), "{}", found.text());
        }
    }
}

#[test]
fn a_table_overrides_the_cost_model_and_results_stay_right() {
    let device = device();
    let (x, w) = (matrix(&device, [64, 32]), matrix(&device, [32, 64]));
    let shapes: [&[usize]; 2] = [&[64, 32], &[32, 64]];
    let expected = product(&x, &w).unwrap().to_vec_blocking().unwrap();
    let modeled = explain(&device, &model(), &product::FUNCTION, &shapes);
    assert_eq!((&*modeled.class, &*modeled.sizes), (CLASS, &[1, 64, 64, 32][..]));
    assert_eq!(modeled.decision, Some(Decision::Estimate));
    let variants = legal(&modeled);
    assert!(variants.len() > 3, "{variants:?}");
    for variant in variants {
        let tuning = model().with_table(table(CLASS, &[1, 64, 64, 32], &[variant]));
        let chosen = explain(&device, &tuning, &product::FUNCTION, &shapes);
        assert_eq!(chosen.chosen.as_deref(), Some(variant));
        let Some(Decision::Table { name, status: Status::Prior, distance: 0.0 }) = &chosen.decision else {
            panic!("{:?}", chosen.decision);
        };
        assert_eq!(name, "by hand");
        let y = device.with_tuning(&tuning, || product(&x, &w)).unwrap().to_vec_blocking().unwrap();
        assert!(y.iter().zip(&expected).all(|(y, x)| (y - x).abs() < 1e-4), "{variant}");
    }
}

#[test]
fn entries_for_any_head_choose_where_the_head_is_known() {
    let device = device();
    let shape: &[usize] = &[2, 96, 32];
    let explain = |function, tuning: &Tuning| explain(&device, tuning, function, &[shape; 3]);
    let any = explain(&attention::FUNCTION, &model());
    let known = explain(&attention_of_32::FUNCTION, &model());
    assert_eq!((&any.class, &any.sizes), (&known.class, &known.sizes));
    let variants: Vec<&str> = legal(&known).into_iter().filter(|name| !name.starts_with("scalar")).collect();
    assert!(variants.len() > 2, "{variants:?}");
    for variant in variants {
        assert!(legal(&any).contains(&variant), "{variant}");
        let tuning = model().with_table(table(&known.class, &known.sizes, &[variant]));
        let chosen = explain(&attention_of_32::FUNCTION, &tuning);
        assert_eq!(chosen.chosen.as_deref(), Some(variant));
        assert!(matches!(chosen.decision, Some(Decision::Table { .. })), "{:?}", chosen.decision);
    }
}

#[test]
fn sizes_far_from_a_tables_are_estimated() {
    let device = device();
    let slow = table(CLASS, &[1, 64, 64, 64], &["scalar tile 32x32x16"]);
    let near = explain(&device, &model().with_table(slow.clone()), &product::FUNCTION, &[&[64, 128], &[128, 64]]);
    assert_eq!(near.chosen.as_deref(), Some("scalar tile 32x32x16"));
    // Twice the depth counts half, in the square of the distance.
    let Some(Decision::Table { distance, .. }) = near.decision else { panic!("{:?}", near.decision) };
    assert_eq!(distance, 0.5_f64.sqrt());
    let far = explain(&device, &model().with_table(slow), &product::FUNCTION, &[&[1024, 1024], &[1024, 1024]]);
    assert_eq!(far.decision, Some(Decision::Estimate));
}

#[test]
fn a_programs_table_comes_before_others() {
    let device = device();
    let shapes: [&[usize]; 2] = [&[64, 64], &[64, 64]];
    let sizes = [1, 64, 64, 64];
    let tuning = Tuning::default().with_table(table(CLASS, &sizes, &["tile 16x64x32"]));
    assert_eq!(explain(&device, &tuning, &product::FUNCTION, &shapes).chosen.as_deref(), Some("tile 16x64x32"));
    // Later tables take precedence over earlier ones.
    let tuning = tuning.with_table(table(CLASS, &sizes, &["tile 32x32x32"]));
    assert_eq!(explain(&device, &tuning, &product::FUNCTION, &shapes).chosen.as_deref(), Some("tile 32x32x32"));
    let tuning = tuning.with_table(table("another class", &sizes, &["tile 32x32x32"]));
    assert_eq!(explain(&device, &tuning, &product::FUNCTION, &shapes).chosen.as_deref(), Some("tile 32x32x32"));
    let tuned = Device::builder().tuning(tuning).build_blocking().unwrap();
    let explanation = only_kernel(tuned.explain(&product::FUNCTION, &shapes).unwrap());
    assert_eq!(explanation.chosen.as_deref(), Some("tile 32x32x32"));
}

#[test]
fn overrides_choose_the_closest_variant_that_may_run() {
    let device = device();
    let shapes: [&[usize]; 2] = [&[256, 256], &[256, 256]];
    let chosen = |tuning: &Tuning| explain(&device, tuning, &product::FUNCTION, &shapes);
    let small = chosen(&Tuning::native().tile_size(32).workgroup_size(64));
    assert_eq!(small.decision, Some(Decision::Override));
    assert!(small.chosen.as_deref().is_some_and(|name| name.contains("32x32")), "{small:?}");
    let large = chosen(&Tuning::native().tile_size(128));
    assert!(large.chosen.as_deref().is_some_and(|name| name.contains("128x128")), "{large:?}");
    let (x, w) = (matrix(&device, [40, 24]), matrix(&device, [24, 56]));
    let expected = product(&x, &w).unwrap().to_vec_blocking().unwrap();
    for invocations in [0, 1, 64, 100_000] {
        let tuning = Tuning::firefox().workgroup_size(invocations).tile_size(invocations);
        let y = device.with_tuning(&tuning, || product(&x, &w)).unwrap().to_vec_blocking().unwrap();
        assert!(y.iter().zip(&expected).all(|(y, x)| (y - x).abs() < 1e-4), "{invocations}");
    }
}

#[test]
fn a_priors_environment_decides_among_equals_only() {
    let device = device();
    // Sizes of the measurements, if this adapter has any.
    let tables = Table::built_in();
    let table = |name: &str| tables.iter().find(|table| table.name() == name).expect("a built-in table");
    let (mut by_prior, mut all) = (0, 0);
    for n in [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1000, 1024] {
        let shapes: [&[usize]; 2] = [&[n, n], &[n, n]];
        let modeled = explain(&device, &model(), &product::FUNCTION, &shapes);
        let estimate = |kernel: &KernelExplanation| {
            let chosen = kernel.chosen.clone().unwrap();
            kernel.variants.iter().find(|(name, _)| *name == chosen).unwrap().1.clone().unwrap()
        };
        for tuning in [Tuning::firefox(), Tuning::safari(), Tuning::chrome(), Tuning::edge()] {
            all += 1;
            let chosen = explain(&device, &tuning, &product::FUNCTION, &shapes);
            match &chosen.decision {
                Some(Decision::Prior { name }) => {
                    by_prior += 1;
                    assert_eq!(table(name).environment(), Some(tuning.environment()), "{name}");
                    assert_ne!(chosen.chosen, modeled.chosen);
                    assert!(estimate(&chosen) <= 1.25 * estimate(&modeled), "{n}: {chosen:?}");
                }
                Some(Decision::Estimate | Decision::Only) => assert_eq!(chosen.chosen, modeled.chosen),
                Some(Decision::Table { name, status, .. }) => {
                    let of = table(name);
                    assert_eq!((*status, of.environment()), (Status::Measured, Some(tuning.environment())), "{name}");
                    assert!(of.adapters().is_some(), "{name}");
                }
                other => panic!("a browser's choice by {other:?}"),
            }
        }
    }
    assert!(by_prior > 0 && by_prior < all, "{by_prior} of {all}");
}

#[test]
fn tunings_hold_for_their_closure_and_thread() {
    let device = device();
    let shapes: [&[usize]; 2] = [&[64, 64], &[64, 64]];
    let chosen = || only_kernel(device.explain(&product::FUNCTION, &shapes).unwrap()).chosen.unwrap();
    let by = |name| Tuning::native().with_table(table(CLASS, &[1, 64, 64, 64], &[name]));
    let (outer, inner) = (by("scalar tile 64x64x16"), by("scalar tile 32x32x16"));
    let default = chosen();
    device.with_tuning(&outer, || {
        assert_eq!(chosen(), "scalar tile 64x64x16");
        device.with_tuning(&inner, || assert_eq!(chosen(), "scalar tile 32x32x16"));
        assert_eq!(chosen(), "scalar tile 64x64x16");
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(chosen(), default));
        });
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            device.with_tuning(&inner, || std::panic::resume_unwind(Box::new("expected")))
        }));
        assert!(panicked.is_err());
        assert_eq!(chosen(), "scalar tile 64x64x16");
        let other = self::device();
        let of_other = only_kernel(other.explain(&product::FUNCTION, &shapes).unwrap());
        assert_eq!(of_other.chosen.as_deref(), Some(&*default), "another device has its own tuning");
    });
    assert_eq!(chosen(), default);
    // Launches cache plans of both.
    let x = matrix(&device, [64, 64]);
    let launch = || drop(product(&x, &x).unwrap());
    launch();
    device.with_tuning(&inner, launch);
    let pipelines = device.pipelines();
    launch();
    device.with_tuning(&inner, launch);
    assert_eq!(device.pipelines(), pipelines);
}

#[test]
fn the_search_finds_what_it_says_and_its_table_is_used() {
    let device = device();
    let (x, w) = (matrix(&device, [32, 64]), matrix(&device, [64, 32]));
    let shapes: [&[usize]; 2] = [&[32, 64], &[64, 32]];
    let expected = gelu_product(&x, &w).unwrap().to_vec_blocking().unwrap();
    let mut rounds = vec![];
    let args = [Arg::from(&x), Arg::from(&w)];
    let search = Search::default().name("mine").on_progress(|progress| rounds.push(progress.round));
    let table = device.tune(gelu_product::KERNELS, &args, search).unwrap();
    assert!(rounds.contains(&0) && rounds.contains(&7), "{rounds:?}");
    assert_eq!((table.name(), table.status()), ("mine", Status::Measured));
    assert_eq!(table.measured().unwrap().adapter, device.info().name);
    let entry = table.entry("contraction f32·f32 depth·outer computed", &[1, 32, 32, 64]).expect("an entry");
    assert!(entry.schedules.iter().all(|(_, relative)| (1.0..CUT_OFF).contains(relative)), "{entry:?}");
    let plans = table.entries().iter().find(|entry| entry.class.starts_with("plan gelu_product ")).expect("a plan");
    let best: usize = plans.schedules[0].0.strip_prefix("alternative ").unwrap().parse().unwrap();

    let file = std::env::temp_dir().join(format!("fuse-tuning-{}.toml", std::process::id()));
    table.save(&file).unwrap();
    let loaded = Table::load(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(loaded.entries(), table.entries());

    let tuning = Tuning::default().with_table(loaded);
    let explanation = device.with_tuning(&tuning, || device.explain(&gelu_product::FUNCTION, &shapes)).unwrap();
    assert_eq!(explanation.alternative, best, "{explanation}");
    let y = device.with_tuning(&tuning, || gelu_product(&x, &w)).unwrap().to_vec_blocking().unwrap();
    assert!(y.iter().zip(&expected).all(|(y, x)| (y - x).abs() < 1e-4));
    // Entries for a plan apply to its exact sizes and function only.
    let other: [&[usize]; 2] = [&[32, 64], &[64, 36]];
    let by = |tuning: &Tuning| device.with_tuning(tuning, || device.explain(&gelu_product::FUNCTION, &other)).unwrap();
    assert_eq!(by(&tuning).alternative, by(&model()).alternative);
}

#[test]
fn a_search_ends_in_time_and_refuses_what_it_cannot_measure() {
    let device = device();
    let x = matrix(&device, [16, 16]);
    let args = [Arg::from(&x), Arg::from(&x)];
    let nothing = device.tune(product::KERNELS, &args, Search::default().budget(Duration::ZERO)).unwrap();
    assert!(nothing.entries().is_empty());
    let wrong = device.tune(product::KERNELS, &args[..1], Search::default()).unwrap_err();
    assert!(matches!(wrong, Error::Count { .. }), "{wrong}");
    let captured = device.capture(|| device.tune(product::KERNELS, &args, Search::default())).unwrap_err();
    assert!(matches!(captured, Error::Capturing { .. }), "{captured}");
    let other = self::device().tune(product::KERNELS, &args, Search::default()).unwrap_err();
    assert!(matches!(other, Error::DifferentDevices { .. }), "{other}");
}

#[test]
fn a_file_of_the_device_is_used_if_it_is_its_own() {
    let file = std::env::temp_dir().join(format!("fuse-file-{}.toml", std::process::id()));
    let open = || Device::builder().tuning_file(&file).build_blocking().unwrap();
    let first = open();
    assert_eq!(first.tuning_problem(), None, "there is no file yet");
    let x = matrix(&first, [16, 16]);
    let own = first.tune(product::KERNELS, &[Arg::from(&x), Arg::from(&x)], Search::default()).unwrap();
    own.save(&file).unwrap();
    let second = open();
    assert_eq!(second.tuning_problem(), None);
    let explanation = only_kernel(second.explain(&product::FUNCTION, &[&[16, 16], &[16, 16]]).unwrap());
    assert!(matches!(&explanation.decision, Some(Decision::Table { name, .. }) if name.starts_with("fuse-file")));
    own.clone().for_adapters(vec!["another adapter".into()]).save(&file).unwrap();
    let foreign = open();
    let problem = foreign.tuning_problem().expect("a problem").to_string();
    assert!(problem.contains("fuse-file") && problem.contains("another adapter"), "{problem}");
    std::fs::write(&file, &own.text()[..200]).unwrap();
    assert!(matches!(open().tuning_problem(), Some(Error::Table { .. })));
    assert!(product(&matrix(&foreign, [8, 8]), &matrix(&foreign, [8, 8])).is_ok());
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_task_tunes_without_blocking_and_keeps_the_table_as_a_text() {
    pollster::block_on(async {
        let device = Device::new().await.expect("an adapter");
        let x = matrix(&device, [16, 16]);
        let args = [Arg::from(&x), Arg::from(&x)];
        let mut rounds = vec![];
        let search = Search::default().on_progress(|progress| rounds.push(progress.round));
        let found = device.tune_async(product::KERNELS, &args, search).await.unwrap();
        assert!(rounds.contains(&0) && rounds.contains(&7), "{rounds:?}");
        let entry = found.entry(CLASS, &[1, 16, 16, 16]).expect("an entry");
        assert!(entry.microseconds > 0.0 && entry.schedules[0].1 == 1.0, "{entry:?}");

        let open = |text: String| Device::builder().tuning_text("kept", text).build();
        let second = open(found.text()).await.unwrap();
        assert_eq!(second.tuning_problem(), None);
        let explanation = only_kernel(second.explain(&product::FUNCTION, &[&[16, 16], &[16, 16]]).unwrap());
        assert!(matches!(&explanation.decision, Some(Decision::Table { name, .. }) if name == "kept"));
        let foreign = open(found.clone().for_adapters(vec!["another adapter".into()]).text()).await.unwrap();
        let problem = foreign.tuning_problem().expect("a problem").to_string();
        assert!(problem.contains("kept") && problem.contains("another adapter"), "{problem}");
        assert!(matches!(open("format = 9".into()).await.unwrap().tuning_problem(), Some(Error::Table { .. })));

        let nothing = Search::default().budget(Duration::ZERO);
        assert!(device.tune_async(product::KERNELS, &args, nothing).await.unwrap().entries().is_empty());
        device.synchronize().await.unwrap();
    });
}

#[test]
fn damaged_files_are_errors_that_name_the_file() {
    let folder = std::env::temp_dir();
    let missing = Table::load(folder.join("no such table.toml")).unwrap_err().to_string();
    assert!(missing.starts_with("tuning table `") && missing.contains("no such table.toml"), "{missing}");
    let file = folder.join(format!("fuse-damaged-{}.toml", std::process::id()));
    for (text, part) in [
        ("format = 1\nstatus = \"measured\"\n", "where and when"),
        ("format = 1\nstatus = \"prior\"\n[[entry]]\nclass = \"c\"\n", "sizes"),
        ("fuse pipeline cache", "line 1"),
        ("format = 9\nstatus = \"prior\"\n", "expected 1, found 9"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = Table::load(&file).unwrap_err().to_string();
        assert!(error.contains("fuse-damaged") && error.contains(part), "{error}");
    }
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(Table::load(&file).is_err());
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_schedule_that_a_table_does_not_know_may_win() {
    let device = device();
    let shapes: [&[usize]; 2] = [&[256, 256], &[256, 256]];
    let modeled = explain(&device, &model(), &product::FUNCTION, &shapes);
    let best = modeled.chosen.clone().unwrap();
    // The table measured one other variant only.
    let other = legal(&modeled).into_iter().find(|name| *name != best).unwrap();
    let (class, sizes) = (&modeled.class, &modeled.sizes);
    let chosen = |family: &[&str]| {
        let entry =
            format!("class = \"{class}\"\nsizes = {sizes:?}\nmicroseconds = 1.0\nschedules = [[\"{other}\", 1.0]]");
        let text = format!("[[family]]\nschedules = {family:?}\n[[entry]]\nfamily = 1\n{entry}\n");
        let table = Table::parse("by hand", &format!("format = 1\nstatus = \"prior\"\n{text}")).unwrap();
        explain(&device, &model().with_table(table), &product::FUNCTION, &shapes).chosen.unwrap()
    };
    assert_eq!(chosen(&[other]), best, "nobody has measured it, and the model takes it for faster");
    assert_eq!(chosen(&legal(&modeled)), other, "it was measured, and slow");
}
