//! Random programs in the expression form, whose callers choose ranks and extents.

use fuse_compiler::graph::Param;
use fuse_test_support::{Numbers, Program, Variants, check, compare::Outcome, data, expression};

use super::{
    Turns,
    generate::{MAX_ELEMENTS, Step},
};

#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) source: String,
    pub(crate) shapes: Vec<(String, Vec<usize>)>,
}

#[derive(Clone, Debug)]
struct Value {
    text: String,
    shape: Vec<usize>,
    size: usize,
}

/// In subexpressions.
const MAX_SIZE: usize = 24;

/// Few enough that one kernel can often bind them.
const MAX_VARIABLES: usize = 6;

struct Builder {
    values: Vec<Value>,
    shapes: Vec<(String, Vec<usize>)>,
}

/// Extents shrink where the interpreter would take long.
pub(crate) fn fitting(mut extents: [usize; 4], steps: &[Step]) -> Expression {
    loop {
        let (expression, largest) = build(steps, extents);
        let most = extents.iter_mut().max().expect("there are extents");
        if largest <= MAX_ELEMENTS || *most <= 4 {
            return expression;
        }
        *most /= 2;
    }
}

fn build(steps: &[Step], extents: [usize; 4]) -> (Expression, usize) {
    let mut builder = Builder { values: vec![], shapes: vec![] };
    let rank = 1 + usize::from(steps[0].detail) % 4;
    let first = builder.variable(extents[4 - rank..].to_vec());
    builder.values.push(first);
    for step in steps {
        if let Some(value) = builder.step(*step, extents) {
            builder.values.push(value);
        }
    }
    let elements = |shape: &Vec<usize>| shape.iter().map(|extent| (*extent).max(1)).product();
    let shapes = builder.shapes.iter().map(|(_, shape)| shape);
    let largest = builder.values.iter().map(|value| &value.shape).chain(shapes).map(elements).max().unwrap_or(0);
    let result = builder.values.pop().expect("there is a first value");
    let source = if builder.values.is_empty() { format!("-{}", result.text) } else { result.text };
    let used = |name: &str| source.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    let shapes = builder.shapes.into_iter().filter(|(name, _)| used(name)).collect();
    (Expression { source, shapes }, largest)
}

impl Builder {
    fn variable(&mut self, shape: Vec<usize>) -> Value {
        let name = format!("x{}", self.shapes.len());
        self.shapes.push((name.clone(), shape.clone()));
        Value { text: name, shape, size: 1 }
    }

    fn step(&mut self, step: Step, extents: [usize; 4]) -> Option<Value> {
        let x = self.values[self.values.len() - 1 - usize::from(step.operand) % self.values.len().min(2)].clone();
        let value = match step.kind % 13 {
            0 | 1 => {
                let calls = ["relu", "sigmoid", "tanh", "gelu", "abs", "silu", "exp2", "sin", "softplus", "floor"];
                let call = calls[usize::from(step.detail) % calls.len()];
                Value { text: format!("{call}({})", x.text), shape: x.shape, size: x.size + 1 }
            }
            2..=4 => {
                let y = self.partner(&x, step);
                let shape = broadcast(&x.shape, &y.shape)?;
                let text = match step.detail % 5 {
                    0 | 1 => format!("({} + {})", x.text, y.text),
                    2 => format!("({} * {})", x.text, y.text),
                    3 => format!("max({}, {})", x.text, y.text),
                    _ => format!("({} - {})", y.text, x.text),
                };
                Value { text, shape, size: x.size + y.size + 1 }
            }
            5 => {
                let y = self.partner(&x, step);
                let shape = broadcast(&x.shape, &y.shape)?;
                let text = format!("select({} < {}, {}, 0.5)", x.text, y.text, x.text);
                Value { text, shape, size: 2 * x.size + y.size + 1 }
            }
            6 if x.shape.len() >= 2 => self.matmul(x, step, extents),
            7 | 8 if !x.shape.is_empty() => reduction(x, step),
            9 if !x.shape.is_empty() => self.row_operation(x, step),
            10 if !x.shape.is_empty() => self.join(x, step)?,
            11 if x.shape.len() >= 2 => self.attention(x, step, extents),
            12 if x.shape.len() >= 2 => {
                let mut shape = x.shape;
                let last = shape.len() - 1;
                shape.swap(last, last - 1);
                Value { text: format!("transpose({})", x.text), shape, size: x.size + 1 }
            }
            _ => Value { text: format!("({} * 0.5 + 0.25)", x.text), shape: x.shape, size: x.size + 1 },
        };
        (value.size <= MAX_SIZE).then_some(value)
    }

    /// An earlier value, or a new variable with fewer axes or extents of 1.
    fn partner(&mut self, x: &Value, step: Step) -> Value {
        let candidates: Vec<&Value> =
            self.values.iter().filter(|value| broadcast(&x.shape, &value.shape).is_some()).collect();
        if step.other.is_multiple_of(2) || self.shapes.len() >= MAX_VARIABLES {
            return candidates[usize::from(step.other / 2) % candidates.len()].clone();
        }
        let pattern = step.other / 2;
        let dropped = usize::from(pattern >> 4) % (x.shape.len() + 1);
        let keep = |(axis, &extent): (usize, &usize)| if pattern >> axis & 1 == 1 { 1 } else { extent };
        self.variable(x.shape[dropped..].iter().enumerate().map(keep).collect())
    }

    fn matmul(&mut self, x: Value, step: Step, extents: [usize; 4]) -> Value {
        let (batch, last) = x.shape.split_at(x.shape.len() - 2);
        let columns = extents[usize::from(step.detail) % 4];
        let batch_of_y = if step.detail & 0x100 == 0 { batch.to_vec() } else { vec![] };
        let y = self.variable([batch_of_y.as_slice(), &[last[1], columns]].concat());
        let shape = [batch, &[last[0], columns]].concat();
        Value { text: format!("matmul({}, {})", x.text, y.text), shape, size: x.size + 2 }
    }
}

impl Builder {
    fn row_operation(&mut self, x: Value, step: Step) -> Value {
        let mut vector = || self.variable(x.shape[x.shape.len() - 1..].to_vec()).text;
        let text = match step.detail % 5 {
            0 | 1 => format!("softmax({})", x.text),
            2 => format!("log_softmax({})", x.text),
            3 => format!("rms_norm({}, {})", x.text, vector()),
            _ => format!("layer_norm({}, {}, {}, eps = 1e-3)", x.text, vector(), vector()),
        };
        Value { text, size: x.size + 3, shape: x.shape }
    }

    /// `flip`, or `concat` with a variable of another extent, along an axis counted from the end.
    fn join(&mut self, x: Value, step: Step) -> Option<Value> {
        let rank = x.shape.len();
        let axis = usize::from(step.detail >> 2) % rank;
        let from_end = rank - axis;
        if step.detail % 4 < 2 {
            let text = format!("flip({}, axis = -{from_end})", x.text);
            return Some(Value { text, size: x.size + 1, shape: x.shape });
        }
        if self.shapes.len() >= MAX_VARIABLES {
            return None;
        }
        let (mut other, mut shape) = (x.shape.clone(), x.shape.clone());
        other[axis] = usize::from(step.other) % 4;
        shape[axis] += other[axis];
        let y = self.variable(other);
        let text = format!("concat([{}, {}], axis = -{from_end})", x.text, y.text);
        Some(Value { text, size: x.size + 2, shape })
    }

    fn attention(&mut self, x: Value, step: Step, extents: [usize; 4]) -> Value {
        let (batch, last) = x.shape.split_at(x.shape.len() - 2);
        let (keys, columns) = (extents[usize::from(step.detail) % 4], extents[usize::from(step.other) % 4]);
        let k = self.variable([batch, &[keys, last[1]]].concat());
        let v = self.variable([batch, &[keys, columns]].concat());
        let scale = ["", " * 0.5"][usize::from(step.other >> 2 & 1)];
        let text = format!("matmul(softmax(matmul({}, transpose({})){scale}), {})", x.text, k.text, v.text);
        Value { text, shape: [batch, &[last[0], columns]].concat(), size: x.size + 6 }
    }
}

/// Along an axis counted from the end, or of everything.
fn reduction(x: Value, step: Step) -> Value {
    let names = ["sum", "mean", "max", "min", "sum", "logsumexp", "var"];
    let name = names[usize::from(step.detail) % names.len()];
    let rank = x.shape.len();
    let axis = usize::from(step.detail >> 3) % rank;
    let mut shape = x.shape;
    let options = match step.other % 4 {
        0 => {
            shape.clear();
            String::new()
        }
        1 => {
            shape.remove(axis);
            format!(", axis = -{}", rank - axis)
        }
        _ => {
            shape[axis] = 1;
            format!(", axis = -{}, keepdim = true", rank - axis)
        }
    };
    Value { text: format!("{name}({}{options})", x.text), shape, size: x.size + 1 }
}

fn broadcast(x: &[usize], y: &[usize]) -> Option<Vec<usize>> {
    let rank = x.len().max(y.len());
    let extent = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    (0..rank)
        .map(|axis| match (extent(x, axis), extent(y, axis)) {
            (a, b) if a == b || b == 1 => Some(a),
            (1, b) => Some(b),
            _ => None,
        })
        .collect()
}

pub(crate) fn check_expression(random: &Expression, seed: u64, [others, unfused]: Turns) -> Result<Outcome, String> {
    let mut graphs = expression(&random.source)?;
    let (graph, dtypes) = graphs.swap_remove(seed as usize % graphs.len());
    let fused = Program::new(graph, dtypes)?;
    let mut numbers = Numbers::new(seed);
    let input = |param: &Param| {
        let shape = random.shapes.iter().find(|(name, _)| *name == param.name);
        let (_, shape) = shape.ok_or_else(|| format!("unknown variable `{}`", param.name))?;
        Ok(data::ordinary(param.ty.dtype, shape, &mut numbers))
    };
    let inputs = fused.graph.params.iter().map(input).collect::<Result<Vec<_>, String>>()?;
    let mut outcome = Outcome::default();
    let mut runs = vec![("fused", fused.clone(), others.map_or(Variants::Chosen, Variants::One))];
    if let Some(number) = unfused {
        runs.push(("unfused", fused.unfused()?, Variants::One(number)));
    }
    for (what, program, variants) in &runs {
        let checked = check(program, &inputs, *variants);
        outcome.add(checked.map_err(|error| format!("{what} {:?}, {error}\n{}", fused.dtypes, program.source()))?);
    }
    Ok(outcome)
}
