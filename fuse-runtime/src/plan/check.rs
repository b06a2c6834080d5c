//! Shape checks of arguments, giving the values of a function's symbols.
//!
//! A size argument counts as one axis. Invariant: after success, declared dimensions equal the arguments', checks hold,
//! and results fit the device. Not here: dtypes and devices (`api::launch`), plans.

use fuse_artifact::{Check, Function, Param, ParamKind, Relation, Size, SymbolSource, TensorSpec};

use crate::context::{
    error::Error,
    shape::{MAX_RANK, Shape, checked_bytes},
};

#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// Values of `Function::symbols`.
    pub(crate) symbols: Vec<u64>,
    /// Shapes of `Function::results`.
    pub(crate) results: Vec<Shape>,
    /// Shapes of `Function::temporaries`.
    pub(crate) temporaries: Vec<Shape>,
}

/// One shape per parameter: scalars have rank 0, sizes one axis. `binding_bytes` limits a tensor.
pub(crate) fn bind(function: &Function, shapes: &[Shape], binding_bytes: u64) -> Result<Bound, Error> {
    let context = Context::new(function, shapes)?;
    let symbols = context.symbols()?;
    context.check_dimensions(&symbols)?;
    for check in function.checks.iter() {
        context.check_relation(check, &symbols)?;
    }
    let shapes_of = |specs: &[TensorSpec], what: &str| -> Result<Vec<Shape>, Error> {
        let indexed = specs.iter().enumerate();
        indexed.map(|(i, spec)| context.shape(spec, &symbols, &format!("{what} {i}"), binding_bytes)).collect()
    };
    let results = shapes_of(&function.results, "result")?;
    let temporaries = shapes_of(&function.temporaries, "temporary")?;
    Ok(Bound { symbols, results, temporaries })
}

/// The first assumption that these shapes break, as text.
pub(crate) fn assumption_that_fails(function: &Function, shapes: &[Shape]) -> Result<Option<String>, Error> {
    if function.assumes.is_empty() {
        return Ok(None);
    }
    let context = Context::new(function, shapes)?;
    let symbols = context.symbols()?;
    let broken = function.assumes.iter().find(|check| !relation_holds(check, &symbols));
    Ok(broken.map(|check| format!("{}: expected {}", check.what, context.relation(check, &symbols))))
}

fn relation_holds(check: &Check, symbols: &[u64]) -> bool {
    let (left, right) = (check.left.eval(symbols), check.right.eval(symbols));
    match check.relation {
        Relation::Equal => left.is_some() && left == right,
        Relation::AtMost => left.zip(right).is_some_and(|(left, right)| left <= right),
    }
}

fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Equal => "equal to",
        Relation::AtMost => "at most",
    }
}

#[derive(Clone, Copy)]
struct Declared<'a> {
    shape: &'a [Size],
    padded: bool,
}

fn declared(param: &Param) -> Option<Declared<'_>> {
    match &param.kind {
        ParamKind::Tensor(spec) => Some(Declared { shape: &spec.shape, padded: spec.padded }),
        ParamKind::Quantized(spec) => Some(Declared { shape: &spec.shape, padded: false }),
        ParamKind::Scalar(_) | ParamKind::Size => None,
    }
}

struct Context<'a> {
    function: &'a Function,
    shapes: &'a [Shape],
}

impl<'a> Context<'a> {
    fn new(function: &'a Function, shapes: &'a [Shape]) -> Result<Self, Error> {
        let context = Self { function, shapes };
        if shapes.len() != function.params.len() {
            return Err(Error::Count {
                kernel: context.kernel(),
                what: "arguments",
                expected: function.params.len(),
                found: shapes.len(),
            });
        }
        context.check_ranks()?;
        Ok(context)
    }

    fn kernel(&self) -> String {
        self.function.name.to_string()
    }

    fn argument(&self, param: usize) -> String {
        self.function.params[param].name.to_string()
    }

    /// Formats a size with the caller's names.
    ///
    /// For tensors of unknown rank, names only axes of the caller's tensors, by position; for a broadcast, the operand
    /// that decides it. `symbols` has at least those of the size.
    fn known_text(&self, size: &Size, symbols: &[u64]) -> String {
        let mut names: Vec<String> = Vec::new();
        for symbol in self.function.symbols.iter().take(symbols.len()) {
            let text = |size: &Size| size.display(|id| &names[usize::from(id)]).to_string();
            let name = match &symbol.source {
                SymbolSource::Axis { param, axis } => {
                    self.axis_name(&symbol.name, usize::from(*param), usize::from(*axis))
                }
                SymbolSource::Scalar { .. } => symbol.name.to_string(),
                SymbolSource::Broadcast(sizes) => {
                    sizes.iter().find(|size| size.eval(symbols) != Some(1)).map_or_else(String::new, text)
                }
                // Dimensions of a signature have names.
                SymbolSource::Quotient { .. } if symbol.name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                    symbol.name.to_string()
                }
                SymbolSource::Quotient { dividend, divisor } => format!("({}/{})", text(dividend), text(divisor)),
            };
            names.push(name);
        }
        size.display(|id| &names[usize::from(id)]).to_string()
    }

    /// Empty if the caller's tensor lacks the axis.
    fn axis_name(&self, name: &str, param: usize, axis: usize) -> String {
        match self.spec(param) {
            Some(spec) if spec.padded => {
                let missing = spec.shape.len().saturating_sub(self.shapes[param].len());
                let axis = axis.checked_sub(missing);
                axis.map_or_else(String::new, |axis| format!("{}.shape()[{axis}]", self.function.params[param].name))
            }
            _ => name.to_owned(),
        }
    }

    fn tensors(&self) -> impl Iterator<Item = (usize, Declared<'_>)> {
        self.function.params.iter().enumerate().filter_map(|(i, param)| Some((i, declared(param)?)))
    }

    fn spec(&self, param: usize) -> Option<Declared<'_>> {
        declared(self.function.params.get(param)?)
    }

    fn check_ranks(&self) -> Result<(), Error> {
        for (param, spec) in self.tensors() {
            let (expected, found) = (spec.shape.len(), self.shapes[param].len());
            let fits = if spec.padded { found <= expected } else { found == expected };
            if !fits {
                return Err(Error::RankMismatch {
                    kernel: self.kernel(),
                    argument: self.argument(param),
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    fn symbols(&self) -> Result<Vec<u64>, Error> {
        let mut values = Vec::with_capacity(self.function.symbols.len());
        for symbol in self.function.symbols.iter() {
            let value = match &symbol.source {
                SymbolSource::Axis { param, axis } => {
                    let spec = self.spec(usize::from(*param)).ok_or_else(|| self.defect("a symbol of a scalar"))?;
                    self.shapes[usize::from(*param)].padded(usize::from(*axis), spec.shape.len()) as u64
                }
                SymbolSource::Scalar { param } => {
                    let size = self.shapes.get(usize::from(*param)).and_then(|shape| shape.first());
                    *size.ok_or_else(|| self.defect("a size that is no argument"))? as u64
                }
                SymbolSource::Broadcast(sizes) => self.broadcast(sizes, &values)?,
                SymbolSource::Quotient { dividend, divisor } => {
                    let (dividend, by) = (self.eval(dividend, &values)?, self.eval(divisor, &values)?);
                    dividend.checked_div(by).ok_or_else(|| self.invalid(divisor, &values))?
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    fn broadcast(&self, sizes: &[Size], values: &[u64]) -> Result<u64, Error> {
        let mut known: Option<(u64, &Size)> = None;
        for size in sizes {
            let value = self.eval(size, values)?;
            match known {
                _ if value == 1 => {}
                None => known = Some((value, size)),
                Some((left, _)) if left == value => {}
                Some((left, from)) => {
                    return Err(Error::BroadcastMismatch {
                        kernel: self.kernel(),
                        left,
                        left_origin: self.origin(from, values),
                        right: value,
                        right_origin: self.origin(size, values),
                    });
                }
            }
        }
        Ok(known.map_or(1, |(value, _)| value))
    }

    fn check_dimensions(&self, symbols: &[u64]) -> Result<(), Error> {
        for (param, spec) in self.tensors() {
            let (shape, rank) = (&self.shapes[param], spec.shape.len());
            for (axis, size) in spec.shape.iter().enumerate() {
                let (expected, found) = (self.eval(size, symbols)?, shape.padded(axis, rank) as u64);
                if expected != found {
                    return Err(Error::DimensionMismatch {
                        kernel: self.kernel(),
                        argument: self.argument(param),
                        axis: axis.saturating_sub(rank - shape.len()) as u8,
                        dimension: self.known_text(size, symbols),
                        expected,
                        origin: self.origin(size, symbols),
                        found,
                    });
                }
            }
        }
        Ok(())
    }

    fn check_relation(&self, check: &Check, symbols: &[u64]) -> Result<(), Error> {
        if relation_holds(check, symbols) {
            return Ok(());
        }
        Err(Error::CheckFailed {
            kernel: self.kernel(),
            what: check.what.to_string(),
            relation: relation_name(check.relation),
            left: self.side(&check.left, symbols),
            right: self.side(&check.right, symbols),
        })
    }

    /// Formats a relation: `` `M` (5) to be at most 4``.
    fn relation(&self, check: &Check, symbols: &[u64]) -> String {
        let (left, right) = (self.side(&check.left, symbols), self.side(&check.right, symbols));
        format!("{left} to be {} {right}", relation_name(check.relation))
    }

    fn side(&self, size: &Size, symbols: &[u64]) -> String {
        let text = self.known_text(size, symbols);
        match size.eval(symbols) {
            Some(value) if text == value.to_string() => text,
            Some(value) => format!("`{text}` ({value})"),
            None => format!("`{text}` (a negative number)"),
        }
    }

    fn shape(&self, spec: &TensorSpec, symbols: &[u64], what: &str, allowed: u64) -> Result<Shape, Error> {
        let mut dims = [0; MAX_RANK];
        let rank = spec.shape.len().min(MAX_RANK);
        for (dim, size) in dims.iter_mut().zip(spec.shape.iter()) {
            *dim = usize::try_from(self.eval(size, symbols)?).map_err(|_| self.invalid(size, symbols))?;
        }
        let shape = Shape::new(&dims[..rank])?;
        checked_bytes(&format!("kernel `{}`, {what}", self.function.name), spec.dtype, shape.elements(), allowed)?;
        Ok(shape)
    }

    /// Origin of a size's value, for messages.
    fn origin(&self, size: &Size, symbols: &[u64]) -> String {
        let Some(id) = size.as_symbol() else {
            return match size.as_constant() {
                Some(_) => "the declared shape".to_owned(),
                None => format!("`{}`", self.known_text(size, symbols)),
            };
        };
        match self.function.symbols.get(usize::from(id)).map(|symbol| &symbol.source) {
            Some(SymbolSource::Axis { param, axis }) => {
                let (param, axis) = (usize::from(*param), usize::from(*axis));
                let missing =
                    self.spec(param).map_or(0, |spec| spec.shape.len().saturating_sub(self.shapes[param].len()));
                format!("`{}`, axis {}", self.argument(param), axis.saturating_sub(missing))
            }
            Some(SymbolSource::Scalar { param }) => format!("argument `{}`", self.argument(usize::from(*param))),
            Some(SymbolSource::Broadcast(sizes)) => {
                let distinct: Vec<String> = sizes.iter().map(|size| self.origin(size, symbols)).collect();
                format!("the broadcast of {}", distinct.join(" and "))
            }
            Some(SymbolSource::Quotient { .. }) | None => format!("`{}`", self.known_text(size, symbols)),
        }
    }

    fn eval(&self, size: &Size, symbols: &[u64]) -> Result<u64, Error> {
        size.eval(symbols).ok_or_else(|| self.invalid(size, symbols))
    }

    fn invalid(&self, size: &Size, symbols: &[u64]) -> Error {
        Error::InvalidSize { kernel: self.kernel(), size: self.known_text(size, symbols) }
    }

    fn defect(&self, message: &str) -> Error {
        Error::Internal { message: format!("kernel `{}`: {message}", self.function.name) }
    }
}
