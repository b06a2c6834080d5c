//! Functions with the attribute `#[webnn]`, run by the browser's WebNN instead of WebGPU.
//!
//! `recording` collects launches, `graph` builds one `MLGraph` per function and shapes, `exchange` moves values: inputs
//! come from the GPU, results in use afterwards return there. Without a [`WebNn`], `navigator.ml` is never read.

mod exchange;
mod graph;
pub(crate) mod open;
pub(crate) mod recording;
mod script;

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use js_sys::Object;

use crate::{
    api::{
        device::Device,
        webnn::{
            graph::{Key, build},
            recording::Job,
            script::{Owned, call, set, settled},
        },
    },
    context::{browser::identity::property, error::Error},
};

/// Programs with changing shapes must not collect them forever.
const MAX_GRAPHS: usize = 256;

/// Hints about WebNN to the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebNnOptions {
    /// Speed or energy.
    pub power: WebNnPower,
    /// Prefers the processor to a GPU or an NPU.
    pub processor: bool,
}

/// Speed or energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebNnPower {
    /// The browser decides.
    #[default]
    Default,
    /// Speed.
    High,
    /// Energy.
    Low,
}

/// The browser's WebNN, for the tensors of one [`Device`].
pub struct WebNn {
    device: Device,
    context: Owned,
    graphs: RefCell<HashMap<Key, Rc<Owned>>>,
}

impl WebNn {
    /// Requests WebNN from the browser.
    ///
    /// ```ignore
    /// let webnn = WebNn::new(&device, WebNnOptions::default()).await;
    /// let y = match &webnn {
    ///     Ok(webnn) => webnn.run(|| layer(&x, &w, &b)).await?,
    ///     Err(_) => layer(&x, &w, &b)?, // by WebGPU
    /// };
    /// ```
    ///
    /// # Errors
    /// [`Error::NoWebNn`] if the browser has none or gives no context; the program is otherwise unaffected.
    pub async fn new(device: &Device, options: WebNnOptions) -> Result<Self, Error> {
        let none = |reason: String| Error::NoWebNn { reason };
        let missing = || none("this browser has no `navigator.ml`".to_owned());
        let navigator = property(&js_sys::global(), "navigator").ok_or_else(missing)?;
        let ml = property(&navigator, "ml").ok_or_else(missing)?;
        let request = Object::new();
        let power = match options.power {
            WebNnPower::Default => "default",
            WebNnPower::High => "high-performance",
            WebNnPower::Low => "low-power",
        };
        set(&request, "powerPreference", &power.into());
        set(&request, "accelerated", &(!options.processor).into());
        let promise = call(&ml, "createContext", &[request.into()]);
        let context = match promise {
            Ok(promise) => settled(promise).await,
            Err(reason) => Err(reason),
        };
        let context = Owned(context.map_err(|reason| none(format!("`createContext` failed: {reason}")))?);
        Ok(Self { device: device.clone(), context, graphs: RefCell::default() })
    }

    async fn graph(&self, job: &Job, stored: Vec<Vec<usize>>) -> Result<Rc<Owned>, Error> {
        let key = Key::new(job, stored);
        if let Some(graph) = self.graphs.borrow().get(&key) {
            return Ok(Rc::clone(graph));
        }
        let graph = build(&self.context.0, job, &key.stored).await.map_err(|reason| job.error(reason))?;
        let mut graphs = self.graphs.borrow_mut();
        if graphs.len() >= MAX_GRAPHS {
            graphs.clear();
        }
        Ok(Rc::clone(graphs.entry(key).or_insert_with(|| Rc::new(Owned(graph)))))
    }
}
