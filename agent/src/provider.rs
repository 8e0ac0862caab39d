//! Models behind the APIs of providers.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::model::{ChatModel, Heard, ModelError, ModelErrorKind, Reply, Request};
use crate::settings::ModelSettings;

/// A model behind the API of a provider.
#[derive(Debug)]
pub struct Provider {
    settings: ModelSettings,
}

impl Provider {
    /// A model that can be asked.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn new(settings: ModelSettings) -> Result<Self, String> {
        Ok(Provider { settings })
    }
}

impl ChatModel for Provider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn reply<'a>(&'a self, _: &'a Request<'a>, _: &'a dyn Heard) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let model = self.settings.name.clone();
        async { Err(ModelError { model, kind: ModelErrorKind::Refused, message: "not yet".to_owned() }) }
            .boxed()
    }
}
