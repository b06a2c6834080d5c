//! Screenshots of the page's parts, small enough for a repository.

use std::{fs, path::Path};

use anyhow::{Context, ensure};
use fantoccini::{Client, Locator};

use crate::browser::Browser;

const MOST_BYTES: usize = 200_000;

const PARTS: [(&str, &str); 4] =
    [("header", "header"), ("#play", "playground"), ("#search", "search"), ("#tune", "tuner")];

pub(crate) async fn keep(client: &Client, folder: &Path, browser: Browser) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    // As high as the highest part: drivers crop pictures at the window's end.
    client.set_window_size(860, 1700).await?;
    for (part, name) in PARTS {
        let picture = client.find(Locator::Css(part)).await?.screenshot().await?;
        let file = folder.join(format!("{name}-{}.png", browser.name()));
        ensure!(
            picture.len() <= MOST_BYTES,
            "`{}` would have {} bytes, more than {MOST_BYTES}",
            file.display(),
            picture.len()
        );
        fs::write(&file, &picture).with_context(|| format!("cannot write `{}`", file.display()))?;
        println!("{}: {} bytes", file.display(), picture.len());
    }
    Ok(())
}
