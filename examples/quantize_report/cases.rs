//! Cases: bit widths, schemes, and methods.

use fuse_quantize::{Granularity, Packing, QuantScheme, Rounding, ScaleDType, Symmetry};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// No calibration.
    Rounded,
    /// Error feedback (GPTQ).
    Feedback,
    /// Error feedback from weights and biases fitted to the unquantized outputs.
    Fitted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) packing: Packing,
    pub(crate) scheme: QuantScheme,
    pub(crate) method: Method,
    /// The word table is quantized, too, always by rounding.
    pub(crate) table: bool,
}

impl Case {
    pub(crate) fn scheme_name(&self) -> String {
        let symmetry = match self.scheme.symmetry {
            Symmetry::Symmetric => "symmetric",
            Symmetry::Asymmetric => "asymmetric",
        };
        let granularity = match self.scheme.granularity {
            Granularity::Tensor => "tensor".to_owned(),
            Granularity::Channel => "channel".to_owned(),
            Granularity::Group(group) => format!("group {group}"),
        };
        format!("{symmetry}, {granularity}, {}", self.scheme.scales.name())
    }

    pub(crate) fn method_name(&self) -> &'static str {
        match (self.method, self.scheme.rounding) {
            (Method::Rounded, Rounding::Nearest) => "rounded",
            (Method::Rounded, Rounding::LeastSquares) => "rounded, least squares",
            (Method::Feedback, Rounding::Nearest) => "feedback",
            (Method::Feedback, Rounding::LeastSquares) => "feedback, least squares",
            (Method::Fitted, Rounding::Nearest) => "fitted",
            (Method::Fitted, Rounding::LeastSquares) => "fitted, least squares",
        }
    }

    pub(crate) fn name(&self) -> String {
        let table = if self.table { ", with the word table" } else { "" };
        format!("{}: {}, {}{table}", self.packing.name(), self.scheme_name(), self.method_name())
    }
}

pub(crate) fn all(quick: bool) -> Vec<Case> {
    // Weights are `[outputs, inputs]`.
    let (symmetric, asymmetric) = (QuantScheme::symmetric().axis(1), QuantScheme::asymmetric().axis(1));
    let search = Rounding::LeastSquares;
    let rounded = [
        symmetric.per_tensor(),
        symmetric.per_channel(),
        symmetric.per_group(128),
        symmetric.per_group(64),
        symmetric,
        asymmetric.per_channel(),
        asymmetric.per_group(128),
        asymmetric,
        symmetric.per_channel().rounding(search),
        symmetric.rounding(search),
        asymmetric.per_channel().rounding(search),
        asymmetric.per_group(128).rounding(search),
        asymmetric.rounding(search),
        asymmetric.rounding(search).scales(ScaleDType::F32),
    ];
    let feedback = [asymmetric.rounding(search)];
    let fitted = [asymmetric.per_group(128).rounding(search), asymmetric.rounding(search)];
    let mut cases = vec![];
    for packing in Packing::ALL {
        let mut add = |schemes: &[QuantScheme], method, table| {
            cases.extend(schemes.iter().map(|&scheme| Case { packing, scheme, method, table }));
        };
        if quick {
            add(&[asymmetric], Method::Rounded, packing == Packing::Q8);
        } else {
            add(&rounded, Method::Rounded, false);
            add(&feedback, Method::Feedback, false);
            add(&fitted, Method::Fitted, false);
            add(&fitted[1..], Method::Fitted, true);
        }
    }
    if quick {
        cases.push(Case { packing: Packing::Q2, scheme: asymmetric, method: Method::Fitted, table: false });
    }
    cases
}
