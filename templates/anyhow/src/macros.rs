//! The macros: each makes its error where it is used.

/// An error of a message, a format with arguments, or another error.
#[macro_export]
macro_rules! anyhow {
    ($($argument:tt)*) => {
        $crate::__private::made($crate::__private::anyhow!($($argument)*))
    };
}

/// The same by another name.
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
