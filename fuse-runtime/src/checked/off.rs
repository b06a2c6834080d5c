//! Without the feature.

use std::sync::Arc;

use crate::{Error, plan::Label};

/// Nothing.
#[derive(Debug)]
pub(crate) enum Checks {}

impl Checks {
    pub(crate) fn open(_: &wgpu::Device, _: bool) -> Result<Option<Arc<Self>>, Error> {
        Ok(None)
    }

    pub(crate) fn instrumented(&self, _: &str, _: &Label) -> String {
        match *self {}
    }

    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        match *self {}
    }

    pub(crate) fn group(&self) -> &wgpu::BindGroup {
        match *self {}
    }
}
