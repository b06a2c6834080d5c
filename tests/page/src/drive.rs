//! Actions of a visitor, and their expected results.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fantoccini::{Client, Locator, key::Key};
use serde_json::Value;
use tokio::time::sleep;

use crate::browser::Browser;

/// Timeout of any step: software adapters on busy machines are slow.
const PATIENCE: Duration = Duration::from_secs(300);

/// Small operands: the tuner soon compares all variants.
const TUNED: &str = "softmax_rows";

const TABLES: &str = "return Object.keys(localStorage).filter((key) => key.startsWith('fuse tuning, ')).length";

const EMBEDDING_BOUND: f64 = 1e-4;

pub(crate) async fn without_webgpu(client: &Client, page: &str, browser: Browser) -> anyhow::Result<()> {
    client.goto(page).await?;
    state(client, "body", "failed").await?;
    let expected = match browser {
        Browser::Chromium => "No adapter could be opened.",
        Browser::Firefox => "This browser has no WebGPU.",
    };
    let title = text(client, "#trouble-title").await?;
    ensure!(title == expected, "without WebGPU: expected `{expected}`, found `{title}`");
    ensure!(!text(client, "#trouble-advice").await?.is_empty(), "without WebGPU: no advice");
    println!("without WebGPU: {title}");
    Ok(())
}

/// Uses every part of the page once.
pub(crate) async fn first_visit(client: &Client, page: &str) -> anyhow::Result<()> {
    client.set_window_size(1100, 900).await?;
    client.goto(page).await?;
    state(client, "body", "ready").await?;
    println!("adapter: {}", text(client, "#adapter").await?);
    playground(client).await.context("playground")?;
    webnn(client).await.context("WebNN")?;
    search(client).await.context("search")?;
    tuner(client).await.context("tuner")
}

/// Returns to the page: the tuner's result is used, and then forgotten.
pub(crate) async fn second_visit(client: &Client) -> anyhow::Result<()> {
    kept_table(client).await.context("second visit")
}

pub(crate) async fn explain(client: &Client) {
    for part in ["#adapter", "#trouble", "#play .status", "#search .status", "#tune .status", "#kept"] {
        if let Ok(text) = text(client, part).await {
            eprintln!("{part}: {text}");
        }
    }
}

async fn playground(client: &Client) -> anyhow::Result<()> {
    for (tab, expected) in [("source", "relu(matmul(x, w) + b + r)"), ("plan", "dispatches: 1"), ("wgsl", "@compute")] {
        click(client, &format!("#tab-{tab}")).await?;
        contains(client, "#text", expected).await?;
    }
    click(client, "#tab-source").await?;
    click(client, "#play-form button[type=submit]").await?;
    settled(client, "#play").await?;
    let said = text(client, "#play .status").await?;
    println!("playground: {said}");
    ensure!(said.contains(" fused, ") && said.contains("Results "), "no result: {said}");
    click(client, "#play-all").await?;
    settled(client, "#play").await?;
    println!("playground: {}", text(client, "#play .status").await?);
    let bars = script(client, "return document.querySelectorAll('#chart rect').length").await?;
    ensure!(bars == 12, "expected two bars for each of 6 kernels, found {bars}");
    println!("{}", attribute(client, "#chart svg", "aria-label").await?.replace("; ", "\n"));
    Ok(())
}

/// The page reports a missing WebNN backend and goes on.
async fn webnn(client: &Client) -> anyhow::Result<()> {
    click(client, "#play-webnn").await?;
    settled(client, "#play").await?;
    let said = text(client, "#play .status").await?;
    println!("playground: {said}");
    ensure!(said.starts_with("No WebNN here: "), "expected no WebNN: {said}");
    Ok(())
}

async fn search(client: &Client) -> anyhow::Result<()> {
    click(client, "#model-form button[type=submit]").await?;
    settled(client, "#search").await?;
    let query = client.find(Locator::Css("#query")).await?;
    query.clear().await?;
    // The return key searches.
    query.send_keys("someone makes music").await?;
    query.send_keys(&String::from(char::from(Key::Enter))).await?;
    settled(client, "#search").await?;
    println!("search: {}", text(client, "#search .status").await?);
    let best = text(client, "#hits li").await?;
    println!("search: {}", best.replace('\n', " "));
    let music = ["violin", "drums", "orchestra", "choir"];
    ensure!(music.iter().any(|word| best.contains(word)), "`someone makes music` found `{best}`");

    click(client, "#compare").await?;
    settled(client, "#search").await?;
    println!("search: {}", text(client, "#search .status").await?);
    let difference = script(client, "return Number(document.querySelector('#search').dataset.difference)").await?;
    let difference = difference.as_f64().context("no difference")?;
    ensure!(difference <= EMBEDDING_BOUND, "embeddings differ by {difference:.1e}, more than {EMBEDDING_BOUND:.0e}");
    Ok(())
}

async fn tuner(client: &Client) -> anyhow::Result<()> {
    choose(client, "#tune-kernel", TUNED).await?;
    choose(client, "#tune-seconds", "60").await?;
    click(client, "#tune-form button[type=submit]").await?;
    settled(client, "#tune").await?;
    println!("tuner: {}", text(client, "#tune .status").await?);
    // The default may be the best: then there is no gain.
    for plot in client.find_all(Locator::Css("#gain:not([hidden]) svg")).await? {
        println!("tuner: {}", plot.attr("aria-label").await?.context("a plot without a description")?);
    }
    ensure!(text(client, "#kept").await?.starts_with("Kept: "), "the table is not kept");
    ensure!(script(client, TABLES).await? == 1, "no table in local storage");
    Ok(())
}

async fn kept_table(client: &Client) -> anyhow::Result<()> {
    client.refresh().await?;
    state(client, "body", "ready").await?;
    let using = text(client, "#kept").await?;
    println!("tuner, after a reload: {using}");
    ensure!(using.starts_with("Using a table"), "the table is not used: {using}");
    click(client, &format!("#kernels label:has([value={TUNED}])")).await?;
    click(client, "#tab-plan").await?;
    contains(client, "#text", "this browser").await?;

    click(client, "#forget").await?;
    contains(client, "#kept", "No table is kept").await?;
    ensure!(script(client, TABLES).await? == 0, "the table is still in local storage");
    let gone = || async { Ok(!text(client, "#text").await?.contains("this browser")) };
    until("the plan without the table", gone).await
}

async fn settled(client: &Client, section: &str) -> anyhow::Result<()> {
    let busy = || async { Ok(data_state(client, section).await? != "busy") };
    until(&format!("the end of `{section}`"), busy).await?;
    let found = data_state(client, section).await?;
    ensure!(found == "done", "{section} is {found}: {}", text(client, &format!("{section} .status")).await?);
    Ok(())
}

async fn state(client: &Client, element: &str, wanted: &str) -> anyhow::Result<()> {
    let end = || async { Ok(["ready", "failed"].contains(&&*data_state(client, element).await?)) };
    until(&format!("`{element}` to be {wanted}"), end).await?;
    let found = data_state(client, element).await?;
    ensure!(found == wanted, "expected `{element}` to be {wanted}, found {found}");
    Ok(())
}

async fn contains(client: &Client, element: &str, wanted: &str) -> anyhow::Result<()> {
    let found = || async { Ok(text(client, element).await?.contains(wanted)) };
    until(&format!("`{wanted}` in `{element}`"), found).await
}

async fn until<F: Future<Output = anyhow::Result<bool>>>(
    what: &str,
    mut there: impl FnMut() -> F,
) -> anyhow::Result<()> {
    let start = Instant::now();
    while !there().await? {
        ensure!(start.elapsed() < PATIENCE, "waited {} s for {what}", PATIENCE.as_secs());
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn data_state(client: &Client, element: &str) -> anyhow::Result<String> {
    attribute(client, element, "data-state").await
}

async fn attribute(client: &Client, element: &str, name: &str) -> anyhow::Result<String> {
    Ok(client.find(Locator::Css(element)).await?.attr(name).await?.unwrap_or_default())
}

/// Complete text, including parts out of view.
async fn text(client: &Client, element: &str) -> anyhow::Result<String> {
    let found = client.find(Locator::Css(element)).await?.prop("textContent").await?;
    Ok(found.unwrap_or_default().trim().to_owned())
}

async fn click(client: &Client, element: &str) -> anyhow::Result<()> {
    let enabled = || async { Ok(client.find(Locator::Css(element)).await?.is_enabled().await?) };
    until(&format!("`{element}` to be enabled"), enabled).await?;
    client.find(Locator::Css(element)).await?.click().await.with_context(|| format!("cannot click `{element}`"))
}

async fn choose(client: &Client, list: &str, value: &str) -> anyhow::Result<()> {
    client
        .find(Locator::Css(list))
        .await?
        .select_by_value(value)
        .await
        .with_context(|| format!("`{list}` has no `{value}`"))
}

async fn script(client: &Client, text: &str) -> anyhow::Result<Value> {
    client.execute(text, vec![]).await.with_context(|| format!("`{text}` failed"))
}
