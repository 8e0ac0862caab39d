//! Macros that declare each configuration key once: documentation, alias, type, default.
//!
//! `form!` declares what a file is decoded into, with its JSON Schema; `record!` adds the checked values with
//! defaults filled in; `section!` adds how keys of a stronger layer override those of a weaker one. The types of keys
//! are in `key_types`.

use serde_json::Value as Json;

/// The type of a key: how its text becomes a checked value.
pub trait Kind {
    /// The checked value.
    type Value;

    /// Returns the checked value, with defaults filled in.
    fn value(self) -> Self::Value;
}

/// A type whose values can be written into a configuration.
pub(crate) trait Written: Kind {
    /// The value as it is written in a configuration.
    fn written(value: &Self::Value) -> Json;
}

/// A key that several layers may set.
pub(crate) trait Merge {
    /// Returns `self`, completed from the weaker layer.
    fn over(self, weaker: Self) -> Self;
}

impl<K: Kind> Kind for Option<K> {
    type Value = Option<K::Value>;

    fn value(self) -> Self::Value {
        self.map(Kind::value)
    }
}

impl<T> Merge for Option<T> {
    fn over(self, weaker: Self) -> Self {
        self.or(weaker)
    }
}

impl<K: Kind> Kind for Vec<K> {
    type Value = Vec<K::Value>;

    fn value(self) -> Self::Value {
        self.into_iter().map(Kind::value).collect()
    }
}

impl<K: Written> Written for Vec<K> {
    fn written(value: &Self::Value) -> Json {
        value.iter().map(K::written).collect()
    }
}

/// The type that a key is decoded into; a key with a default is optional.
macro_rules! decoded {
    ($kind:ty) => { $kind };
    ($kind:ty, $default:expr) => { Option<$kind> };
}

/// The value of a key, or its default.
macro_rules! filled {
    ($key:expr, $kind:ty) => {
        <$kind as $crate::key_macros::Kind>::value($key)
    };
    ($key:expr, $kind:ty, $default:expr) => {
        $key.map_or_else(|| $default, <$kind as $crate::key_macros::Kind>::value)
    };
}

/// Declares what a part of a file is decoded into, with its JSON Schema. `or` gives a key an alias.
macro_rules! form {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),*)])?
        $(#[serde($($options:tt)*)])*
        $form:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($($option:tt)*)])*
                $key:ident $(or $alias:literal)? : $kind:ty $(= $default:expr)?,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize, schemars::JsonSchema $($(, $derived)*)?)]
        #[serde(deny_unknown_fields)]
        $(#[serde($($options)*)])*
        #[allow(unreachable_pub, reason = "the types of public records name it")]
        pub struct $form {
            $(
                $(#[doc = $doc])*
                $(#[serde($($option)*)])*
                $(#[serde(alias = $alias)] #[schemars(extend("x-alias" = $alias))])?
                $(#[schemars(extend(
                    "default" = <$kind as $crate::key_macros::Written>::written(&$default)
                ))])?
                pub(super) $key: $crate::key_macros::decoded!($kind $(, $default)?),
            )*
        }
    };
}

/// Declares a form and the struct of its checked values.
macro_rules! record {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),*)])?
        $(#[serde($($options:tt)*)])*
        $record:ident from $form:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($($option:tt)*)])*
                $key:ident $(or $alias:literal)? : $kind:ty $(= $default:expr)?,
            )*
        }
    ) => {
        $crate::key_macros::form! {
            $(#[doc = $about])*
            $(#[derive($($derived),*)])?
            $(#[serde($($options)*)])*
            $form {
                $(
                    $(#[doc = $doc])*
                    $(#[serde($($option)*)])*
                    $key $(or $alias)? : $kind $(= $default)?,
                )*
            }
        }

        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(unreachable_pub, reason = "other crates use most of the records, but not all")]
        pub struct $record {
            $(
                $(#[doc = $doc])*
                pub $key: <$kind as $crate::key_macros::Kind>::Value,
            )*
        }

        impl $crate::key_macros::Kind for $form {
            type Value = $record;

            fn value(self) -> $record {
                $record { $($key: $crate::key_macros::filled!(self.$key, $kind $(, $default)?),)* }
            }
        }
    };
}

/// Declares a record that layers merge key by key.
macro_rules! section {
    (
        $(#[doc = $about:literal])*
        $(#[serde($($options:tt)*)])*
        $section:ident from $form:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($($option:tt)*)])*
                $key:ident $(or $alias:literal)? : $kind:ty $(= $default:expr)?,
            )*
        }
    ) => {
        $crate::key_macros::record! {
            $(#[doc = $about])*
            #[derive(Default)]
            #[serde(default)]
            $(#[serde($($options)*)])*
            $section from $form {
                $(
                    $(#[doc = $doc])*
                    $(#[serde($($option)*)])*
                    $key $(or $alias)? : $kind $(= $default)?,
                )*
            }
        }

        impl $crate::key_macros::Merge for $form {
            fn over(self, weaker: Self) -> Self {
                $form { $($key: $crate::key_macros::Merge::over(self.$key, weaker.$key),)* }
            }
        }

        impl Default for $section {
            fn default() -> Self {
                $crate::key_macros::Kind::value($form::default())
            }
        }
    };
}

/// Types whose checked value is the decoded one.
macro_rules! plain {
    ($($type:ty),* $(,)?) => { $(
        impl $crate::key_macros::Kind for $type {
            type Value = Self;

            fn value(self) -> Self {
                self
            }
        }

        impl $crate::key_macros::Written for $type {
            fn written(value: &Self) -> serde_json::Value {
                serde_json::json!(value)
            }
        }
    )* };
}

pub(super) use {decoded, filled, form, plain, record, section};
