//! Dimensions of random programs: products of literals and names.

pub(crate) const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// Dimension: `factor · names…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) factor: usize,
    pub(crate) names: Vec<usize>,
}

impl Dim {
    pub(crate) fn literal(factor: usize) -> Self {
        Self { factor, names: vec![] }
    }

    pub(crate) fn name(name: usize) -> Self {
        Self { factor: 1, names: vec![name] }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut names = [self.names.as_slice(), &other.names].concat();
        names.sort_unstable();
        Self { factor: self.factor * other.factor, names }
    }

    pub(crate) fn is_one(&self) -> bool {
        *self == Self::literal(1)
    }

    /// True if it can be part of a new parameter's type.
    pub(crate) fn is_plain(&self) -> bool {
        self.names.len() + usize::from(self.factor != 1) <= 1
    }

    pub(crate) fn text(&self) -> String {
        let names = self.names.iter().map(|&name| NAMES[name].to_owned());
        let factor = (self.factor != 1 || self.names.is_empty()).then(|| self.factor.to_string());
        factor.into_iter().chain(names).collect::<Vec<_>>().join(" * ")
    }
}

pub(crate) fn dims_text(dims: &[Dim]) -> String {
    dims.iter().map(Dim::text).collect::<Vec<_>>().join(", ")
}
