//! Checks of kernels.
