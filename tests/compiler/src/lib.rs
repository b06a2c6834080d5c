//! Holds `tests/all`: what the compiler writes is tested there without an adapter.
