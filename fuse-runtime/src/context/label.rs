//! [`Label`]: the name of a dispatch, for profiles and errors.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) function: &'static str,
    pub(crate) kernel: &'static str,
    pub(crate) variant: &'static str,
    pub(crate) pass: usize,
}
