//! The errors of a document and of its address.

/// A document that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It has more bytes than this.
    #[error("the OpenAPI document has more than {} MiB, the maximum", .0 >> 20)]
    TooLarge(usize),
    /// Its schemas refer to more parts than this.
    #[error("the schemas of the OpenAPI document refer to more than {0} parts of it, the maximum")]
    TooManyParts(usize),
    /// It is neither JSON nor YAML.
    #[error("the OpenAPI document is neither JSON nor YAML: {0}")]
    Syntax(String),
    /// It has another format.
    #[error("this is not an OpenAPI document: its member `openapi` with the version is missing")]
    NotOpenApi,
    /// It is of Swagger 2.0.
    #[error(
        "the document is of Swagger {0}; convert it to OpenAPI 3, for example with `npx swagger2openapi FILE`"
    )]
    Swagger(String),
    /// Its version is not supported.
    #[error("the document is of OpenAPI {0}; versions 3.0 and 3.1 are supported")]
    Version(String),
    /// It describes nothing to call.
    #[error("the OpenAPI document has no `paths`, so there is nothing to call")]
    NoPaths,
    /// It refers to another document.
    #[error(
        "the OpenAPI document refers to another document (`$ref: {0}`), which is not read; make one document of all, for \
         example with `npx @redocly/cli bundle FILE`"
    )]
    Remote(String),
    /// A reference leads nowhere.
    #[error("the OpenAPI document has no part `{0}`, to which it refers")]
    Dangling(String),
    /// References lead back to themselves.
    #[error("the reference `{0}` of the OpenAPI document only leads to other references")]
    Circular(String),
    /// The file can't be read.
    #[error("can't read the OpenAPI document {path}: {source}")]
    File {
        /// Its path.
        path: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is missing.
    #[error("there is no OpenAPI document {0}; check `openapi`")]
    NoFile(String),
    /// The document can't be fetched.
    #[error("can't fetch the OpenAPI document from {place}: {reason}")]
    Fetch {
        /// The address without its query.
        place: String,
        /// The reason.
        reason: String,
    },
    /// There is no address for requests.
    #[error(
        "the OpenAPI document does not say where its API is ({0}); write `url: https://…` beside `openapi`"
    )]
    NoAddress(String),
    /// The address comes from a document that must not choose where secrets go.
    #[error(
        "the OpenAPI document sends requests to {0}, which the configuration does not name; if that is right, write `url: \
         {0}` beside `openapi`"
    )]
    Unnamed(String),
    /// A header or an address that HTTP can't carry.
    #[error("{0}")]
    Http(String),
}
