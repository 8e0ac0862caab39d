//! Macros with the values that a generated union accepts besides itself: those of its variants.

/// Conversions into a generated enum from the values of its variants, also as arguments. Each variant has a kind, which
/// says which values stand for it, and its type.
#[macro_export]
macro_rules! generated_union {
    ($($name:ident { $($kind:ident $variant:ident($held:ty)),* })*) => {
        $($($crate::generated_union! { $kind $name $variant $held })*)*
    };
    (text $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held:
            ['a] &'a str, ['a, 'b] &'a &'b str, [] ::std::string::String, ['a] &'a ::std::string::String, [] char,
            [] ::std::boxed::Box<str>, ['a] ::std::borrow::Cow<'a, str>
        }
    };
    (one_of_texts $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held:
            ['a] &'a str, [] ::std::string::String, ['a] &'a ::std::string::String, [] $held, ['a] &'a $held
        }
    };
    (integer $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held:
            [] i8, [] i16, [] i32, [] i64, [] isize, [] u8, [] u16, [] u32, [] u64, [] usize,
            ['a] &'a i32, ['a] &'a i64, ['a] &'a u32, ['a] &'a u64, ['a] &'a usize
        }
    };
    (number $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { integer $name $variant $held }
        $crate::generated_union! { from $name $variant $held: [] f32, [] f64, ['a] &'a f64 }
    };
    (boolean $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held: [] bool, ['a] &'a bool }
    };
    (object $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held: [] $held, ['a] &'a $held }
    };
    (map $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held:
            [K, A] ::std::collections::BTreeMap<K, A>, [K, A, S] ::std::collections::HashMap<K, A, S>,
            [K, A, S] $crate::convert::IndexMap<K, A, S>
        }
    };
    (list $name:ident $variant:ident $held:ty) => {
        $crate::generated_union! { from $name $variant $held:
            [A] ::std::vec::Vec<A>, ['a, A] &'a ::std::vec::Vec<A>, ['a, A] &'a [A], [A, const N: usize] [A; N],
            ['a, A, const N: usize] &'a [A; N]
        }
    };
    (from $name:ident $variant:ident $held:ty: $([$($parameter:tt)*] $source:ty),+) => {
        $(
            impl<$($parameter)*> ::std::convert::From<$source> for $name
            where
                $source: $crate::convert::Argument<$held>,
            {
                #[inline]
                fn from(value: $source) -> Self {
                    $name::$variant($crate::convert::Argument::into_argument(value))
                }
            }

            impl<$($parameter)*> $crate::convert::Argument<$name> for $source
            where
                $source: $crate::convert::Argument<$held>,
            {
                #[inline]
                fn into_argument(self) -> $name {
                    self.into()
                }
            }
        )+
    };
}
