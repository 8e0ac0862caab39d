//! Tests that need private parts of several modules.

mod reference_pages;
