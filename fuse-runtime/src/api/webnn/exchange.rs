//! Transfers of a run's values to and from WebNN.
//!
//! All awaited work comes first: values from the GPU, graphs, memory. Writes, dispatches and reads are issued within
//! one turn of the event loop, so that no other run interferes.

use std::{collections::HashMap, rc::Rc, slice, sync::Arc};

use fuse_artifact::MlOp;
use js_sys::{Object, Uint8Array, wasm_bindgen::JsValue};

use crate::{
    api::{
        capture,
        raw::RawTensor,
        webnn::{
            WebNn,
            graph::{declared, descriptor, input_name, result_name},
            recording::{Arg, Guard, Job},
            script::{Owned, call, set, settled},
        },
    },
    context::error::Error,
};

impl WebNn {
    /// Runs the launches of `work` on this device in WebNN, and returns its value when their results have arrived.
    ///
    /// All must be functions with the attribute `#[webnn]`, called by their wrappers or by `launch_into`. Launches of
    /// other devices run as usual. Operations that would change order with deferred launches are errors, as within
    /// [`Device::capture`](crate::Device::capture).
    ///
    /// Values travel through the host: inputs that `work` did not make, and results in use afterwards.
    ///
    /// # Errors
    /// Those of `work` and its launches, [`Error::WebNn`] with the kernel's name if the browser refuses or fails,
    /// [`Error::Capturing`] within [`Device::capture`](crate::Device::capture) or another `run`, and those of reading
    /// and writing tensors.
    pub async fn run<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        capture::forbid(self.device.context(), "WebNN")?;
        let guard = Guard::open(&self.device)?;
        let result = work()?;
        let jobs = guard.finish();
        let mut exchange = Exchange::default();
        for job in &jobs {
            exchange.add(self, job).await?;
        }
        // Tensors must live until their values have arrived: destroying one rejects its reads.
        exchange.run(self, &jobs)?.arrive().await?;
        drop(exchange);
        Ok(result)
    }
}

#[derive(Default)]
pub(super) struct Exchange<'a> {
    values: Vec<Value<'a>>,
    /// Latest value of each buffer, by storage id.
    latest: HashMap<u64, usize>,
    launches: Vec<Launch<'a>>,
}

struct Value<'a> {
    tensor: Owned,
    content: Content,
    /// First launch that needs it, for messages.
    job: &'a Job,
}

enum Content {
    Host(Vec<u8>),
    Gpu(RawTensor, Vec<u8>),
    Computed(RawTensor),
}

struct Launch<'a> {
    job: &'a Job,
    graph: Rc<Owned>,
    inputs: Object,
    results: Object,
}

pub(super) struct Arriving<'a>(Vec<(RawTensor, &'a Job, JsValue)>);

impl<'a> Exchange<'a> {
    pub(super) async fn add(&mut self, webnn: &WebNn, job: &'a Job) -> Result<(), Error> {
        let (inputs, results) = (Object::new(), Object::new());
        let mut stored = vec![];
        for (param, arg) in job.args.iter().enumerate() {
            // Inputs that no result depends on are not in the graph.
            if !job.graph.operands.iter().any(|operand| operand.op == MlOp::Input(param as u16)) {
                stored.push(vec![]);
                continue;
            }
            let index = match arg {
                Arg::Tensor(raw) => self.read(webnn, job, raw).await?,
                Arg::Scalar { dtype, bytes } => {
                    let tensor = create(webnn, descriptor(declared(*dtype), &[]), "writable").await;
                    self.push(job, tensor, Content::Host(bytes.clone()))?
                }
            };
            let value = &self.values[index];
            set(&inputs, &input_name(param), &value.tensor.0);
            stored.push(value.raw().map_or_else(Vec::new, |raw| raw.shape().to_vec()));
        }
        let graph = webnn.graph(job, stored).await?;
        for (index, raw) in job.results.iter().enumerate() {
            let tensor = create(webnn, descriptor(declared(raw.dtype()), raw.shape()), "readable").await;
            let value = self.push(job, tensor, Content::Computed(raw.clone()))?;
            set(&results, &result_name(index), &self.values[value].tensor.0);
            self.latest.insert(raw.buffer().storage().id, value);
        }
        self.launches.push(Launch { job, graph, inputs, results });
        Ok(())
    }

    async fn read(&mut self, webnn: &WebNn, job: &'a Job, raw: &RawTensor) -> Result<usize, Error> {
        let id = raw.buffer().storage().id;
        if let Some(&index) = self.latest.get(&id) {
            return Ok(index);
        }
        let bytes = raw.to_bytes().await?;
        let tensor = create(webnn, descriptor(declared(raw.dtype()), raw.shape()), "writable").await;
        let index = self.push(job, tensor, Content::Gpu(raw.clone(), bytes))?;
        self.latest.insert(id, index);
        Ok(index)
    }

    fn push(&mut self, job: &'a Job, tensor: Result<Owned, String>, content: Content) -> Result<usize, Error> {
        let tensor = tensor.map_err(|reason| job.error(reason))?;
        self.values.push(Value { tensor, content, job });
        Ok(self.values.len() - 1)
    }

    pub(super) fn run(&self, webnn: &WebNn, jobs: &[Job]) -> Result<Arriving<'a>, Error> {
        let context = &webnn.context.0;
        for Value { tensor, content, job } in &self.values {
            if let Content::Host(bytes) | Content::Gpu(_, bytes) = content {
                let arguments = [tensor.0.clone(), Uint8Array::from(&bytes[..]).into()];
                call(context, "writeTensor", &arguments).map_err(|reason| job.error(reason))?;
            }
        }
        for Launch { job, graph, inputs, results } in &self.launches {
            let arguments = [graph.0.clone(), inputs.into(), results.into()];
            call(context, "dispatch", &arguments).map_err(|reason| job.error(reason))?;
        }
        let mut arriving = vec![];
        for (index, Value { tensor, content, job }) in self.values.iter().enumerate() {
            let Content::Computed(raw) = content else { continue };
            let is_last = self.latest.get(&raw.buffer().storage().id) == Some(&index);
            if is_last && self.is_used_outside(raw, jobs) {
                let promise = call(context, "readTensor", slice::from_ref(&tensor.0));
                arriving.push((raw.clone(), *job, promise.map_err(|reason| job.error(reason))?));
            }
        }
        Ok(Arriving(arriving))
    }

    fn is_used_outside(&self, raw: &RawTensor, jobs: &[Job]) -> bool {
        let own = |other: &&RawTensor| Arc::ptr_eq(other.buffer(), raw.buffer());
        let of_jobs = jobs.iter().flat_map(Job::tensors).filter(own).count();
        let of_values = self.values.iter().filter_map(Value::raw).filter(own).count();
        Arc::strong_count(raw.buffer()) > of_jobs + of_values
    }
}

impl Value<'_> {
    fn raw(&self) -> Option<&RawTensor> {
        match &self.content {
            Content::Host(_) => None,
            Content::Gpu(raw, _) | Content::Computed(raw) => Some(raw),
        }
    }
}

impl Arriving<'_> {
    pub(super) async fn arrive(self) -> Result<(), Error> {
        for (raw, job, promise) in self.0 {
            let read = settled(promise).await.map_err(|reason| job.error(reason))?;
            raw.overwrite(&Uint8Array::new(&read).to_vec())?;
            raw.buffer().set_ready();
        }
        Ok(())
    }
}

async fn create(webnn: &WebNn, descriptor: Object, usage: &str) -> Result<Owned, String> {
    set(&descriptor, usage, &true.into());
    settled(call(&webnn.context.0, "createTensor", &[descriptor.into()])?).await.map(Owned)
}
