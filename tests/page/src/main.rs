//! Drives the page of `examples/web` in a browser, as a visitor would (`cargo xtask web test`).

mod browser;
mod drive;
mod pictures;

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;

use crate::browser::{Browser, Driver};

/// Opens the page, runs a kernel, searches by meaning, tunes, reloads, and fails if anything is not as it should be
#[derive(Parser)]
struct Options {
    /// The browser
    #[arg(long, value_enum)]
    browser: Browser,
    /// The program between this one and the browser
    #[arg(long)]
    driver: PathBuf,
    /// A JSON file with what browsers are started with
    #[arg(long)]
    capabilities: PathBuf,
    /// The address of the page
    #[arg(long)]
    page: String,
    /// Keep screenshots in this folder
    #[arg(long)]
    screenshots: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> anyhow::Result<()> {
    let Options { browser, driver, capabilities, page, screenshots } = options;
    let capabilities = browser.capabilities(capabilities)?;
    let driver = Driver::start(driver).await?;

    let client = driver.open(&browser.without_webgpu(capabilities.clone())).await?;
    let outcome = drive::without_webgpu(&client, page, *browser).await;
    client.close().await?;
    outcome?;

    let client = driver.open(&capabilities).await?;
    let outcome = async {
        drive::first_visit(&client, page).await?;
        if let Some(folder) = screenshots {
            pictures::keep(&client, folder, *browser).await?;
        }
        drive::second_visit(&client).await
    };
    let outcome = outcome.await;
    if outcome.is_err() {
        drive::explain(&client).await;
    }
    client.close().await?;
    outcome
}
