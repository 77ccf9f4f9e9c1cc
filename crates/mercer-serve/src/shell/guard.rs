//! Who may ask: requests with a token where tokens are set, and none that another site's page sends.

use std::borrow::Cow;
use std::net::IpAddr;

use axum::http::{HeaderMap, StatusCode, Version, header};

use super::Tokens;
use crate::error::Refusal;

/// Addresses that need no token: whoever watches over the server has none.
const OPEN: &[&str] = &["/v2/health/live", "/v2/health/ready"];

/// Bytes of an address, at most: what is wrong with it is said with the address in it.
const LONGEST: usize = 8192;

/// Whether a request may go on. A private server trusts whoever reaches it, and nobody but this machine does.
pub(super) fn check(
    path: &str,
    version: Version,
    headers: &HeaderMap,
    tokens: Option<&Tokens>,
    private: bool,
) -> Result<(), Refusal> {
    if path.len() > LONGEST {
        let message = format!("the address has {} bytes, more than {LONGEST}", path.len());
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, message));
    }
    // Where two hosts are named, a proxy may have checked the other one.
    let hosts = headers.get_all(header::HOST).iter().count();
    if hosts > 1 || hosts == 0 && version >= Version::HTTP_11 {
        return Err(Refusal::bad(format!("{hosts} headers `Host`, expected one")));
    }
    if headers
        .get_all(header::TRANSFER_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        let message = "transfer encodings other than `chunked` are not supported; a compressed body has a header `Content-Encoding`";
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, message));
    }
    same_site(headers, private)?;
    if decoded(path).is_none() {
        return Err(Refusal::bad("the path is not percent-encoded UTF-8"));
    }
    let Some(tokens) = tokens.filter(|_| !OPEN.contains(&path)) else { return Ok(()) };
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match given {
        Some(token) if tokens.allow(token) => Ok(()),
        Some(_) => Err(Refusal::new(StatusCode::UNAUTHORIZED, "the token is not valid")),
        None => Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "this server requires a token: pass the header `Authorization: Bearer TOKEN`",
        )),
    }
}

/// A browser says from which site a request comes. A page of another site has no business here, on whatever machine the
/// browser runs. Nor has one whose name was made to point to this machine after it was loaded; a page behind TLS cannot be
/// such a one.
fn same_site(headers: &HeaderMap, private: bool) -> Result<(), Refusal> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let own = origin.split_once("://").is_some_and(|(scheme, authority)| {
        authority.eq_ignore_ascii_case(host) && (!private || scheme == "https" || is_local(host))
    });
    if own {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::FORBIDDEN, "requests from pages of other sites are refused"))
}

/// Whether a host is an address, or this machine by its own name: nobody else can make those point elsewhere.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok()
}

/// What a percent-encoded text stands for; none where that is no text.
pub(crate) fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        plain.push(if byte == b'%' { (16 * digit(rest.next())? + digit(rest.next())?) as u8 } else { byte });
    }
    String::from_utf8(plain).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded_text() {
        for (path, ok) in [
            ("/v2/models/a%20b", true),
            ("/v2/models/%C3%BC", true),
            ("/v2/models/%ff", false),
            ("/v2/models/%C3", false),
            ("/v2/models/%", false),
            ("/v2/models/%g0", false),
        ] {
            assert_eq!(check(path, Version::HTTP_10, &HeaderMap::new(), None, true).is_ok(), ok, "{path}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "127.0.0.1:8000".parse().expect("a host"));
        assert!(check("/", Version::HTTP_11, &headers, None, true).is_ok());
        for (origin, ok) in [
            ("http://127.0.0.1:8000", true),
            ("https://127.0.0.1:8000", true),
            ("http://127.0.0.1:8001", false),
            ("http://evil.example", false),
            ("null", false),
        ] {
            headers.insert(header::ORIGIN, origin.parse().expect("a value"));
            assert_eq!(check("/", Version::HTTP_11, &headers, None, true).is_ok(), ok, "{origin}");
        }
    }

    #[test]
    fn names_that_were_made_to_point_here_are_refused_where_nobody_needs_a_token() {
        for (host, scheme, private, ok) in [
            ("127.0.0.1:8000", "http", true, true),
            ("[::1]:8000", "http", true, true),
            ("localhost:8000", "http", true, true),
            ("lab.localhost", "http", true, true),
            ("evil.example:8000", "http", true, false),
            ("evil.example", "http", true, false),
            ("localhost.evil.example", "http", true, false),
            // Behind a proxy with a certificate of that name, or said to be open.
            ("models.example", "https", true, true),
            ("models.example", "http", false, true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a host"));
            headers.insert(header::ORIGIN, format!("{scheme}://{host}").parse().expect("a value"));
            let got = check("/", Version::HTTP_11, &headers, None, private);
            assert_eq!(got.is_ok(), ok, "{scheme}://{host}");
        }
    }

    #[test]
    fn no_transfer_encoding_but_chunked() {
        for (coding, ok) in
            [("chunked", true), ("Chunked", true), ("gzip, chunked", false), ("identity", false)]
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "here".parse().expect("a host"));
            headers.insert(header::TRANSFER_ENCODING, coding.parse().expect("a value"));
            let status =
                check("/", Version::HTTP_11, &headers, None, true).err().map(|refusal| refusal.status);
            assert_eq!(status, (!ok).then_some(StatusCode::NOT_IMPLEMENTED), "{coding}");
        }
    }

    #[test]
    fn a_request_names_one_host() {
        let mut headers = HeaderMap::new();
        assert!(check("/", Version::HTTP_10, &headers, None, true).is_ok());
        assert!(check("/", Version::HTTP_11, &headers, None, true).is_err());
        headers.append(header::HOST, "here".parse().expect("a host"));
        assert!(check("/", Version::HTTP_11, &headers, None, true).is_ok());
        headers.append(header::HOST, "there".parse().expect("a host"));
        for version in [Version::HTTP_10, Version::HTTP_11] {
            assert!(check("/", version, &headers, None, true).is_err());
        }
    }
}
