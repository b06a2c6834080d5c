//! WebDriver: driver processes, and sessions with one page each.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};

use crate::checkout::{Browser, root};

/// WebDriver capabilities of the tests.
const CAPABILITIES: &str = "tests/web/webdriver.json";

const START: Duration = Duration::from_secs(60);
/// Starting a browser on a busy machine takes longest.
const ANSWER: Duration = Duration::from_secs(180);

/// Killed on drop.
pub(super) struct Driver {
    process: Child,
    agent: ureq::Agent,
    address: String,
    capabilities: Value,
}

/// A page's browser, closed on drop.
pub(super) struct Session<'a> {
    driver: &'a Driver,
    id: String,
    /// As the browser reports it.
    pub(super) browser: String,
}

impl Driver {
    /// Profiles and log go to `scratch`.
    pub(super) fn start(browser: Browser, program: &Path, scratch: &Path) -> anyhow::Result<Self> {
        let capabilities = capabilities(browser)?;
        let port =
            TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).context("no free port")?.port();
        let log = File::create(scratch.join("driver.log")).context("cannot write the driver's log")?;
        let mut command = Command::new(program);
        command.arg(format!("--port={port}")).env("TMPDIR", scratch).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        // Without a desktop, Mesa's device chooser prints meaningless errors.
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("NODEVICE_SELECT", "1");
        }
        let process = command.spawn().with_context(|| format!("cannot start `{}`", program.display()))?;
        let config = ureq::Agent::config_builder().timeout_global(Some(ANSWER)).http_status_as_error(false).build();
        let address = format!("http://127.0.0.1:{port}");
        let mut driver = Self { process, agent: config.into(), address, capabilities };
        let start = Instant::now();
        while driver.call("GET", "/status", None).is_err() {
            if let Some(status) = driver.process.try_wait()? {
                bail!("`{}` ended ({status})", program.display());
            }
            if start.elapsed() > START {
                bail!("`{}` did not start within {} s", program.display(), START.as_secs());
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(driver)
    }

    /// With a new profile.
    pub(super) fn session(&self) -> anyhow::Result<Session<'_>> {
        let wanted = json!({ "capabilities": { "alwaysMatch": self.capabilities } });
        let value = self.call("POST", "/session", Some(&wanted)).context("the browser does not start")?;
        let id = value["sessionId"].as_str().context("the driver started a session without an id")?.to_owned();
        let said = |name: &str| value["capabilities"][name].as_str().unwrap_or("unknown").to_owned();
        Ok(Session { driver: self, id, browser: format!("{} {}", said("browserName"), said("browserVersion")) })
    }

    /// Returns the driver's value, or its error.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let address = format!("{}{path}", self.address);
        let mut response = match (method, body) {
            ("POST", Some(body)) => self.agent.post(&address).content_type("application/json").send(body.to_string()),
            ("DELETE", _) => self.agent.delete(&address).call(),
            _ => self.agent.get(&address).call(),
        }
        .with_context(|| format!("{method} {address}"))?;
        let text = response.body_mut().read_to_string().with_context(|| format!("{method} {address}"))?;
        let answer: Value =
            serde_json::from_str(&text).with_context(|| format!("{method} {address} answers with no JSON: {text}"))?;
        match answer["value"]["error"].as_str() {
            Some(error) => {
                Err(anyhow!("{error}: {}", answer["value"]["message"].as_str().unwrap_or("no reason given")))
            }
            None => Ok(answer["value"].clone()),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Session<'_> {
    /// Does not wait.
    pub(super) fn open(&self, address: &str) -> anyhow::Result<()> {
        self.call("POST", "/url", Some(&json!({ "url": address }))).map(drop)
    }

    /// Fails if browser or page has ended.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.call("GET", "/url", None).map(drop).context("the browser ended")
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        self.driver.call(method, &format!("/session/{}{path}", self.id), body)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // A crashed browser has no session to end.
        drop(self.call("DELETE", "", None));
    }
}

/// With exact clocks.
fn capabilities(browser: Browser) -> anyhow::Result<Value> {
    let text =
        fs::read_to_string(root().join(CAPABILITIES)).with_context(|| format!("cannot read `{CAPABILITIES}`"))?;
    let all: Value = serde_json::from_str(&text).with_context(|| format!("`{CAPABILITIES}` is no JSON"))?;
    let name = match browser {
        Browser::Chromium => "goog:chromeOptions",
        Browser::Firefox => "moz:firefoxOptions",
    };
    let mut options = all[name].clone();
    if browser == Browser::Firefox {
        options["args"] = json!(["-headless"]);
        // Firefox rounds its clock to milliseconds by default.
        options["prefs"]["privacy.reduceTimerPrecision"] = json!(false);
    }
    Ok(json!({ name: options, "pageLoadStrategy": "none" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_started_as_for_the_tests() {
        let chromium = capabilities(Browser::Chromium).unwrap();
        let flags = chromium["goog:chromeOptions"]["args"].as_array().unwrap();
        assert!(flags.contains(&json!("--headless")) && chromium.get("moz:firefoxOptions").is_none());
        let firefox = &capabilities(Browser::Firefox).unwrap()["moz:firefoxOptions"];
        assert_eq!(firefox["args"], json!(["-headless"]));
        assert_eq!(firefox["prefs"]["dom.webgpu.enabled"], json!(true));
    }

    #[test]
    fn drivers_that_end_at_once_are_errors() {
        let scratch = std::env::temp_dir().join(format!("fuse-driver-{}", std::process::id()));
        fs::create_dir_all(&scratch).unwrap();
        let program = if cfg!(windows) { "where.exe" } else { "false" };
        let error = Driver::start(Browser::Chromium, Path::new(program), &scratch).err().unwrap().to_string();
        assert!(error.contains("ended"), "{error}");
        fs::remove_dir_all(&scratch).unwrap();
    }
}
