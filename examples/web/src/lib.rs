//! A page that shows `fuse!` on the visitor's adapter: a playground of kernels, a semantic search, and the tuner.
//!
//! Data flow: messages of the page (`page/engine.js`) -> `Engine` -> `gallery` (kernels and operands), `race` (times),
//! `webnn`, `search` or `tuner` -> JSON. `cargo xtask web serve` builds and serves it.
#![cfg(target_arch = "wasm32")]

mod gallery;
mod race;
mod search;
mod tuner;
mod webnn;

use std::{cell::RefCell, time::Duration};

use anyhow::Context as _;
use fuse_gpu::{Device, Environment, Table};
use js_sys::Function;
use serde_json::{Value, json};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

use crate::{
    gallery::{ENTRIES, Output, Size, entry},
    race::race,
    search::Search,
};

const TOP: usize = 5;

/// A device and the page's state. Methods return JSON, async ones as promises
/// (`wasm_bindgen_futures`); the page calls one at a time.
#[wasm_bindgen]
pub struct Engine {
    device: Device,
    search: RefCell<Option<Search>>,
    table: RefCell<Option<Table>>,
    /// Why a stored table is not used.
    problem: Option<String>,
}

#[wasm_bindgen]
impl Engine {
    /// Opens the visitor's adapter. `keep` maps a key of browser and adapter to an earlier visit's table, if any.
    pub async fn open(keep: Function) -> Result<Engine, JsError> {
        Self::opened(keep).await.map_err(error)
    }

    /// Adapter, kernels, and table.
    pub fn describe(&self) -> String {
        let info = self.device.info();
        let kernels: Vec<Value> = ENTRIES.iter().map(|entry| self.listed(entry)).collect();
        let adapter = if info.name.is_empty() { "An adapter that the browser does not name" } else { &info.name };
        let adapter = json!({
            "name": adapter,
            "browser": Environment::present().name(),
            "kind": info.kind.name(),
            "software": info.kind == fuse_gpu::AdapterKind::Software,
            "f16": info.features.f16,
            "subgroups": info.features.subgroups > 0,
        });
        json!({ "adapter": adapter, "kernels": kernels, "table": self.table(), "problem": self.problem }).to_string()
    }

    /// Source, plan and shaders.
    pub fn inspect(&self, kernel: &str, size: &str) -> Result<String, JsError> {
        self.inspected(kernel, size).map_err(error)
    }

    /// Times of a kernel and its unfused version, and their results' difference.
    pub async fn measure(&self, kernel: String, size: String, progress: Function) -> Result<String, JsError> {
        self.measured(&kernel, &size, &progress).await.map_err(error)
    }

    /// Times by WebNN and WebGPU, or why there is no WebNN.
    pub async fn webnn(&self, kernel: String, size: String, progress: Function) -> Result<String, JsError> {
        self.by_webnn(&kernel, &size, &progress).await.map_err(error)
    }

    /// Opens the model.
    pub fn open_model(&self, weights: ModelFile, tokenizer: &str) -> Result<(), JsError> {
        let search = Search::open(&self.device, &weights.bytes, tokenizer.as_bytes()).map_err(error)?;
        self.search.replace(Some(search));
        Ok(())
    }

    /// Lines closest in meaning to a query.
    pub async fn find(&self, query: String, text: String, progress: Function) -> Result<String, JsError> {
        let search = self.model().map_err(error)?;
        let found = search.find(&query, &text, TOP, |done, of| tell(&progress, "embedding", share(done, of))).await;
        self.search.replace(Some(search));
        found.map(|found| found.to_string()).map_err(error)
    }

    /// Largest difference from known embeddings.
    pub async fn compare(&self, known: String, progress: Function) -> Result<String, JsError> {
        let search = self.model().map_err(error)?;
        let found = search.compare(&known, |done, of| tell(&progress, "embedding", share(done, of))).await;
        self.search.replace(Some(search));
        found.map(|found| found.to_string()).map_err(error)
    }

    /// Searches a kernel's fastest variants. Returns the table and its key.
    pub async fn tune(
        &self,
        kernel: String,
        size: String,
        seconds: f64,
        progress: Function,
    ) -> Result<String, JsError> {
        self.tuned(&kernel, &size, seconds, &progress).await.map_err(error)
    }

    /// Drops the table: built-in choices apply again.
    pub fn forget(&self) {
        self.table.replace(None);
    }
}

impl Engine {
    async fn opened(keep: Function) -> anyhow::Result<Self> {
        let device = Device::new().await?;
        let key = key(&device);
        let kept = keep.call1(&JsValue::NULL, &key.into()).ok().and_then(|text| text.as_string());
        let (device, table, problem) = match kept {
            None => (device, None, None),
            Some(text) => {
                // Rejects tables of other adapters with a reason.
                let device = Device::builder().tuning_text(tuner::NAME, text.as_str()).build().await?;
                let problem = device.tuning_problem().map(ToString::to_string);
                let table = if problem.is_none() { Table::parse(tuner::NAME, &text).ok() } else { None };
                (device, table, problem)
            }
        };
        Ok(Self { device, search: RefCell::default(), table: RefCell::new(table), problem })
    }

    fn listed(&self, entry: &gallery::Entry) -> Value {
        let kernels = (entry.kernels)();
        let variants: usize = kernels.iter().map(|kernel| kernel.variants.len()).sum();
        json!({
            "id": entry.id,
            "title": entry.title,
            "summary": entry.summary,
            "dispatches": kernels.len(),
            "parts": entry.parts,
            "variants": variants,
        })
    }

    /// For the page to show and to store.
    fn table(&self) -> Value {
        let table = self.table.borrow();
        let Some(table) = &*table else { return Value::Null };
        json!({
            "key": key(&self.device),
            "text": table.text(),
            "entries": table.entries().len(),
            "date": table.measured().map(|measured| measured.date.clone()),
        })
    }

    fn inspected(&self, kernel: &str, size: &str) -> anyhow::Result<String> {
        let entry = entry(kernel)?;
        let sample = (entry.sample)(&self.device, Size::named(size)?)?;
        let explanation = entry.explain(&self.device, &tuner::tuning(self.table.borrow().as_ref()), &*sample)?;
        let function = entry.chosen(&explanation);
        let dispatch = |(kernel, explained): (&fuse_gpu::artifact::Kernel, &fuse_gpu::KernelExplanation)| {
            let variant = kernel.variants.iter().find(|variant| Some(&*variant.name) == explained.chosen.as_deref());
            let texts: Vec<_> = variant.iter().flat_map(|v| v.passes.iter()).map(|pass| pass.wgsl.text()).collect();
            json!({
                "kernel": kernel.name,
                "variant": explained.chosen,
                "decision": explained.decision.as_ref().map(ToString::to_string),
                "class": explained.class,
                "workgroups": explained.workgroups,
                "possible": explained.variants.iter().filter(|(_, verdict)| verdict.is_ok()).count(),
                "variants": explained.variants.len(),
                "wgsl": texts,
            })
        };
        let dispatches: Vec<Value> = function.kernels.iter().zip(&explanation.kernels).map(dispatch).collect();
        let [source, parts] = entry.sources();
        let shapes: Vec<String> = sample.shapes().iter().map(|shape| format!("{shape:?}")).collect();
        let plan = function.plan.to_string();
        let inspected =
            json!({ "source": source, "parts": parts, "plan": plan, "shapes": shapes, "dispatches": dispatches });
        Ok(inspected.to_string())
    }

    async fn measured(&self, kernel: &str, size: &str, progress: &Function) -> anyhow::Result<String> {
        let entry = entry(kernel)?;
        let tuning = tuner::tuning(self.table.borrow().as_ref());
        let sample = (entry.sample)(&self.device, Size::named(size)?)?;
        tell(progress, "compiling", 0.0);
        let fused = || self.device.with_tuning(&tuning, || sample.fused());
        let unfused = || self.device.with_tuning(&tuning, || sample.unfused());
        let difference = apart(&fused()?, &unfused()?).await?;
        let (fused, unfused) = (|| fused().map(drop), || unfused().map(drop));
        let times = race(&self.device, [&fused, &unfused], |done, of| tell(progress, "measuring", share(done, of)));
        let [fused, unfused] = times.await?;
        let side = |times: &race::Times| json!({ "ms": times.median(), "samples": times.samples });
        let measured = json!({ "fused": side(&fused), "unfused": side(&unfused), "difference": difference });
        Ok(measured.to_string())
    }

    async fn by_webnn(&self, kernel: &str, size: &str, progress: &Function) -> anyhow::Result<String> {
        let sample = (entry(kernel)?.sample)(&self.device, Size::named(size)?)?;
        let done = |done, of| tell(progress, "measuring", share(done, of));
        Ok(webnn::compare(&self.device, &*sample, done).await?.to_string())
    }

    async fn tuned(&self, kernel: &str, size: &str, seconds: f64, progress: &Function) -> anyhow::Result<String> {
        let (entry, size) = (entry(kernel)?, Size::named(size)?);
        let budget = Duration::try_from_secs_f64(seconds).context("expected a number of seconds")?;
        // Outside its cell while tasks run, and put back in any case.
        let mut table = self.table.take();
        let found =
            tuner::tune(&self.device, entry, size, budget, &mut table, |what, share| tell(progress, what, share));
        let found = found.await;
        self.table.replace(table);
        let mut found = found?;
        found["table"] = self.table();
        Ok(found.to_string())
    }

    fn model(&self) -> anyhow::Result<Search> {
        self.search.take().context("the model is not there yet: load it first")
    }
}

/// A file in parts, in memory allocated at the start.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ModelFile {
    bytes: Vec<u8>,
}

#[wasm_bindgen]
impl ModelFile {
    /// A file of `size` bytes; 0 if unknown.
    #[wasm_bindgen(constructor)]
    pub fn new(size: usize) -> Result<ModelFile, JsError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| JsError::new("there is not enough memory for the model"))?;
        Ok(Self { bytes })
    }

    /// Adds the next part.
    pub fn push(&mut self, part: &[u8]) -> Result<(), JsError> {
        self.bytes.try_reserve(part.len()).map_err(|_| JsError::new("there is not enough memory for the model"))?;
        self.bytes.extend_from_slice(part);
        Ok(())
    }
}

/// Measurements hold for one browser on one adapter.
fn key(device: &Device) -> String {
    let info = device.info();
    let name = if info.name.is_empty() { "unnamed" } else { &info.name };
    format!("fuse tuning, {}, {name}", Environment::present().name())
}

async fn apart(a: &Output, b: &Output) -> anyhow::Result<f32> {
    let (a, b) = (a.values().await?, b.values().await?);
    anyhow::ensure!(a.len() == b.len(), "results of {} and {} numbers", a.len(), b.len());
    anyhow::ensure!(a.iter().chain(&b).all(|x| x.is_finite()), "a result is not finite");
    let magnitude = b.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    Ok(a.iter().zip(&b).fold(0.0f32, |most, (a, b)| most.max((a - b).abs())) / magnitude)
}

/// The listener's errors are ignored.
fn tell(progress: &Function, what: &str, share: f64) {
    drop(progress.call2(&JsValue::NULL, &what.into(), &share.into()));
}

fn share(done: usize, of: usize) -> f64 {
    done as f64 / of.max(1) as f64
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn error(error: anyhow::Error) -> JsError {
    JsError::new(&format!("{error:#}"))
}
