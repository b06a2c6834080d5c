//! Gradients: recorded as operations, evaluated with the differentiated value or later.
//!
//! A gradient pins the nodes between its value and `wrt`: they keep their inputs until it is evaluated or dropped.
//! Evaluated values keep their inputs for a while (`cache/memory.rs`) and are then recomputed with the gradient.

use std::sync::{Arc, Weak};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{
    api::{
        lazy::LazyTensor,
        operand::quantized,
        record::{Request, keep_within_limits},
    },
    error::Error,
    node::{Input, Inputs, Node},
    op::Op,
};

/// Gradients of a single number with respect to some values, each in its value's shape.
///
/// ```no_run
/// # use fuse_auto::{Error, LazyTensor, eval_all, grad};
/// # fn step(x: &LazyTensor, y: &LazyTensor, w: &mut LazyTensor) -> Result<(), Error> {
/// let error = &x.matmul(w)? - y;
/// let loss = (&error * &error).mean(())?;
/// let [dw] = grad(&loss, &[w])?.try_into().expect("a gradient for each");
/// let next = &*w - 0.1 * dw;
/// eval_all(&[&loss, &next])?; // one function: forward, backward and update
/// *w = next;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Operation`] if `of` is not a single float, or if `wrt` is empty or lists a value twice, a non-float, or one
/// without a differentiable path to `of`.
///
/// [`Error::Evaluated`] if an earlier evaluation computed `of` from a value of `wrt` and dropped the inputs (see
/// [`LazyTensor::eval`]).
pub fn grad(of: &LazyTensor, wrt: &[&LazyTensor]) -> Result<Vec<LazyTensor>, Error> {
    let node = of.node()?;
    if node.dtype.is_float() && !node.shape.is_empty() {
        let message = format!("differentiates one number, found `{}`", node.type_text());
        return Err(Error::operation("grad", message, "sum it, or use `grad_with`, which takes a cotangent"));
    }
    gradients(of, None, wrt)
}

/// Records `work` as a checkpoint: gradients recompute its intermediates instead of storing them. Values held or read
/// outside stay stored.
///
/// # Errors
/// Those of `work`; [`Error::Operation`] if its value is quantized.
pub fn checkpoint(work: impl FnOnce() -> Result<LazyTensor, Error>) -> Result<LazyTensor, Error> {
    let from = Node::next_number();
    let value = work()?;
    let to = Node::next_number();
    let node = value.node()?;
    if let Some((packing, _)) = node.packing {
        return Err(quantized("checkpoint", packing));
    }
    let (dtype, shape) = (node.dtype, node.shape);
    Request::new(Op::Checkpoint(from, to), dtype, Inputs::from_iter([Input::of(node)])).record_as(shape)
}

/// Gradients of a value, weighted by a cotangent per element.
///
/// # Errors
/// As [`grad`]; [`Error::Operation`] if the cotangent's dtype or shape differs from that of `of`.
pub fn grad_with(of: &LazyTensor, cotangent: &LazyTensor, wrt: &[&LazyTensor]) -> Result<Vec<LazyTensor>, Error> {
    let (node, other) = (of.node()?, cotangent.node()?);
    if node.dtype != other.dtype || other.packing.is_some() {
        let message = format!(
            "a cotangent has the type of what is differentiated: expected `{}`, found `{}`",
            node.type_text(),
            other.type_text()
        );
        return Err(Error::operation("grad", message, "convert it with `cast`"));
    }
    gradients(of, Some(cotangent), wrt)
}

fn gradients(of: &LazyTensor, cotangent: Option<&LazyTensor>, wrt: &[&LazyTensor]) -> Result<Vec<LazyTensor>, Error> {
    let node = of.node()?;
    if !node.dtype.is_float() {
        let message = format!("differentiates floats, found `{}`", node.type_text());
        return Err(Error::operation("grad", message, "convert it with `cast`"));
    }
    if wrt.is_empty() {
        return Err(Error::operation("grad", "with respect to nothing", "list at least one value"));
    }
    for (position, value) in wrt.iter().enumerate() {
        check(value, &wrt[..position])?;
    }
    let path = Path::find(node, wrt)?;
    let operands = std::iter::once(of).chain(cotangent).chain(wrt.iter().copied());
    let inputs = operands.map(|value| Ok(Input::of(value.node()?))).collect::<Result<Inputs, Error>>()?;
    let call = Request::new(Op::Grad { cotangent: cotangent.is_some() }, node.dtype, inputs).record()?;
    path.pin(call.node()?, wrt)?;
    let part = |(number, value): (usize, &&LazyTensor)| {
        let wrt = value.node()?;
        let inputs = Inputs::from_iter([Input::of(call.node()?)]);
        Request::new(Op::Part(number as u16), wrt.dtype, inputs).record_as(wrt.shape)
    };
    let parts = wrt.iter().enumerate().map(part).collect::<Result<Vec<_>, _>>()?;
    // Evaluated one by one, they would recompute what they share.
    keep_within_limits(&parts.iter().map(LazyTensor::node).collect::<Result<SmallVec<[_; 4]>, _>>()?)?;
    Ok(parts)
}

/// Requires a float that is listed once.
fn check(value: &LazyTensor, earlier: &[&LazyTensor]) -> Result<(), Error> {
    let node = value.node()?;
    if node.packing.is_some() {
        let help = "its codes are no numbers that change a little; differentiate with respect to a float";
        return Err(Error::operation("grad", "a quantized weight has no gradient", help));
    }
    if !node.dtype.is_float() {
        let message = format!("gradients are with respect to floats, found `{}`", node.type_text());
        return Err(Error::operation("grad", message, "convert it with `cast` before it is used"));
    }
    if earlier.iter().any(|other| other.is(value)) {
        let message = format!("`wrt` lists a value of `{}` twice", node.type_text());
        return Err(Error::operation("grad", message, "list every value once"));
    }
    Ok(())
}

struct Path {
    nodes: Vec<Arc<Node>>,
}

#[derive(Clone, Copy, Default)]
struct Reached {
    depends: bool,
    differentiably: bool,
}

impl Path {
    fn find(of: &Arc<Node>, wrt: &[&LazyTensor]) -> Result<Self, Error> {
        let targets: Vec<&Arc<Node>> = wrt.iter().map(|value| value.node()).collect::<Result<_, _>>()?;
        let oldest = targets.iter().map(|target| target.number).min().unwrap_or(0);
        let mut reached = vec![Reached::default(); targets.len()];
        let mut nodes: Vec<(Arc<Node>, Inputs)> = vec![];
        // True for nodes reached on a differentiable path. Others are visited again if such a path is found.
        let mut visited: FxHashMap<*const Node, bool> = FxHashMap::default();
        let mut stack = vec![(Arc::clone(of), true)];
        while let Some((node, differentiable)) = stack.pop() {
            let reaches = differentiable && node.dtype.is_float();
            let key = Arc::as_ptr(&node);
            let before = visited.get(&key).copied();
            if before.is_some_and(|before| before || !reaches) {
                continue;
            }
            visited.insert(key, reaches);
            if let Some(position) = targets.iter().position(|target| Arc::ptr_eq(target, &node)) {
                reached[position].depends = true;
                reached[position].differentiably |= reaches;
            }
            let differentiable = reaches && !matches!(node.op, Op::StopGradient);
            let state = node.lock();
            let mut inputs = state.inputs.clone();
            let origin = state.origin.as_ref().filter(|_| inputs.is_empty() && differentiable).map(Arc::clone);
            drop(state);
            if let Some(wrt) = origin.and_then(|origin| origin.first_of(&targets)) {
                let what = format!("`{}` (`{}`)", node.type_text(), node.op.name());
                return Err(Error::Evaluated { what, wrt: format!("`{}`", wrt.type_text()) });
            }
            // Inputs read for their extents are no path.
            inputs.truncate(node.op.operands(inputs.len()));
            inputs.retain(|input| input.node().is_some_and(|input| input.number >= oldest));
            stack.extend(inputs.iter().filter_map(Input::node).map(|input| (Arc::clone(input), differentiable)));
            if before.is_none() && !inputs.is_empty() {
                nodes.push((node, inputs));
            }
        }
        check_reached(&targets, &reached)?;
        Ok(Self { nodes: between(nodes, &targets) })
    }

    fn pin(self, call: &Arc<Node>, wrt: &[&LazyTensor]) -> Result<(), Error> {
        let mut pinned: Vec<Weak<Node>> = vec![];
        let mut lost = false;
        for node in &self.nodes {
            let mut state = node.lock();
            // Another thread may have evaluated it.
            lost |= state.inputs.is_empty();
            state.pins += 1;
            pinned.push(Arc::downgrade(node));
        }
        call.lock().pinned = pinned;
        if lost {
            let wrt: Vec<String> = wrt.iter().map(|value| format!("{value:?}")).collect();
            return Err(Error::Evaluated { what: "it".to_owned(), wrt: wrt.join(", ") });
        }
        Ok(())
    }
}

/// Requires a differentiable path to each target.
///
/// # Errors
/// [`Error::Operation`] for a target without one.
fn check_reached(targets: &[&Arc<Node>], reached: &[Reached]) -> Result<(), Error> {
    for (position, (target, reached)) in targets.iter().zip(reached).enumerate() {
        let wrt = target.type_text();
        if !reached.depends {
            let message = format!("what is differentiated does not depend on value {position} of `wrt`, `{wrt}`");
            return Err(Error::operation("grad", message, "leave it out; its gradient would be 0"));
        }
        if !reached.differentiably {
            let message = format!(
                "no differentiable path leads from value {position} of `wrt`, `{wrt}`, to what is differentiated"
            );
            let help = "integers, truth values and what `stop_gradient` gives are constants to gradients";
            return Err(Error::operation("grad", message, help));
        }
    }
    Ok(())
}

fn between(mut nodes: Vec<(Arc<Node>, Inputs)>, targets: &[&Arc<Node>]) -> Vec<Arc<Node>> {
    // Inputs are older than their readers.
    nodes.sort_unstable_by_key(|(node, _)| node.number);
    let mut dependent: FxHashSet<*const Node> = targets.iter().map(|target| Arc::as_ptr(target)).collect();
    let depends = |(node, inputs): (Arc<Node>, Inputs)| {
        let depends = inputs.iter().filter_map(Input::node).any(|input| dependent.contains(&Arc::as_ptr(input)));
        depends.then(|| {
            dependent.insert(Arc::as_ptr(&node));
            node
        })
    };
    nodes.into_iter().filter_map(depends).collect()
}
