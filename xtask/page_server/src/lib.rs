//! Serves folders to browsers on this machine, and weighs files as servers send them.

use std::{
    fs,
    io::{self, Write},
    net::SocketAddr,
    path::{Component, Path, PathBuf},
    sync::Arc,
    thread,
};

use anyhow::{Context, anyhow};
use tiny_http::{Request, Server};

/// Browsers give precise clocks to isolated pages, and must not cache what was just built.
const HEADERS: &[(&str, &str)] = &[
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    ("Cache-Control", "no-store"),
];

/// Browsers compile modules while loading only with the right type.
const KINDS: &[(&str, &str)] = &[
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("wasm", "application/wasm"),
    ("css", "text/css"),
    ("svg", "image/svg+xml"),
    ("json", "application/json"),
];

/// Several, so that a large file does not delay others.
const THREADS: usize = 4;

/// Serves a folder until the process ends.
///
/// # Errors
/// If the port is taken.
pub fn serve(folder: &Path, port: u16) -> anyhow::Result<()> {
    let (server, address) = listen(port)?;
    println!("\nserving `{}` at http://{address} until Ctrl-C", folder.display());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| answer(&server, folder));
        }
    });
    Ok(())
}

/// Serves a folder on a free port in the background; returns the address.
///
/// # Errors
/// If there is no free port.
pub fn serve_beside(folder: &Path) -> anyhow::Result<SocketAddr> {
    let (server, address) = listen(0)?;
    let server = Arc::new(server);
    for _ in 0..THREADS {
        let (server, folder) = (Arc::clone(&server), folder.to_owned());
        thread::spawn(move || answer(&server, &folder));
    }
    Ok(address)
}

fn listen(port: u16) -> anyhow::Result<(Server, SocketAddr)> {
    let server = Server::http(("127.0.0.1", port))
        .map_err(|error| anyhow!("cannot listen on port {port}: {error}\nhelp: `--port 0` takes a free one"))?;
    let address = server.server_addr().to_ip().context("the server has no address")?;
    Ok((server, address))
}

fn answer(server: &Server, folder: &Path) {
    for request in server.incoming_requests() {
        drop(send_file(request, folder));
    }
}

/// Answers with the file of a URL.
///
/// # Errors
/// If the connection is closed.
pub fn send_file(request: Request, folder: &Path) -> io::Result<()> {
    match file(folder, request.url()).and_then(|path| Some((fs::read(&path).ok()?, kind(&path)))) {
        Some((body, kind)) => respond(request, "200 OK", kind, &body),
        None => respond(request, "404 Not Found", "text/plain", b"not found"),
    }
}

/// Sends an answer and closes the connection.
///
/// Each connection takes a thread of the server. Without one, a connection would wait until another closes, which
/// browsers do after minutes.
///
/// # Errors
/// If the connection is closed.
pub fn respond(request: Request, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in HEADERS {
        head += &format!("{name}: {value}\r\n");
    }
    let mut writer = request.into_writer();
    writer.write_all((head + "Connection: close\r\n\r\n").as_bytes())?;
    writer.write_all(body)?;
    writer.flush()
}

/// Never outside of the folder.
fn file(folder: &Path, url: &str) -> Option<PathBuf> {
    let path = Path::new(url.split(['?', '#']).next()?.trim_start_matches('/'));
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let file = folder.join(path);
    inside.then(|| if file.is_dir() { file.join("index.html") } else { file })
}

/// Bytes as sent: brotli of the highest quality.
pub fn compressed(bytes: &[u8]) -> usize {
    let (quality, window) = (11, 24);
    let mut compressed = vec![];
    let mut writer = brotli::CompressorWriter::new(&mut compressed, 1 << 16, quality, window);
    drop(writer.write_all(bytes));
    drop(writer);
    compressed.len()
}

fn kind(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    KINDS.iter().find(|(known, _)| *known == extension).map_or("application/octet-stream", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(file(folder, "/src/lib.rs?x=1"), Some(folder.join("src/lib.rs")));
        assert_eq!(file(folder, "/"), Some(folder.join("index.html")));
        assert_eq!(file(folder, "/../Cargo.toml"), None);
        assert_eq!(file(folder, "/src/../../Cargo.toml"), None);
    }

    #[test]
    fn modules_are_called_what_they_are() {
        assert_eq!(
            [kind(Path::new("a.wasm")), kind(Path::new("a.bin"))],
            ["application/wasm", "application/octet-stream"]
        );
    }

    #[test]
    fn files_come_over_the_network_with_their_headers() {
        let address = serve_beside(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let agent = ureq::Agent::new_with_defaults();
        // More requests than threads: none waits for another.
        for _ in 0..2 * THREADS {
            let mut answer = agent.get(format!("http://{address}/Cargo.toml")).call().unwrap();
            for (name, value) in HEADERS {
                assert_eq!(answer.headers()[*name], *value);
            }
            assert!(answer.body_mut().read_to_string().unwrap().starts_with("[package]"));
        }
        assert!(agent.get(format!("http://{address}/nothing")).call().is_err());
    }
}
