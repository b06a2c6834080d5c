//! Programs of calls: recorded on lazy tensors, and written as a function with literal extents.

use fuse_compiler::{
    graph::Graph,
    interp::{InterpError, Stores, Value, run_bounded},
};
use fuse_gpu::{
    Device, Element, Tensor,
    auto::{DType, LazyTensor, eval_all, grad},
    f16,
};
use fuse_test_support::{
    compare::{Outcome, compare},
    data::{self, Numbers},
    graphs,
};

use super::{
    call::{Call, Type},
    draw::{Draw, MAX_ELEMENTS, REDUCTIONS, Style},
};

const MAX_PARAMS: usize = 10;

#[derive(Clone, Debug)]
enum Step {
    Param,
    Call(Call, usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Gradient {
    of: Vec<usize>,
    wrt: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    types: Vec<Type>,
    steps: Vec<Step>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) gradient: Option<Gradient>,
    seed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
}

impl Program {
    pub(crate) fn new(seed: u64) -> Self {
        Self { types: vec![], steps: vec![], outputs: vec![], gradient: None, seed }
    }

    pub(crate) fn draw(device: &Device, seed: u64, calls: usize, style: Style) -> Result<(Self, Verdicts), String> {
        let (mut draw, mut program) = (Draw::new(seed, style), Self::new(seed));
        let mut values = vec![];
        let mut verdicts = Verdicts::default();
        draw.any_param(&[DType::F32, DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool], 0..=4);
        while verdicts.accepted < calls && verdicts.refused < 2 * calls && program.params() < MAX_PARAMS {
            let call = draw.any();
            match program.extend(device, &mut draw, &mut values, call)? {
                true => verdicts.accepted += 1,
                false => verdicts.refused += 1,
            }
        }
        program.choose_outputs(&mut draw);
        Ok((program, verdicts))
    }

    /// Adds the drawn parameters and a call, if both lazy tensors and the language accept it; they must agree.
    pub(crate) fn extend(
        &mut self,
        device: &Device,
        draw: &mut Draw,
        values: &mut Vec<LazyTensor>,
        call: Call,
    ) -> Result<bool, String> {
        for _ in 0..std::mem::take(&mut draw.wanted) {
            self.types.push(draw.types[self.types.len()].clone());
            values.push(upload(device, &self.input(self.types.len() - 1)));
            self.steps.push(Step::Param);
        }
        let Some(results) = judge(&call, &self.types, values)? else { return Ok(false) };
        let types: Vec<Type> = results.iter().map(type_of).collect();
        if types.iter().any(|ty| ty.elements() > MAX_ELEMENTS) {
            return Ok(false);
        }
        self.steps.push(Step::Call(call, results.len()));
        draw.types.extend(types.iter().cloned());
        self.types.extend(types);
        values.extend(results);
        Ok(true)
    }

    fn params(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Param)).count()
    }

    fn input(&self, value: usize) -> Value {
        let Type { dtype, shape } = &self.types[value];
        data::ordinary(*dtype, shape, &mut Numbers::new(self.seed.wrapping_add(value as u64)))
    }

    fn results(&self) -> Vec<usize> {
        let mut at = 0;
        let mut results = vec![];
        for step in &self.steps {
            match step {
                Step::Param => at += 1,
                Step::Call(_, count) => {
                    results.extend(at..at + count);
                    at += count;
                }
            }
        }
        results
    }

    /// Values that alias in the language but not as lazy tensors: results of possible identities, such as
    /// `concat([x])`, and chains of reshapes back to the original shape.
    fn same(&self) -> Vec<usize> {
        let (mut at, mut same, mut reshapes) = (0, vec![], vec![]);
        for step in &self.steps {
            let count = if let Step::Call(_, count) = step { *count } else { 1 };
            if let Step::Call(call, _) = step
                && let Some(x) = call.values().next()
            {
                // A sum over extents of 1 is a reshape.
                let reduces = REDUCTIONS.contains(&call.name) && self.types[at].elements() == self.types[x].elements();
                let is_reshape = reduces || matches!(call.name, "reshape" | "squeeze" | "unsqueeze" | "stack");
                let moves =
                    matches!(call.name, "cast" | "concat" | "pad" | "repeat" | "tile" | "broadcast_to" | "flip");
                let is_same = (is_reshape || moves) && self.types[at] == self.types[x];
                if is_same || is_reshape && reshapes.contains(&x) {
                    same.push(at);
                }
                if is_reshape || call.name == "concat" {
                    reshapes.push(at);
                }
            }
            at += count;
        }
        same
    }

    pub(crate) fn choose_outputs(&mut self, draw: &mut Draw) {
        let used: Vec<usize> = self
            .steps
            .iter()
            .flat_map(|step| if let Step::Call(call, _) = step { call.values().collect() } else { vec![] })
            .collect();
        let results = self.results();
        self.outputs = results.iter().copied().filter(|value| !used.contains(value)).collect();
        self.outputs.drain(..self.outputs.len().saturating_sub(3));
        for value in results {
            if !self.outputs.contains(&value) && draw.chance(15) {
                self.outputs.push(value);
            }
        }
    }

    pub(crate) fn differentiate(&mut self, seed: u64) {
        let mut numbers = Numbers::new(seed);
        let is_float = |value: &usize| self.types[*value].dtype.is_float();
        let of: Vec<usize> = self.outputs.iter().copied().filter(is_float).take(2).collect();
        let mut wrt: Vec<usize> = (0..self.types.len()).filter(is_float).collect();
        let same = self.same();
        let needed = self.needed(&of);
        wrt.retain(|&value| needed[value] && !of.contains(&value) && !same.contains(&value));
        while wrt.len() > 3 {
            wrt.remove(numbers.below(wrt.len() as u64) as usize);
        }
        self.gradient = (!of.is_empty() && !wrt.is_empty()).then_some(Gradient { of, wrt });
    }

    pub(crate) fn fit_gradient(&mut self) {
        while graphs(&self.text()).is_err() {
            match &mut self.gradient {
                Some(gradient) if gradient.wrt.len() > 1 => drop(gradient.wrt.remove(0)),
                _ => {
                    self.gradient = None;
                    return;
                }
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let results = self.results();
        let name = |value: usize| if results.contains(&value) { format!("v{value}") } else { format!("x{value}") };
        (0..self.types.len()).map(name).collect()
    }

    pub(crate) fn text(&self) -> String {
        let names = self.names();
        let (mut params, mut lets, mut at) = (vec![], String::new(), 0);
        for step in &self.steps {
            match step {
                Step::Param => {
                    params.push(format!("{}: {}", names[at], self.types[at].text()));
                    at += 1;
                }
                Step::Call(call, count) => {
                    let call = call.text(&names, &self.types);
                    lets += &format!("    let {} = {call};\n", tuple(&names[at..at + count]));
                    at += count;
                }
            }
        }
        let mut results: Vec<String> = self.outputs.iter().map(|&output| names[output].clone()).collect();
        let mut types: Vec<String> = self.outputs.iter().map(|&output| self.types[output].text()).collect();
        if let Some(Gradient { of, wrt }) = &self.gradient {
            let sums: Vec<String> = of.iter().map(|&value| format!("sum({} as f32)", names[value])).collect();
            let gradients: Vec<String> = (0..wrt.len()).map(|part| format!("g{part}")).collect();
            let values: Vec<String> = wrt.iter().map(|&value| names[value].clone()).collect();
            lets += &format!("    let loss = {};\n", sums.join(" + "));
            let wrt_text = if let [only] = &values[..] { only.clone() } else { format!("[{}]", values.join(", ")) };
            lets += &format!("    let {} = grad(loss, wrt = {wrt_text});\n", tuple(&gradients));
            results.push("loss".to_owned());
            results.extend(gradients);
            types.push("f32[]".to_owned());
            types.extend(wrt.iter().map(|&value| self.types[value].text()));
        }
        format!("pub fn program({}) -> {} {{\n{lets}    {}\n}}\n", params.join(", "), tuple(&types), tuple(&results))
    }

    /// Returns outputs, loss and gradients.
    pub(crate) fn record(&self, device: &Device) -> Result<Vec<LazyTensor>, String> {
        let mut values: Vec<LazyTensor> = vec![];
        for step in &self.steps {
            match step {
                Step::Param => values.push(upload(device, &self.input(values.len()))),
                Step::Call(call, _) => values.extend(call.record(&values).map_err(|error| error.to_string())?),
            }
        }
        let mut results: Vec<LazyTensor> = self.outputs.iter().map(|&output| values[output].clone()).collect();
        if let Some(Gradient { of, wrt }) = &self.gradient {
            let sum = |value: usize| values[value].cast(DType::F32)?.sum(());
            let recorded = (|| {
                let mut loss = sum(of[0])?;
                for &value in &of[1..] {
                    loss = loss.add(sum(value)?)?;
                }
                let wrt: Vec<&LazyTensor> = wrt.iter().map(|&value| &values[value]).collect();
                let gradients = grad(&loss, &wrt)?;
                Ok(std::iter::once(loss).chain(gradients).collect::<Vec<_>>())
            })();
            results.extend(recorded.map_err(|error: fuse_gpu::auto::Error| error.to_string())?);
        }
        Ok(results)
    }

    pub(crate) fn with_extents(&self, device: &Device, extent: impl Fn(usize) -> usize) -> Option<Self> {
        let mut other = Self { types: vec![], ..self.clone() };
        let mut values: Vec<LazyTensor> = vec![];
        for step in &self.steps {
            match step {
                Step::Param => {
                    let Type { dtype, shape } = &self.types[values.len()];
                    let shape: Vec<usize> = shape.iter().map(|&dim| extent(dim)).collect();
                    other.types.push(Type { dtype: *dtype, shape });
                    if other.types[values.len()].elements() > 16 * MAX_ELEMENTS {
                        return None;
                    }
                    values.push(upload(device, &other.input(values.len())));
                }
                Step::Call(call, _) => {
                    let results = call.record(&values).ok()?;
                    other.types.extend(results.iter().map(type_of));
                    values.extend(results);
                }
            }
        }
        other.types.iter().all(|ty| ty.elements() <= 16 * MAX_ELEMENTS).then_some(other)
    }

    fn expected(&self) -> Result<Expected, String> {
        let mut graphs = graphs(&self.text())?;
        let graph: Graph = graphs.remove(0);
        let results = self.results();
        let inputs: Vec<Value> =
            (0..self.types.len()).filter(|value| !results.contains(value)).map(|value| self.input(value)).collect();
        let types = graph.results.iter().map(|result| {
            let ty = &graph.nodes[*result].ty;
            Type { dtype: ty.dtype, shape: data::extents(&graph, ty, &[]) }
        });
        let types = types.collect();
        Ok(Expected { types, values: run_bounded(&graph, &inputs, Stores::EveryNode) })
    }

    /// Compares the recorded graph with the source: types, sources and values.
    pub(crate) fn check(&self, device: &Device, order: Order) -> Result<Outcome, String> {
        let expected = self.expected()?;
        let lazies = self.record(device)?;
        let found: Vec<Type> = lazies.iter().map(type_of).collect();
        if found != expected.types {
            return Err(format!("expected {:?}, found {found:?}", expected.types));
        }
        for lazy in &lazies {
            if !lazy.is_evaluated().map_err(|error| error.to_string())? {
                correct(&lazy.source().map_err(|error| error.to_string())?)?;
            }
        }
        let source = lazies.last().and_then(|lazy| lazy.source().ok()).unwrap_or_default();
        let first = match order {
            Order::Together => eval_all(&lazies.iter().collect::<Vec<_>>()),
            Order::FirstFirst => lazies[0].eval(),
            Order::LastFirst => lazies[lazies.len() - 1].eval(),
        };
        let values = first.map_err(|error| error.to_string());
        let values = values.and_then(|()| lazies.iter().map(download).collect::<Result<Vec<Value>, String>>());
        match (expected.values, values) {
            (Ok(expected), Ok(values)) => compare(&expected, &values).map_err(|error| format!("{error}\n{source}")),
            (Err(_), Err(_)) => Ok(Outcome::default()),
            (Ok(_), Err(error)) => Err(error),
            (Err(refusal), Ok(_)) => Err(format!("expected the error `{refusal}`, found results")),
        }
    }

    /// The first failing call with its ancestors.
    pub(crate) fn shrunk(&self, fails: impl Fn(&Self) -> bool) -> Self {
        let mut smallest = self.clone();
        for last in self.results() {
            let mut part = Self { outputs: vec![last], gradient: None, ..self.clone() };
            part.keep_needed();
            if fails(&part) {
                smallest = part;
                break;
            }
        }
        smallest
    }

    /// Marks the ancestors of `of`; one marked result marks all results of its call.
    fn needed(&self, of: &[usize]) -> Vec<bool> {
        let mut needed = vec![false; self.types.len()];
        of.iter().for_each(|&value| needed[value] = true);
        let mut end = self.types.len();
        for step in self.steps.iter().rev() {
            let count = if let Step::Call(_, count) = step { *count } else { 1 };
            let start = end - count;
            if needed[start..end].contains(&true) {
                needed[start..end].fill(true);
                if let Step::Call(call, _) = step {
                    call.all_values().into_iter().for_each(|value| needed[value] = true);
                }
            }
            end = start;
        }
        needed
    }

    fn keep_needed(&mut self) {
        let needed = self.needed(&self.outputs);
        let mut start = 0;
        let mut kept = vec![];
        for step in &self.steps {
            kept.push(needed[start]);
            start += if let Step::Call(_, count) = step { *count } else { 1 };
        }
        let mut places = vec![0; self.types.len()];
        let mut count = 0;
        for (value, needed) in needed.iter().enumerate() {
            places[value] = count;
            count += usize::from(*needed);
        }
        let mut keep = kept.iter();
        self.steps.retain(|_| *keep.next().expect("one for each"));
        let mut keep = needed.iter();
        self.types.retain(|_| *keep.next().expect("one for each"));
        for step in &mut self.steps {
            if let Step::Call(call, _) = step {
                call.rename(&places);
            }
        }
        self.outputs.iter_mut().for_each(|output| *output = places[*output]);
    }
}

struct Expected {
    types: Vec<Type>,
    values: Result<Vec<fuse_compiler::interp::Tensor<fuse_compiler::interp::Bounded>>, InterpError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Together,
    FirstFirst,
    LastFirst,
}

fn tuple(items: &[String]) -> String {
    if let [only] = items { only.clone() } else { format!("({})", items.join(", ")) }
}

pub(crate) fn type_of(value: &LazyTensor) -> Type {
    Type { dtype: value.dtype().expect("recorded"), shape: value.shape().expect("recorded") }
}

pub(crate) fn correct(text: &str) -> Result<(), String> {
    let tokens = text.parse().map_err(|error| format!("{error}\n{text}"))?;
    let items = fuse_compiler::front::items(tokens);
    let remarks: Vec<String> = items.diagnostics.iter().map(ToString::to_string).collect();
    if remarks.is_empty() && !items.functions.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\n{text}", remarks.join("\n")))
    }
}

/// Records a call and checks it in the language: `Some` if both accept it, `None` if both refuse it.
pub(crate) fn judge(call: &Call, types: &[Type], values: &[LazyTensor]) -> Result<Option<Vec<LazyTensor>>, String> {
    let names: Vec<String> = (0..types.len()).map(|value| format!("x{value}")).collect();
    let mut used: Vec<usize> = call.values().collect();
    used.sort_unstable();
    used.dedup();
    let params: Vec<String> = used.iter().map(|&value| format!("x{value}: {}", types[value].text())).collect();
    let (params, text) = (params.join(", "), call.text(&names, types));
    let first = used[0];
    let named = |count: usize| tuple(&(0..count).map(|part| format!("v{part}")).collect::<Vec<_>>());
    let bound = named(call.results());
    let plain = format!("pub fn f({params}) -> {} {{ let {bound} = {text}; x{first} }}", types[first].text());
    match (call.record(values), graphs(&plain)) {
        (Err(_), Err(_)) => Ok(None),
        (Err(_), Ok(_)) if call.is_checked_later(types) => Ok(None),
        (Err(error), Ok(_)) => Err(format!("refused, and not by the language: {error}\n{plain}\n{call:?}")),
        (Ok(_), Err(error)) => Err(format!("accepted, and not by the language: {error}\n{plain}\n{call:?}")),
        (Ok(results), Ok(_)) => {
            let found: Vec<String> = results.iter().map(|result| type_of(result).text()).collect();
            let (parts, found) = (named(results.len()), tuple(&found));
            let typed = format!("pub fn f({params}) -> {found} {{ let {parts} = {text}; {parts} }}");
            graphs(&typed).map_err(|error| format!("another type: {error}\n{typed}"))?;
            Ok(Some(results))
        }
    }
}

pub(crate) fn upload(device: &Device, value: &Value) -> LazyTensor {
    let (data, shape) = (value.data.iter().copied(), &value.shape);
    match value.dtype {
        DType::F32 => of(device, data.map(|x| x as f32).collect(), shape),
        DType::F16 => of(device, data.map(f16::from_f64).collect(), shape),
        DType::I32 => of(device, data.map(|x| x as i32).collect(), shape),
        DType::U32 => of(device, data.map(|x| x as u32).collect(), shape),
        DType::Bool => of(device, data.map(|x| x != 0.0).collect(), shape),
    }
}

fn of<T: Element>(device: &Device, values: Vec<T>, shape: &[usize]) -> LazyTensor {
    match shape.len() {
        0 => of_rank::<T, 0>(device, values, shape),
        1 => of_rank::<T, 1>(device, values, shape),
        2 => of_rank::<T, 2>(device, values, shape),
        3 => of_rank::<T, 3>(device, values, shape),
        4 => of_rank::<T, 4>(device, values, shape),
        5 => of_rank::<T, 5>(device, values, shape),
        _ => of_rank::<T, 6>(device, values, shape),
    }
}

fn of_rank<T: Element, const D: usize>(device: &Device, values: Vec<T>, shape: &[usize]) -> LazyTensor {
    let shape = shape.try_into().expect("the rank");
    LazyTensor::from(Tensor::<T, D>::from_vec(device, values, shape).expect("memory"))
}

fn download(value: &LazyTensor) -> Result<Value, String> {
    let Type { dtype, shape } = type_of(value);
    let data: Result<Vec<f64>, fuse_gpu::auto::Error> = match dtype {
        DType::F32 => value.to_vec_blocking::<f32>().map(|data| data.into_iter().map(f64::from).collect()),
        DType::F16 => value.to_vec_blocking::<f16>().map(|data| data.into_iter().map(f64::from).collect()),
        DType::I32 => value.to_vec_blocking::<i32>().map(|data| data.into_iter().map(f64::from).collect()),
        DType::U32 => value.to_vec_blocking::<u32>().map(|data| data.into_iter().map(f64::from).collect()),
        DType::Bool => {
            value.to_vec_blocking::<bool>().map(|data| data.into_iter().map(|x| f64::from(u8::from(x))).collect())
        }
    };
    Ok(Value { dtype, shape, data: data.map_err(|error| error.to_string())? })
}
