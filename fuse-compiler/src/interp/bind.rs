//! Binds symbols by the inputs' shapes, and evaluates launch checks.

use fuse_artifact::{Check, Relation, Size, Symbol, SymbolSource};

use super::{InterpError, Value};
use crate::graph::{Graph, Param};

pub(super) struct Bindings {
    inputs: Vec<Value>,
    symbols: Vec<u64>,
}

impl Bindings {
    pub(super) fn new(graph: &Graph, inputs: &[Value]) -> Result<Self, InterpError> {
        if inputs.len() != graph.params.len() {
            return Err(InterpError::InputCount { expected: graph.params.len(), found: inputs.len() });
        }
        let inputs = graph.params.iter().zip(inputs).map(|(p, v)| pad(p, v)).collect::<Result<Vec<_>, _>>()?;
        let mut bindings = Self { inputs, symbols: Vec::new() };
        for symbol in &graph.symbols {
            let value = bindings.symbol(symbol)?;
            bindings.symbols.push(value);
        }
        for (param, input) in graph.params.iter().zip(&bindings.inputs) {
            bindings.check_extents(param, input)?;
        }
        graph.checks.iter().try_for_each(|check| bindings.check(check))?;
        Ok(bindings)
    }

    pub(super) fn input(&self, param: u16) -> &Value {
        &self.inputs[usize::from(param)]
    }

    pub(super) fn size(&self, size: &Size) -> Result<usize, InterpError> {
        size.eval(&self.symbols).and_then(|x| usize::try_from(x).ok()).ok_or(InterpError::Size)
    }

    pub(super) fn shape(&self, shape: &[Size]) -> Result<Vec<usize>, InterpError> {
        shape.iter().map(|size| self.size(size)).collect()
    }

    fn symbol(&self, symbol: &Symbol) -> Result<u64, InterpError> {
        match &symbol.source {
            // Numbers behind the axes describe quantized storage, which no value depends on.
            SymbolSource::Axis { param, axis } => {
                Ok(self.input(*param).shape.get(usize::from(*axis)).map_or(1, |extent| *extent as u64))
            }
            SymbolSource::Scalar { param } => {
                self.input(*param).data.first().map(|value| *value as u64).ok_or(InterpError::Size)
            }
            SymbolSource::Broadcast(sizes) => {
                let extents = self.shape(sizes)?;
                let extent = extents.iter().copied().find(|&extent| extent != 1).unwrap_or(1);
                if extents.iter().any(|&other| other != 1 && other != extent) {
                    return Err(InterpError::Broadcast { what: format!("`{}`", symbol.name), extents });
                }
                Ok(extent as u64)
            }
            SymbolSource::Quotient { dividend, divisor } => {
                let (dividend, divisor) = (self.size(dividend)?, self.size(divisor)?);
                dividend.checked_div(divisor).map(|value| value as u64).ok_or(InterpError::Size)
            }
        }
    }

    fn check_extents(&self, param: &Param, input: &Value) -> Result<(), InterpError> {
        for (axis, (size, &found)) in param.ty.shape.iter().zip(&input.shape).enumerate() {
            let expected = self.size(size)?;
            if expected != found {
                return Err(InterpError::InputExtent { param: param.name.clone(), axis, expected, found });
            }
        }
        Ok(())
    }

    fn check(&self, check: &Check) -> Result<(), InterpError> {
        let (left, right) = (self.size(&check.left)?, self.size(&check.right)?);
        let holds = match check.relation {
            Relation::Equal => left == right,
            Relation::AtMost => left <= right,
        };
        if holds { Ok(()) } else { Err(InterpError::Check { what: check.what.to_string(), left, right }) }
    }
}

fn pad(param: &Param, input: &Value) -> Result<Value, InterpError> {
    let name = || param.name.clone();
    if input.dtype != param.ty.dtype {
        return Err(InterpError::InputDType { param: name(), expected: param.ty.dtype, found: input.dtype });
    }
    if input.data.len() != input.shape.iter().product::<usize>() {
        return Err(InterpError::DataLength { shape: input.shape.clone(), found: input.data.len() });
    }
    let (expected, found) = (param.ty.rank(), input.shape.len());
    if found > expected || (found < expected && !param.padded) {
        return Err(InterpError::InputRank { param: name(), expected, found });
    }
    let mut shape = vec![1; expected - found];
    shape.extend(&input.shape);
    Ok(Value { dtype: input.dtype, shape, data: input.data.clone() })
}
