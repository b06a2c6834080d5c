//! Sequences of operations by name, as other libraries take them: `execute_fused(&[&a, &b], &["matmul", "relu"])`.

use crate::{Error, LazyTensor};

/// The names: eleven of them, and what this library calls the same.
const NAMES: [&str; 11] =
    ["add", "subtract", "multiply", "divide", "matmul", "relu", "sigmoid", "tanh", "reshape", "transpose", "softmax"];

/// The result of operations one after the other, fused. The first value begins; each operation of two takes the next one.
///
/// `add`, `subtract`, `multiply`, `divide` and `matmul` take two; `relu`, `sigmoid`, `tanh`, `transpose`, `softmax` (along the last
/// axis) and `reshape(2, 3)` one.
///
/// ```no_run
/// # use fuse_auto::{Error, LazyTensor, execute_fused};
/// # fn example(a: &LazyTensor, b: &LazyTensor, c: &LazyTensor) -> Result<(), Error> {
/// let y = execute_fused(&[a, b], &["matmul", "relu"])?; // relu(a·b)
/// let z = execute_fused(&[a, b, c], &["multiply", "add", "sigmoid"])?; // sigmoid(a·b + c)
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Operation`] if a name is unknown, if there are too few values or too many, or if one does not fit; and those of
/// [`eval`](LazyTensor::eval), since the result is computed at once.
pub fn execute_fused(values: &[&LazyTensor], operations: &[&str]) -> Result<LazyTensor, Error> {
    let mut left = values.iter();
    let refused = |message: String, help: &str| Error::operation("execute_fused", message, help);
    let Some(first) = left.next() else {
        return Err(refused("no value".to_owned(), "give it the operands in the order in which they are taken"));
    };
    let mut value = (*first).clone();
    for operation in operations {
        let (name, shape) = parsed(operation)?;
        let mut next = || {
            let message = format!("`{name}` takes two values, and all {} are taken", values.len());
            left.next().copied().ok_or_else(|| refused(message, "each operation of two takes the next value"))
        };
        value = match name {
            "add" => value.add(next()?),
            "subtract" => value.sub(next()?),
            "multiply" => value.mul(next()?),
            "divide" => value.div(next()?),
            "matmul" => value.matmul(next()?),
            "relu" => value.relu(),
            "sigmoid" => value.sigmoid(),
            "tanh" => value.tanh(),
            "transpose" => value.transpose(),
            "softmax" => value.softmax(-1),
            _ => value.reshape(shape),
        }?;
    }
    if left.next().is_some() {
        let message = format!("{} values for {operations:?}, which take fewer", values.len());
        return Err(refused(message, "each operation of two takes one value more"));
    }
    value.eval()?;
    Ok(value)
}

/// Whether these operations, one after the other, are one kernel. Without a compiler in the program, whether their names are known.
pub fn create_pattern(operations: &[&str]) -> bool {
    let names: Option<Vec<&str>> = operations.iter().map(|operation| Some(parsed(operation).ok()?.0)).collect();
    names.is_some_and(|names| !names.is_empty() && is_one_kernel(&names))
}

/// A name, and of `reshape(2, 3)` its shape.
fn parsed(operation: &str) -> Result<(&'static str, Vec<usize>), Error> {
    let (name, list) = match operation.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')')),
        None => (operation.trim(), Some("")),
    };
    let shape: Option<Vec<usize>> = list.and_then(|list| {
        let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| part.parse().ok()).collect()
    });
    let refused = |message: String| Error::operation("execute_fused", message, format!("the names are {NAMES:?}"));
    let Some(known) = NAMES.into_iter().find(|known| *known == name) else {
        return Err(refused(format!("unknown operation `{operation}`")));
    };
    match shape {
        Some(shape) if shape.is_empty() || known == "reshape" => Ok((known, shape)),
        _ => Err(Error::operation("execute_fused", format!("cannot read `{operation}`"), "write `reshape(2, 3)`")),
    }
}

#[cfg(not(feature = "jit"))]
fn is_one_kernel(_: &[&str]) -> bool {
    true
}

/// Plans the operations for matrices of unknown extents.
#[cfg(feature = "jit")]
fn is_one_kernel(names: &[&str]) -> bool {
    use fuse_compiler::fusion::{Policy, fuse};

    let (mut parameters, mut body) = ("x0: f32[A, B]".to_owned(), String::new());
    let (mut rows, mut columns) = ("A".to_owned(), "B".to_owned());
    for (position, name) in names.iter().enumerate() {
        let (x, next) =
            (if position == 0 { "x0".to_owned() } else { format!("v{}", position - 1) }, format!("x{}", position + 1));
        let symbol = match *name {
            "add" => "+",
            "subtract" => "-",
            "multiply" => "*",
            "divide" => "/",
            _ => "",
        };
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
            _ if symbol.is_empty() => format!("{name}({x})"),
            _ => {
                parameters += &format!(", {next}: f32[{rows}, {columns}]");
                format!("{x} {symbol} {next}")
            }
        };
        body += &format!("let v{position} = {expression};");
    }
    let text = format!("fn f({parameters}) -> f32[{rows}, {columns}] {{ {body} v{} }}", names.len() - 1);
    let plan = crate::code::graph(&text).ok().and_then(|graph| fuse(&graph, Policy::INLINED).ok());
    plan.is_some_and(|groups| groups.groups.len() == 1)
}
