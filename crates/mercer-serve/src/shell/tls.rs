//! TLS from files: a certificate chain and its key, in PEM.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// An acceptor of TLS connections.
pub(super) fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, String> {
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
