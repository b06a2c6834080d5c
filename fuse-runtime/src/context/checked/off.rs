//! Without the feature: types without values.

use crate::context::{error::Error, label::Label};

#[derive(Clone, Debug)]
pub(crate) enum Checks {}

pub(crate) type SharedChecks = Checks;

impl Checks {
    pub(crate) fn open(_: &wgpu::Device, _: bool) -> Result<Option<SharedChecks>, Error> {
        Ok(None)
    }

    pub(crate) fn numbered(&self, _: &str, _: &Label) -> Option<String> {
        match *self {}
    }

    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        match *self {}
    }

    pub(crate) fn group(&self) -> &wgpu::BindGroup {
        match *self {}
    }
}
