//! Macros with the traits that generated types have besides their conversions.

/// The traits of every generated type: serde's, and those of arguments and `emit`.
#[macro_export]
macro_rules! generated {
    ($($name:ident = $shape:literal)+) => {
        $(
            impl $crate::convert::Generated for $name {
                type Shape = $crate::convert::Shape<$shape>;
            }

            impl $crate::convert::Referred for $name {}
            impl $crate::convert::Referred for &$name {}

            impl<T: $crate::convert::FromJson + 'static>
                $crate::convert::Fits<T, $crate::convert::Shape<$shape>> for $name
            {
                #[inline]
                fn fit(self) -> T {
                    $crate::convert::same_shape(self)
                }
            }

            impl<T: $crate::convert::FromJson + 'static>
                $crate::convert::Fits<T, $crate::convert::Shape<$shape>> for &$name
            {
                #[inline]
                fn fit(self) -> T {
                    $crate::convert::same_shape(::std::clone::Clone::clone(self))
                }
            }

            impl $crate::blocks::Emittable for $name {
                fn blocks(&self, take: &mut dyn ::std::ops::FnMut(&$crate::Content)) {
                    $crate::blocks::typed_blocks(self, take);
                }
            }

            impl $crate::convert::serde::Serialize for $name {
                fn serialize<S: $crate::convert::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::std::result::Result<S::Ok, S::Error> {
                    $crate::convert::serialize(self, serializer)
                }
            }

            impl<'de> $crate::convert::serde::Deserialize<'de> for $name {
                fn deserialize<D: $crate::convert::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::std::result::Result<Self, D::Error> {
                    $crate::convert::deserialize(deserializer)
                }
            }
        )+
    };
}

/// The additional traits of every generated string enum: it is parsed from its string, prints as it and compares with
/// strings. Any string converts into those before the semicolon; the others can be parsed.
#[macro_export]
macro_rules! generated_text {
    ($($open:ident)*; $($closed:ident)*) => {
        $(
            $crate::generated_text! { one $open }

            impl ::std::convert::From<&str> for $open {
                #[inline]
                fn from(text: &str) -> Self {
                    match <Self as $crate::convert::GeneratedText>::find(text) {
                        Ok(found) | Err((found, _)) => found,
                    }
                }
            }

            impl ::std::convert::From<::std::string::String> for $open {
                #[inline]
                fn from(text: ::std::string::String) -> Self {
                    text.as_str().into()
                }
            }
        )*
        $(
            $crate::generated_text! { one $closed }

            impl ::std::str::FromStr for $closed {
                type Err = $crate::convert::UnknownText;

                #[inline]
                fn from_str(text: &str) -> ::std::result::Result<Self, Self::Err> {
                    $crate::convert::parse_text(text)
                }
            }
        )*
    };
    (one $name:ident) => {
        impl ::std::cmp::Eq for $name {}

        impl $crate::convert::ToJson for $name {
            #[inline]
            fn to_json(&self) -> $crate::convert::Value {
                $crate::convert::ToJson::to_json(self.as_str())
            }
        }

        impl $crate::convert::FromJson for $name {
            #[inline]
            fn from_json(value: $crate::convert::Value, reader: &mut $crate::convert::Reader) -> Self {
                $crate::convert::read_text(value, reader)
            }
        }

        impl ::std::fmt::Display for $name {
            #[inline]
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl ::std::cmp::PartialEq<str> for $name {
            #[inline]
            #[track_caller]
            fn eq(&self, text: &str) -> bool {
                $crate::convert::is_text::<Self>(self.as_str(), text)
            }
        }

        impl ::std::cmp::PartialEq<&str> for $name {
            #[inline]
            #[track_caller]
            fn eq(&self, text: &&str) -> bool {
                $crate::convert::is_text::<Self>(self.as_str(), text)
            }
        }
    };
}
