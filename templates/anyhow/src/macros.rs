//! The macros: each creates its error where it is used.

/// An error from a message, a format string with arguments, or another error.
#[macro_export]
macro_rules! anyhow {
    ($($argument:tt)*) => {
        $crate::__private::made($crate::__private::anyhow!($($argument)*))
    };
}

/// An alias of `anyhow!`.
#[macro_export]
macro_rules! format_err {
    ($($argument:tt)*) => {
        $crate::anyhow!($($argument)*)
    };
}

/// Returns with an error.
#[macro_export]
macro_rules! bail {
    ($($argument:tt)*) => {
        return ::core::result::Result::Err($crate::anyhow!($($argument)*))
    };
}

/// Returns with an error unless a condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr $(,)?) => {
        if !$condition {
            return ::core::result::Result::Err($crate::Error::msg(::core::concat!(
                "Condition failed: `",
                ::core::stringify!($condition),
                "`"
            )));
        }
    };
    ($condition:expr, $($argument:tt)+) => {
        if !$condition {
            return ::core::result::Result::Err($crate::anyhow!($($argument)+));
        }
    };
}
