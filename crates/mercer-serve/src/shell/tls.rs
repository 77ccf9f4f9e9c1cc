//! TLS from files: a certificate chain and its key, in PEM. The files are read again when they change, as certificates are
//! renewed every few weeks; connections that are open keep the certificate they began with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::watched::Watched;

/// Accepts TLS connections, by the certificate as it is now.
pub(super) struct Tls(Watched<TlsAcceptor>);

impl Tls {
    pub(super) fn read(chain: &Path, key: &Path) -> Result<Self, String> {
        Watched::new(vec![chain.to_owned(), key.to_owned()], acceptor).map(Tls)
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.0.get()
    }
}

fn acceptor(files: &[PathBuf]) -> Result<TlsAcceptor, String> {
    let (chain, key) = (&files[0], &files[1]);
    let wrong = |file: &Path, why: String| format!("{}: {why}", file.display());
    let read = CertificateDer::pem_file_iter(chain).map_err(|e| wrong(chain, e.to_string()))?;
    let certificates = read.collect::<Result<Vec<_>, _>>().map_err(|e| wrong(chain, e.to_string()))?;
    if certificates.is_empty() {
        return Err(wrong(chain, "no certificate, expected a chain in PEM".into()));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| wrong(key, e.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_no_client_auth()
        .with_single_cert(certificates, secret)
        .map_err(|e| wrong(chain, e.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
