//! The files of the page, inside the binary: compressed once, when the server starts, and known to
//! browsers by a hash of their content (ETag).

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::Arc;

/// The one document; what it shows is decided by its address.
const SHELL: &str = "index.html";
/// The addresses of the shell.
const PLACES: [&str; 6] = ["/", "/cluster", "/lab", "/compare", "/scenarios", "/algorithms"];

/// Every file of `assets/`, by its name: the list is made by `build.rs`.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// A file, ready to be sent.
struct Asset {
    name: &'static str,
    kind: &'static str,
    plain: Bytes,
    compressed: Bytes,
    tag: HeaderValue,
}

pub fn routes() -> Router {
    let assets: Arc<Vec<Asset>> = Arc::new(FILES.iter().map(Asset::of).collect());
    let shell = |State(assets): State<Arc<Vec<Asset>>>, headers: HeaderMap| async move {
        found(&assets, SHELL, &headers)
    };
    let router = PLACES.iter().fold(Router::new(), |router, place| router.route(place, get(shell)));
    router.route("/assets/{name}", get(file)).with_state(assets)
}

async fn file(
    State(assets): State<Arc<Vec<Asset>>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    found(&assets, &name, &headers)
}

fn found(assets: &[Asset], name: &str, headers: &HeaderMap) -> Response {
    match assets.iter().find(|asset| asset.name == name) {
        Some(asset) => asset.answer(headers),
        None => crate::Problem::new(StatusCode::NOT_FOUND, "no such file").into_response(),
    }
}

impl Asset {
    fn of((name, bytes): &(&'static str, &'static [u8])) -> Self {
        let tag = format!("\"{:016x}\"", fingerprint(bytes));
        Self {
            name,
            kind: kind(name),
            plain: Bytes::from_static(bytes),
            compressed: compressed(bytes),
            tag: HeaderValue::try_from(tag).expect("digits in quotes are a header"),
        }
    }

    /// The file, or that it has not changed. Browsers keep it, but ask each time: a new binary at
    /// the same address has other files.
    fn answer(&self, headers: &HeaderMap) -> Response {
        let known = headers.get(header::IF_NONE_MATCH) == Some(&self.tag);
        let mut answer = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.body(headers),
        };
        let kept = [
            (header::ETAG, self.tag.clone()),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
        ];
        answer.headers_mut().extend(kept);
        answer
    }

    fn body(&self, headers: &HeaderMap) -> Response {
        let kind = (header::CONTENT_TYPE, self.kind);
        match takes_gzip(headers) {
            true => {
                let headers = [kind, (header::CONTENT_ENCODING, "gzip")];
                (headers, self.compressed.clone()).into_response()
            }
            false => ([kind], self.plain.clone()).into_response(),
        }
    }
}

/// Whether a client takes compressed answers.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let all = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    let mut codings = all.flat_map(|all| all.split(','));
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(quality.trim(), "q=0" | "q=0.0")
    })
}

/// A file as small as it gets: this is done once.
fn compressed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let _ = encoder.write_all(bytes);
    Bytes::from(encoder.finish().unwrap_or_default())
}

/// FNV-1a: tells one version of a file from the next, and no more is asked of it.
fn fingerprint(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// What a browser must take a file for; it is told not to guess.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_list_is_the_directory() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        let entries = std::fs::read_dir(directory).expect("the assets are there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("a readable entry").file_name().into_string().expect("a plain name")
        };
        let mut there: Vec<String> = entries.map(name).collect();
        there.sort();
        let mut listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        listed.sort();
        assert_eq!(listed, there, "each has a plain name");
        for (name, _) in FILES {
            assert_ne!(kind(name), "application/octet-stream", "{name}: say what it is");
        }
    }

    #[test]
    fn what_is_compressed_is_the_same_file() {
        for asset in FILES.iter().map(Asset::of) {
            let mut again = Vec::new();
            let mut decoder = flate2::read::GzDecoder::new(&asset.compressed[..]);
            decoder.read_to_end(&mut again).expect("it was compressed here");
            assert_eq!(again, asset.plain, "{}", asset.name);
        }
    }

    #[test]
    fn who_does_not_take_gzip_gets_none() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate,gzip"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("") && !takes("xgzip"));
    }
}
