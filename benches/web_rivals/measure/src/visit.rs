//! Visits: serves a page to a browser until it reports a result.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail, ensure};
use fuse_page_server::{respond, send_file};
use serde_json::Value;
use tiny_http::{Method, Request, Server};

use crate::driver::Session;

/// How often to check that the browser runs.
const GLANCE: Duration = Duration::from_secs(15);

/// Serves a folder and receives reports, until the process ends.
pub(super) struct Site {
    address: String,
    said: Receiver<Said>,
}

enum Said {
    Progress(String),
    Result(String),
}

impl Site {
    pub(super) fn open(folder: PathBuf) -> anyhow::Result<Self> {
        let server = Server::http(("127.0.0.1", 0)).map_err(|error| anyhow!("cannot listen on a port: {error}"))?;
        let address = server.server_addr().to_ip().context("the server has no address")?;
        let (sender, said) = mpsc::channel();
        thread::spawn(move || {
            for request in server.incoming_requests() {
                answer(request, &folder, &sender);
            }
        });
        Ok(Self { address: format!("http://{address}"), said })
    }

    pub(super) fn visit(&self, session: &Session<'_>, page: &str, most: Duration) -> anyhow::Result<Value> {
        self.said.try_iter().for_each(drop);
        let start = Instant::now();
        session.open(&format!("{}/{page}", self.address))?;
        loop {
            match self.said.recv_timeout(GLANCE) {
                Ok(Said::Progress(text)) => println!("    {text}"),
                Ok(Said::Result(text)) => return outcome(page, &text),
                Err(RecvTimeoutError::Timeout) => session.check().with_context(|| format!("`{page}` has no result"))?,
                Err(RecvTimeoutError::Disconnected) => bail!("the server of `{page}` ended"),
            }
            ensure!(start.elapsed() < most, "`{page}` had no result after {} s", most.as_secs());
        }
    }
}

/// May be an error.
fn outcome(page: &str, text: &str) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_str(text).with_context(|| format!("the result of `{page}` is no JSON"))?;
    match value["error"].as_str() {
        Some(error) => bail!("`{page}` failed: {error}\n{}", value["stack"].as_str().unwrap_or_default()),
        None => Ok(value),
    }
}

fn answer(mut request: Request, folder: &Path, sender: &Sender<Said>) {
    drop(if *request.method() == Method::Post {
        let mut text = String::new();
        let heard = request.as_reader().read_to_string(&mut text).is_ok();
        let said = if request.url() == "/result" { Said::Result(text) } else { Said::Progress(text) };
        drop(sender.send(said));
        respond(request, if heard { "200 OK" } else { "400 Bad Request" }, "text/plain", &[])
    } else {
        send_file(request, folder)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_may_fail() {
        assert_eq!(outcome("a.html", "{\"cases\": []}").unwrap()["cases"], serde_json::json!([]));
        let error = outcome("a.html", "{\"error\": \"no adapter\"}").unwrap_err().to_string();
        assert!(error.starts_with("`a.html` failed: no adapter"), "{error}");
        assert!(outcome("a.html", "no JSON").is_err());
    }

    #[test]
    fn pages_are_heard() {
        let site = Site::open(Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()).unwrap();
        let agent = ureq::Agent::new_with_defaults();
        agent.post(format!("{}/progress", site.address)).send("half").unwrap();
        agent.post(format!("{}/result", site.address)).send("{}").unwrap();
        assert!(matches!(site.said.recv().unwrap(), Said::Progress(text) if text == "half"));
        assert!(matches!(site.said.recv().unwrap(), Said::Result(text) if text == "{}"));
        let manifest = agent.get(format!("{}/Cargo.toml", site.address)).call().unwrap();
        assert_eq!(manifest.headers()["cross-origin-opener-policy"], "same-origin");
    }
}
