//! Browsers and their WebDriver programs.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use clap::ValueEnum;
use fantoccini::{Client, wd::Capabilities};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::time::sleep;

/// One browser is light and one dark, to test both color schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Browser {
    /// Chromium or Chrome, light
    Chromium,
    /// Firefox, dark
    Firefox,
}

impl Browser {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium-light",
            Self::Firefox => "firefox-dark",
        }
    }

    /// Capabilities: the browser's part of a shared file, with additions.
    pub(crate) fn capabilities(self, file: &Path) -> anyhow::Result<Capabilities> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let mut all: Value = serde_json::from_str(&text).with_context(|| format!("`{}` is no JSON", file.display()))?;
        let key = self.key();
        let mut options = all.get_mut(key).with_context(|| format!("`{}` has no `{key}`", file.display()))?.take();
        if self == Self::Firefox {
            options["args"] = json!(["-headless"]);
            options["prefs"]["ui.systemUsesDarkTheme"] = json!(1);
        }
        Ok([(key.to_owned(), options)].into_iter().collect())
    }

    pub(crate) fn without_webgpu(self, mut capabilities: Capabilities) -> Capabilities {
        let Some(options) = capabilities.get_mut(self.key()) else { return capabilities };
        match self {
            Self::Chromium => {
                let arguments = options["args"].as_array().cloned().unwrap_or_default();
                let kept =
                    arguments.into_iter().filter(|word| !word.as_str().is_some_and(|word| word.contains("webgpu")));
                options["args"] = kept.collect();
            }
            Self::Firefox => options["prefs"]["dom.webgpu.enabled"] = json!(false),
        }
        capabilities
    }

    fn key(self) -> &'static str {
        match self {
            Self::Chromium => "goog:chromeOptions",
            Self::Firefox => "moz:firefoxOptions",
        }
    }
}

/// Running driver, killed on drop.
pub(crate) struct Driver {
    process: Child,
    address: String,
}

impl Driver {
    pub(crate) async fn start(program: &Path) -> anyhow::Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?.local_addr()?.port();
        let process = Command::new(program)
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let mut driver = Self { process, address: format!("http://127.0.0.1:{port}") };
        for _ in 0..300 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(driver);
            }
            if let Some(status) = driver.process.try_wait()? {
                bail!("`{}` ended at once ({status})", program.display());
            }
            sleep(Duration::from_millis(100)).await;
        }
        bail!("`{}` does not listen after 30 s", program.display())
    }

    pub(crate) async fn open(&self, capabilities: &Capabilities) -> anyhow::Result<Client> {
        let connector = HttpConnector::new();
        Client::with_capabilities_and_connector(&self.address, capabilities, connector)
            .await
            .context("the driver opens no browser")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The driver is done, whatever fails here.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
