//! [`Tunings`]: a device's applied tunings.

use std::sync::{Arc, Mutex};

#[cfg(feature = "tune")]
use crate::{context::error::Error, tune::load::Kept};
use crate::{
    context::{info::DeviceInfo, lock::lock},
    tune::tuning::{Applied, Tuning},
};

/// Limit of tunings besides the device's own.
const MAX_REMEMBERED: usize = 16;

#[derive(Debug)]
pub(crate) struct Tunings {
    pub(crate) own: Arc<Applied>,
    /// Tunings of closures: equal ones share their plans.
    others: Mutex<Vec<Arc<Applied>>>,
    /// Why the program's table is ignored.
    #[cfg(feature = "tune")]
    pub(crate) problem: Option<Error>,
    /// End of the latest measurement.
    #[cfg(feature = "tune")]
    pub(crate) measured: Mutex<Option<web_time::Instant>>,
}

impl Tunings {
    pub(crate) fn new(own: &Tuning, #[cfg(feature = "tune")] kept: Option<&Kept>, info: &DeviceInfo) -> Self {
        let own = own.clone();
        #[cfg(feature = "tune")]
        let (own, problem) = match kept.map(|kept| kept.read(own.environment(), info)) {
            None | Some(Ok(None)) => (own, None),
            Some(Ok(Some(table))) => (own.with_table(table), None),
            Some(Err(problem)) => (own, Some(problem)),
        };
        Self {
            own: Arc::new(Applied::new(&own, info)),
            others: Mutex::default(),
            #[cfg(feature = "tune")]
            problem,
            #[cfg(feature = "tune")]
            measured: Mutex::default(),
        }
    }

    pub(crate) fn applied(&self, tuning: &Tuning, info: &DeviceInfo) -> Arc<Applied> {
        if *tuning == self.own.tuning {
            return Arc::clone(&self.own);
        }
        let mut others = lock(&self.others);
        if let Some(found) = others.iter().find(|other| other.tuning == *tuning) {
            return Arc::clone(found);
        }
        if others.len() >= MAX_REMEMBERED {
            others.remove(0);
        }
        let applied = Arc::new(Applied::new(tuning, info));
        others.push(Arc::clone(&applied));
        applied
    }
}
