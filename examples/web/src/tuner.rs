//! Tuning on the visitor's adapter: searches one kernel's variants, and compares the best with the default.

use std::time::Duration;

use fuse_gpu::{Device, Search, Table, Tuning};
use serde_json::{Value, json};

use crate::{
    gallery::{Entry, Size},
    race::{Way, race},
};

/// In explanations.
pub(crate) const NAME: &str = "this browser";

pub(crate) fn tuning(table: Option<&Table>) -> Tuning {
    table.map_or_else(Tuning::default, |table| Tuning::default().with_table(table.clone()))
}

/// Adds a kernel's fastest variants to a table. Returns findings and the gain over the default.
///
/// # Errors
/// Those of launches, and of the search.
pub(crate) async fn tune(
    device: &Device,
    entry: &Entry,
    size: Size,
    budget: Duration,
    table: &mut Option<Table>,
    progress: impl Fn(&str, f64),
) -> anyhow::Result<Value> {
    let sample = (entry.sample)(device, size)?;
    let start = web_time::Instant::now();
    progress("searching", 0.0);
    let search = Search::default().name(NAME).budget(budget).on_progress(|now| {
        let share = start.elapsed().as_secs_f64() / budget.as_secs_f64().max(1e-3);
        progress(&format!("{} {:?}: {}", now.class, now.sizes, now.schedule), share.min(1.0) * 0.8);
    });
    let found = device.tune_async((entry.kernels)(), &sample.args(), search).await?;
    let measured: usize = found.entries().iter().map(|entry| entry.schedules.len()).sum();
    let kernels = found.entries().len();
    match table {
        _ if kernels == 0 => {}
        Some(table) => table.merge(found),
        None => *table = Some(found),
    }

    let choices = [Tuning::default(), tuning(table.as_ref())];
    let names = |tuning: &Tuning| -> anyhow::Result<String> {
        let kernels = entry.explain(device, tuning, &*sample)?.kernels;
        let chosen: Vec<String> = kernels.into_iter().filter_map(|kernel| kernel.chosen).collect();
        Ok(chosen.join(", "))
    };
    let [default, tuned] = [names(&choices[0])?, names(&choices[1])?];
    let launch = |tuning| device.with_tuning(tuning, || sample.fused().map(drop));
    let by = choices.each_ref().map(|tuning| move || launch(tuning));
    let ways: [Way<'_>; 2] = [&by[0], &by[1]];
    let times = race(device, ways, |done, of| progress("comparing", 0.8 + 0.2 * done as f64 / of as f64)).await?;
    Ok(json!({
        "kernels": kernels,
        "schedules": measured,
        "default": { "variant": default, "ms": times[0].median(), "samples": times[0].samples },
        "tuned": { "variant": tuned, "ms": times[1].median(), "samples": times[1].samples },
    }))
}
