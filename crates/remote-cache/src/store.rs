//! The object store at an address. Credentials come from the environment, by the names that the store's own tools use.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use runner::ArtifactId;
use url::Position;

use crate::client::Connector;
use crate::error::Error;
use crate::settings::{IDENTITY_ENDPOINT, Settings, shown};

/// The folder of this layout of objects in a store. Others can be added beside it.
const LAYOUT: &str = "v1";

/// An object store, and the place of the entries in it.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl Store {
    /// Opens the store of `settings`; makes no request.
    ///
    /// # Errors
    /// If the address is not that of a store, or the variables with its settings can't be used.
    pub(crate) fn open(settings: &Settings) -> Result<Self, Error> {
        let url = &settings.url;
        let unusable = |error: object_store::Error| {
            let why = crate::trouble::Trouble::Store(error).words();
            Error::new(
                format!("the store {} (cache.remote.url) can't be used: {why}", shown(url)),
                "docs/remote-cache.md has an address and the variables for each kind of store",
            )
        };
        let connector = Connector::new(&settings.headers, settings.timeout)?;
        let (objects, path): (Arc<dyn ObjectStore>, &str) = match url.scheme() {
            "s3" => {
                let builder = AmazonS3Builder::new().with_url(url.as_str()).with_retry(once());
                let builder = configured(settings, builder, AmazonS3Builder::with_config);
                (Arc::new(builder.with_http_connector(connector).build().map_err(unusable)?), url.path())
            }
            "gs" => {
                let builder = GoogleCloudStorageBuilder::new().with_url(url.as_str()).with_retry(once());
                let builder = configured(settings, builder, GoogleCloudStorageBuilder::with_config);
                (Arc::new(builder.with_http_connector(connector).build().map_err(unusable)?), url.path())
            }
            "az" => {
                let builder = MicrosoftAzureBuilder::new().with_url(url.as_str()).with_retry(once());
                let builder = configured(settings, builder, MicrosoftAzureBuilder::with_config);
                let builder = match settings.variables.get(IDENTITY_ENDPOINT) {
                    Some(endpoint) => builder.with_msi_endpoint(endpoint),
                    None => builder,
                };
                (Arc::new(builder.with_http_connector(connector).build().map_err(unusable)?), url.path())
            }
            "http" | "https" => {
                let options = ClientOptions::new().with_allow_http(url.scheme() == "http");
                let builder = HttpBuilder::new().with_url(&url[..Position::BeforePath]).with_retry(once());
                let store = builder.with_client_options(options).with_http_connector(connector).build();
                (Arc::new(store.map_err(unusable)?), url.path())
            }
            "file" => (local(settings)?, ""),
            other => {
                return Err(Error::new(
                    format!("cache.remote.url has the unknown scheme {other:?}"),
                    "write s3://, gs://, az://, https://, http:// or file://",
                ));
            }
        };
        let prefix = Path::from_url_path(path).map_err(|error| unusable(error.into()))?;
        Ok(Store { objects, prefix: prefix.join(LAYOUT) })
    }

    /// The object of an entry.
    pub(crate) fn entry(&self, id: &ArtifactId) -> Path {
        self.place(&["entries"], id)
    }

    /// The object of the lease of an entry.
    pub(crate) fn lease(&self, id: &ArtifactId) -> Path {
        self.place(&["leases"], id)
    }

    /// A small object of this name in a folder.
    pub(crate) fn object(&self, folder: &str, name: &str) -> Path {
        self.prefix.clone().join(folder).join(name)
    }

    /// An object that is never there. Asking for it shows whether the store answers.
    pub(crate) fn probe(&self) -> Path {
        self.prefix.clone().join("probe")
    }

    fn place(&self, folder: &[&str], id: &ArtifactId) -> Path {
        let ArtifactId { bucket, target, key } = id;
        let parts = folder.iter().copied().chain([bucket.name(), *target, key.as_str()]);
        parts.fold(self.prefix.clone(), Path::join)
    }
}

/// Applies the variables that are settings of the store: `AWS_REGION` is its setting `aws_region`.
fn configured<B, K: FromStr>(settings: &Settings, builder: B, with: impl Fn(B, K, String) -> B) -> B {
    settings.variables.iter().fold(builder, |builder, (name, value)| {
        match name.to_ascii_lowercase().parse() {
            Ok(key) => with(builder, key, value.clone()),
            Err(_) => builder,
        }
    })
}

/// No second attempt: the caller does not wait for one.
fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, retry_timeout: Duration::ZERO, ..RetryConfig::default() }
}

fn local(settings: &Settings) -> Result<Arc<dyn ObjectStore>, Error> {
    let failed = |why: String| {
        let message = format!("the folder {} (cache.remote.url) can't be used: {why}", settings.url.path());
        Error::new(message, "create it, and let this user write to it")
    };
    let path = settings.url.to_file_path();
    let path = path.map_err(|()| failed("it is not a path of this machine".to_owned()))?;
    if settings.key.is_some() {
        fs_err::create_dir_all(&path).map_err(|error| failed(error.to_string()))?;
    }
    let store = LocalFileSystem::new_with_prefix(path).map_err(|error| failed(error.to_string()))?;
    Ok(Arc::new(store))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use runner::Bucket;
    use url::Url;

    use super::*;

    fn settings(url: &str) -> Settings {
        Settings {
            url: Url::parse(url).unwrap(),
            headers: BTreeMap::new(),
            variables: BTreeMap::new(),
            key: None,
            public_keys: Vec::new(),
            timeout: crate::DEFAULT_TIMEOUT,
        }
    }

    #[test]
    fn addresses_of_all_kinds_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("file://{}", folder.path().display());
        for url in ["s3://bucket/a/b", "gs://bucket", "https://host/a/", "http://host:81/a", &file] {
            Store::open(&settings(url)).unwrap_or_else(|error| panic!("{url}: {error}"));
        }
        let error = Store::open(&settings("ftp://host/a")).unwrap_err();
        assert!(error.to_string().contains("unknown scheme \"ftp\""), "{error}");
    }

    #[test]
    fn objects_are_below_the_prefix() {
        let store = Store::open(&settings("s3://bucket/a/b/")).unwrap();
        let id = ArtifactId { bucket: Bucket::Programs, target: "target", key: "key".to_owned() };
        assert_eq!(store.entry(&id).as_ref(), "a/b/v1/entries/programs-v1/target/key");
        assert_eq!(store.lease(&id).as_ref(), "a/b/v1/leases/programs-v1/target/key");
    }

    #[test]
    fn a_folder_is_created_only_by_who_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let url = format!("file://{}", path.display());
        assert!(Store::open(&settings(&url)).is_err());
        assert!(!path.exists());
    }
}
