//! A server of one folder, for browsers on this machine.

use std::{
    fs::File,
    net::SocketAddr,
    path::{Component, Path, PathBuf},
    sync::Arc,
    thread,
};

use anyhow::{Context, anyhow};
use tiny_http::{Header, Response, Server};

/// What every answer says besides its content: browsers give exact clocks to pages that are isolated from others, and load
/// what was just built.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    ("Cache-Control", "no-store"),
];

/// The kinds of files on pages. Browsers compile modules while they load only if they are called so.
const KINDS: &[(&str, &str)] = &[
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("wasm", "application/wasm"),
    ("css", "text/css"),
    ("svg", "image/svg+xml"),
    ("json", "application/json"),
];

/// Requests that are answered at once: a large file leaves the others waiting otherwise.
const THREADS: usize = 4;

/// Serves a folder until the process ends.
///
/// # Errors
/// When the port is taken.
pub(crate) fn serve(folder: &Path, port: u16) -> anyhow::Result<()> {
    let (server, address) = listen(port)?;
    println!("\nserving `{}` at http://{address} until Ctrl-C", folder.display());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| answer(&server, folder));
        }
    });
    Ok(())
}

/// Serves a folder on a free port while this process does something else; the address.
///
/// # Errors
/// When there is no free port.
pub(crate) fn serve_beside(folder: &Path) -> anyhow::Result<SocketAddr> {
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
        let found = file(folder, request.url()).and_then(|path| Some((File::open(&path).ok()?, kind(&path))));
        // Visitors who leave early are no errors of ours.
        drop(match found {
            Some((file, kind)) => request.respond(with_headers(Response::from_file(file), kind)),
            None => request.respond(Response::from_string("not found").with_status_code(404)),
        });
    }
}

/// The file of a URL, never outside of the folder.
pub(super) fn file(folder: &Path, url: &str) -> Option<PathBuf> {
    let path = Path::new(url.split(['?', '#']).next()?.trim_start_matches('/'));
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let file = folder.join(path);
    inside.then(|| if file.is_dir() { file.join("index.html") } else { file })
}

pub(super) fn kind(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    KINDS.iter().find(|(known, _)| *known == extension).map_or("application/octet-stream", |(_, kind)| kind)
}

fn with_headers(response: Response<File>, kind: &str) -> Response<File> {
    let headers = HEADERS.iter().copied().chain([("Content-Type", kind)]);
    headers.filter_map(|(name, value)| Header::from_bytes(name, value).ok()).fold(response, Response::with_header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(file(folder, "/src/main.rs?x=1"), Some(folder.join("src/main.rs")));
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
        use std::io::{Read, Write};

        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let response = with_headers(Response::from_file(File::open(folder.join("Cargo.toml")).unwrap()), "text/plain");
        let names: Vec<String> = response.headers().iter().map(|header| header.field.to_string()).collect();
        assert!(HEADERS.iter().all(|(name, _)| names.iter().any(|found| found == name)), "{names:?}");
        let mut bytes = vec![];
        response.into_reader().read_to_end(&mut bytes).unwrap();
        assert!(bytes.starts_with(b"[package]"));
        std::io::sink().write_all(&bytes).unwrap();
    }
}
