//! Sequences of operations by name: `execute_fused(&[&a, &b], &["matmul", "relu"])`.

use fuse_artifact::{
    DType,
    operations::{BINARY, Operation, UNARY},
};

use crate::{
    api::{lazy::LazyTensor, methods::axes::Over, operand::Operand},
    error::Error,
};

const NAMES: &[&str] = &[
    "matmul",
    "dot",
    "outer",
    "transpose",
    "permute",
    "reshape",
    "broadcast_to",
    "slice",
    "squeeze",
    "unsqueeze",
    "index",
    "concat",
    "stack",
    "flip",
    "gather",
    "embedding",
    "one_hot",
    "pad",
    "roll",
    "repeat",
    "tile",
    "tril",
    "triu",
    "sum",
    "prod",
    "amax",
    "amin",
    "mean",
    "var",
    "logsumexp",
    "norm",
    "any",
    "all",
    "argmax",
    "argmin",
    "softmax",
    "log_softmax",
    "glu",
    "layer_norm",
    "rms_norm",
    "batch_norm",
    "group_norm",
    "cross_entropy",
    "dropout",
    "cast",
    "select",
    "clamp",
    "lerp",
    "leaky_relu",
    "elu",
    "stop_gradient",
    "dequantize",
];

const ALIASES: [(&str, &str); 3] = [("subtract", "sub"), ("multiply", "mul"), ("divide", "div")];

/// Applies operations in sequence, fused. Each operation takes the previous result and the next values as operands.
/// Numeric arguments follow in parentheses: `reshape(2, 3)`, `softmax(0)`, `sum(0, 2)`, `slice(1, 0, 4)`, `clamp(0,
/// 1)`, `cast(f16)`.
///
/// Names are those of [`LazyTensor`]'s methods with one result, and `subtract`, `multiply`, `divide`. A binary
/// operation may take a number: `add(1)`. Without axes, reductions take all, other operations the last; other defaults
/// are those of `fuse!`.
///
/// ```no_run
/// # use fuse_auto::{Error, LazyTensor, execute_fused};
/// # fn example(a: &LazyTensor, b: &LazyTensor, c: &LazyTensor) -> Result<(), Error> {
/// let y = execute_fused(&[a, b], &["matmul", "relu"])?; // relu(a·b)
/// let z = execute_fused(&[a, b, c], &["multiply", "add", "sigmoid"])?; // sigmoid(a·b + c)
/// let p = execute_fused(&[a], &["mul(0.5)", "softmax(-1)", "amax(-1)"])?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Operation`] if a name is unknown, or if values or numeric arguments are missing, left over or do not fit.
/// Those of [`eval`](LazyTensor::eval), since it computes the result.
pub fn execute_fused(values: &[&LazyTensor], operations: &[&str]) -> Result<LazyTensor, Error> {
    let mut left = values.iter();
    let Some(first) = left.next() else {
        return Err(refused("no value", "give it the operands in the order in which they are taken"));
    };
    let mut value = (*first).clone();
    for operation in operations {
        let Call { name, numbers, dtype } = Call::parse(operation)?;
        let mut call = Applied { name, numbers: numbers.into_iter(), dtype, values: &mut left };
        value = call.apply(&value)?;
        if call.numbers.next().is_some() {
            return Err(refused(format!("`{operation}` has too many numbers"), "give those that the method takes"));
        }
    }
    if left.next().is_some() {
        let message = format!("{} values for {operations:?}, which take fewer", values.len());
        return Err(refused(message, "each operation of two takes one value more"));
    }
    value.eval()?;
    Ok(value)
}

fn refused(message: impl Into<String>, help: impl Into<String>) -> Error {
    Error::operation("execute_fused", message, help)
}

/// True if these operations in sequence are one kernel for matrices.
///
/// Supports pointwise operations, `matmul`, `transpose`, `reshape`, `softmax` and `log_softmax`; for others use
/// [`explain`](crate::explain). Without a compiler it checks the names only.
pub fn create_pattern(operations: &[&str]) -> bool {
    let names: Option<Vec<&str>> = operations.iter().map(|operation| Some(Call::parse(operation).ok()?.name)).collect();
    names.is_some_and(|names| !names.is_empty() && is_one_kernel(&names))
}

struct Call<'a> {
    name: &'a str,
    numbers: Vec<f64>,
    dtype: Option<DType>,
}

impl<'a> Call<'a> {
    fn parse(operation: &'a str) -> Result<Self, Error> {
        let (name, list) = match operation.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')')),
            None => (operation.trim(), Some("")),
        };
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |&(_, name)| name);
        let is_row = |table: &[Operation]| table.iter().any(|row| row.name == name);
        if !NAMES.contains(&name) && !is_row(UNARY) && !is_row(BINARY) {
            let rows = UNARY.iter().chain(BINARY).map(|row| row.name);
            let names: Vec<&str> =
                rows.chain(ALIASES.iter().map(|(alias, _)| *alias)).chain(NAMES.iter().copied()).collect();
            return Err(refused(format!("unknown operation `{operation}`"), format!("the names are {names:?}")));
        }
        let unreadable =
            || refused(format!("cannot read `{operation}`"), "write numbers in parentheses, as in `reshape(2, 3)`");
        let parts = list.ok_or_else(unreadable)?.split(',').map(str::trim).filter(|part| !part.is_empty());
        if name == "cast" {
            let dtypes = [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];
            let named = |part: &str| dtypes.into_iter().find(|dtype| dtype.name() == part);
            let dtype = parts.map(named).collect::<Option<Vec<_>>>().filter(|dtypes| dtypes.len() == 1);
            let dtype = dtype.ok_or_else(|| refused(format!("cannot read `{operation}`"), "write `cast(f16)`"))?;
            return Ok(Self { name, numbers: vec![], dtype: dtype.first().copied() });
        }
        let numbers = parts.map(|part| part.parse().ok()).collect::<Option<Vec<f64>>>().ok_or_else(unreadable)?;
        Ok(Self { name, numbers, dtype: None })
    }
}

struct Applied<'a, 'v> {
    name: &'a str,
    numbers: std::vec::IntoIter<f64>,
    dtype: Option<DType>,
    values: &'a mut std::slice::Iter<'v, &'v LazyTensor>,
}

impl<'v> Applied<'_, 'v> {
    fn value(&mut self) -> Result<&'v LazyTensor, Error> {
        let name = self.name;
        self.values.next().copied().ok_or_else(|| {
            refused(format!("`{name}` takes another value, and all are taken"), "operations take the next values")
        })
    }

    fn number_or(&mut self, default: f64) -> f64 {
        self.numbers.next().unwrap_or(default)
    }

    fn number(&mut self) -> Result<f64, Error> {
        let name = self.name;
        self.numbers.next().ok_or_else(|| refused(format!("`{name}` lacks a number"), "write it in parentheses"))
    }

    /// Whole numbers become integers, which every dtype that holds them accepts.
    fn operand(number: f64) -> Operand {
        if number.fract() == 0.0 && number.abs() < 2f64.powi(53) { Operand::from(number as i64) } else { number.into() }
    }

    fn whole<T: TryFrom<i64>>(&self, number: f64) -> Result<T, Error> {
        let whole = (number.fract() == 0.0 && number.abs() < 2f64.powi(53)).then_some(number as i64);
        let fitting = whole.and_then(|number| T::try_from(number).ok());
        fitting.ok_or_else(|| {
            refused(format!("`{}` does not take {number}", self.name), "give a whole number in its range")
        })
    }

    fn axis(&mut self) -> Result<i32, Error> {
        let number = self.number_or(-1.0);
        self.whole(number)
    }

    fn size(&mut self) -> Result<usize, Error> {
        let number = self.number()?;
        self.whole(number)
    }

    fn all<T: TryFrom<i64>>(&mut self) -> Result<Vec<T>, Error> {
        let numbers: Vec<f64> = self.numbers.by_ref().collect();
        numbers.into_iter().map(|number| self.whole(number)).collect()
    }

    fn number_or_value(&mut self) -> Result<Operand, Error> {
        match self.numbers.next() {
            Some(number) => Ok(Self::operand(number)),
            None => Ok(self.value()?.into()),
        }
    }

    fn apply(&mut self, x: &LazyTensor) -> Result<LazyTensor, Error> {
        let named = |table: &'static [Operation], name: &str| table.iter().find(|row| row.name == name);
        if let Some(row) = named(UNARY, self.name) {
            return x.pointwise(row);
        }
        if let Some(row) = named(BINARY, self.name) {
            return LazyTensor::pair(row, x.into(), self.number_or_value()?);
        }
        match self.name {
            "matmul" => x.matmul(self.value()?),
            "dot" => x.dot(self.value()?),
            "outer" => x.outer(self.value()?),
            "select" => x.select(self.value()?, self.value()?),
            "clamp" => x.clamp(self.number_or_value()?, self.number_or_value()?),
            "lerp" => x.lerp(self.value()?, self.number_or_value()?),
            "leaky_relu" => x.leaky_relu(self.number_or(0.01)),
            "elu" => x.elu(self.number_or(1.0)),
            "cast" => x.cast(self.dtype.unwrap_or(DType::F32)),
            "stop_gradient" => x.stop_gradient(),
            "dequantize" => x.dequantize(),
            _ => self.moved(x),
        }
    }

    /// Movements of elements; falls through to `of_rows`.
    fn moved(&mut self, x: &LazyTensor) -> Result<LazyTensor, Error> {
        match self.name {
            "transpose" => x.transpose(),
            "permute" => x.permute(&self.all()?),
            "reshape" => x.reshape(self.all::<i64>()?),
            "broadcast_to" => x.broadcast_to(self.all::<usize>()?),
            "slice" => x.slice(self.axis()?, self.size()?, self.size()?),
            "squeeze" => x.squeeze(self.axis()?),
            "unsqueeze" => x.unsqueeze(self.axis()?),
            "index" => x.index(self.axis()?),
            "concat" => LazyTensor::concat(&[x, self.value()?], self.axis()?),
            "stack" => LazyTensor::stack(&[x, self.value()?], self.axis()?),
            "flip" => x.flip(&self.all()?),
            "gather" => x.gather(self.value()?, self.axis()?),
            "embedding" => x.embedding(self.value()?),
            "one_hot" => x.one_hot(self.size()?),
            "pad" => x.pad(self.axis()?, self.size()?, self.size()?, Self::operand(self.number_or(0.0))),
            "roll" => x.roll(self.axis()?, Self::operand(self.number()?)),
            "repeat" => x.repeat(self.axis()?, self.size()?),
            "tile" => x.tile(self.axis()?, self.size()?),
            "tril" => x.tril(Self::operand(self.number_or(0.0))),
            "triu" => x.triu(Self::operand(self.number_or(0.0))),
            _ => self.of_rows(x),
        }
    }

    fn of_rows(&mut self, x: &LazyTensor) -> Result<LazyTensor, Error> {
        match self.name {
            "argmax" => x.argmax(self.axis()?),
            "argmin" => x.argmin(self.axis()?),
            "softmax" => x.softmax(self.axis()?),
            "log_softmax" => x.log_softmax(self.axis()?),
            "glu" => x.glu(self.axis()?),
            "cross_entropy" => x.cross_entropy(self.value()?, self.axis()?),
            "layer_norm" => x.layer_norm(self.value()?, self.value()?, self.number_or(1e-5)),
            "rms_norm" => x.rms_norm(self.value()?, self.number_or(1e-6)),
            "batch_norm" => {
                x.batch_norm(self.value()?, self.value()?, self.value()?, self.value()?, self.number_or(1e-5))
            }
            "group_norm" => x.group_norm(self.value()?, self.value()?, self.size()?, self.number_or(1e-5)),
            "dropout" => x.dropout(self.number()?, Self::operand(self.number()?)),
            _ => {
                let axes: Vec<i32> = self.all()?;
                let over = if axes.is_empty() { Over::ALL } else { Over::from(&axes[..]) };
                match self.name {
                    "sum" => x.sum(over),
                    "prod" => x.prod(over),
                    "amax" => x.amax(over),
                    "amin" => x.amin(over),
                    "mean" => x.mean(over),
                    "var" => x.var(over, 0),
                    "logsumexp" => x.logsumexp(over),
                    "norm" => x.norm(over),
                    "any" => x.any(over),
                    "all" => x.all(over),
                    _ => Err(refused(format!("unknown operation `{}`", self.name), "")),
                }
            }
        }
    }
}

#[cfg(not(feature = "jit"))]
fn is_one_kernel(_: &[&str]) -> bool {
    true
}

#[cfg(feature = "jit")]
fn is_one_kernel(names: &[&str]) -> bool {
    use crate::cache::code_cache::graph;
    use fuse_compiler::fusion::{Policy, fuse};

    let (mut parameters, mut body) = ("x0: f32[A, B]".to_owned(), String::new());
    let (mut rows, mut columns) = ("A".to_owned(), "B".to_owned());
    for (position, name) in names.iter().enumerate() {
        let (x, next) =
            (if position == 0 { "x0".to_owned() } else { format!("v{}", position - 1) }, format!("x{}", position + 1));
        let row = |table: &'static [Operation]| table.iter().find(|row| row.name == *name);
        let expression = match *name {
            "matmul" => {
                let inner = std::mem::replace(&mut columns, format!("C{position}"));
                parameters += &format!(", {next}: f32[{inner}, {columns}]");
                format!("matmul({x}, {next})")
            }
            "reshape" => {
                let elements = format!("{rows} * {columns}");
                (rows, columns) = ("1".to_owned(), elements);
                format!("reshape({x}, [{rows}, {columns}])")
            }
            "transpose" => {
                std::mem::swap(&mut rows, &mut columns);
                format!("transpose({x})")
            }
            "softmax" | "log_softmax" => format!("{name}({x})"),
            _ => match (row(UNARY), row(BINARY)) {
                (Some(row), _) => match row.symbol {
                    Some(symbol) => format!("{symbol}{x}"),
                    None => format!("{name}({x})"),
                },
                (None, Some(row)) => {
                    parameters += &format!(", {next}: f32[{rows}, {columns}]");
                    match row.symbol {
                        Some(symbol) => format!("{x} {symbol} {next}"),
                        None => format!("{name}({x}, {next})"),
                    }
                }
                (None, None) => return false,
            },
        };
        body += &format!("let v{position} = {expression};");
    }
    let text = format!("fn f({parameters}) -> f32[{rows}, {columns}] {{ {body} v{} }}", names.len() - 1);
    let plan = graph(&text).ok().and_then(|graph| fuse(&graph, Policy::INLINED).ok());
    plan.is_some_and(|groups| groups.groups.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_name_and_numbers_are_read() {
        for name in
            UNARY.iter().chain(BINARY).map(|row| row.name).chain(NAMES.iter().copied().filter(|name| *name != "cast"))
        {
            assert_eq!(Call::parse(name).unwrap().name, name);
        }
        assert_eq!(Call::parse("multiply").unwrap().name, "mul");
        assert_eq!(Call::parse(" reshape( 2, -1 ) ").unwrap().numbers, [2.0, -1.0]);
        assert_eq!(Call::parse("cast(f16)").unwrap().dtype, Some(DType::F16));
        for wrong in ["conv", "reshape(2", "reshape(x)", "cast", "cast(f64)", "cast(1)", ""] {
            assert!(Call::parse(wrong).is_err(), "{wrong}");
        }
    }
}
