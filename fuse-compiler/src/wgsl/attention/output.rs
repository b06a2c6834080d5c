//! Epilogue and stores of outputs, or partial results for the second pass.

use fuse_artifact::{DType, Slot, Uniform};

use super::{COMPUTED, Extents};
use crate::{
    fusion::{Group, Store, attention::is_of_row},
    kernel::{Block, Function, Ty, Val},
    wgsl::{
        epilogue::{Epilogue, declare_each, parameters, place_parameters},
        expr::emit,
        operand::{Operand, OperandPlace, load},
        shader::{Shader, to_storage},
    },
};

/// Declares `finish(batch, b0 …, row, column, output)`, which stores the epilogue of neighboring normalized outputs
/// inside the result, `normalizer(total)`, and the functions of [`declare_rows`].
pub(super) fn declare<'k>(shader: &mut Shader<'k>, group: &Group, extents: &Extents<'k>, lanes: u32) {
    declare_epilogue(shader, group, extents, lanes);
    if lanes == 1 {
        declare_each(shader, &extents.axes, "finish_four", COMPUTED);
    }
}

pub(in crate::wgsl) fn declare_epilogue<'k>(shader: &mut Shader<'k>, group: &Group, extents: &Extents<'k>, lanes: u32) {
    if stores_rows(group) {
        let elements = only(group, |store| !is_of_row(&group.body, store.value));
        Epilogue::new(&elements, extents.axes, COMPUTED, lanes, lanes).declare(shader);
        declare_rows(shader, group, extents, lanes);
    } else {
        Epilogue::new(group, extents.axes, COMPUTED, lanes, lanes).declare(shader);
    }
    declare_normalizer(shader, extents);
}

pub(in crate::wgsl) fn stores_rows(group: &Group) -> bool {
    group.stores.iter().any(|store| is_of_row(&group.body, store.value))
}

fn only(group: &Group, wanted: impl Fn(&Store) -> bool) -> Group {
    let stores: Vec<Store> = group.stores.iter().filter(|store| wanted(store)).cloned().collect();
    let body = group.body.only(&stores.iter().map(|store| store.value).collect::<Vec<_>>());
    Group { body, stores, ..group.clone() }
}

/// Declares `finish_numbers(batch, b0 …, row, largest, total)`, which stores results of a row's maximum score and sum
/// of exponentials, if it is inside the result. Its stores are the group's last.
fn declare_rows<'k>(shader: &mut Shader<'k>, group: &Group, extents: &Extents<'k>, buffer_lanes: u32) {
    let rows = only(group, |store| is_of_row(&group.body, store.value));
    let (body, lane_axis) = (&rows.body, group.shape.len() - 1);
    let operand = Operand { group: &rows, body, value: 0, prefix: "r", lanes: 1, buffer_lanes, lane_axis };
    let arena = shader.arena();
    let [batch, row] = ["batch", "row"].map(|name| arena.name(name, Ty::U32));
    let [largest, total] = ["largest", "total"].map(|name| arena.name(name, Ty::F32));
    let at: Vec<Val<'k>> = extents.axes.batch().into_iter().chain([row, arena.u32(0)]).collect();
    let mut b = Block::new();
    b.return_if(row.ge(extents.queries()));
    load(shader, &mut b, &operand, &operand.loads(), &at);
    let loaded = |access| operand.loaded(arena, access);
    // Accumulators of products are unavailable here.
    let accumulators = [largest, largest, total];
    let place = OperandPlace { operand: &operand, loaded: &loaded, at: &at, accumulators: &accumulators };
    let values = emit(shader, &mut b, body, 1, operand.prefix, &place);
    let strided = |stores: &[Store]| stores.iter().filter(|store| store.access.is_some()).count();
    let first = (group.accesses.len() + strided(&group.stores) - strided(&rows.stores)) as u16;
    for (index, store) in (first..).zip(&rows.stores) {
        let Some(access) = &store.access else { unreachable!("numbers per row are stored through an access") };
        let dtype = body.values[store.value].dtype;
        let buffer = shader.buffer(store.slot, dtype, 1, true);
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        for (axis, &coordinate) in at.iter().enumerate().filter(|(axis, _)| access.access.axes[*axis].is_some()) {
            offset = offset + coordinate * shader.uniform(Uniform::Stride { access: index, axis: axis as u8 });
        }
        b.set(buffer.at(offset), to_storage(dtype, values[store.value]));
    }
    let name = "finish_numbers".to_owned();
    let coordinates = extents.axes.batch_parameters();
    let parameters = parameters(&[batch]).chain(coordinates).chain(parameters(&[row, largest, total])).collect();
    shader.function(Function { name, parameters, result: None, body: b });
}

pub(in crate::wgsl) fn call_finish_numbers<'k>(
    b: &mut Block<'k>,
    extents: &Extents<'k>,
    [batch, row]: [Val<'k>; 2],
    numbers: [Val<'k>; 2],
) {
    let arguments: Vec<Val<'k>> = [batch].into_iter().chain(extents.axes.batch()).chain([row]).chain(numbers).collect();
    b.run(batch.arena().call("finish_numbers", &arguments, Ty::Void));
}

pub(super) fn call_finish_row<'k>(b: &mut Block<'k>, [batch, row]: [Val<'k>; 2], [largest, total]: [Val<'k>; 2]) {
    b.run(batch.arena().call("finish_row", &[batch, row, largest, total], Ty::Void));
}

/// The factor of outputs whose exponentials sum to `total`.
pub(in crate::wgsl) fn normalizer(total: Val<'_>) -> Val<'_> {
    total.arena().call("normalizer", &[total], total.ty())
}

pub(super) const fn finish(split: bool, lanes: u32) -> &'static str {
    if split || lanes == 4 { "finish" } else { "finish_four" }
}

/// Declares `normalizer(total)`. Without a visible key there are no probabilities (0/0); without any key the output is
/// an empty sum.
fn declare_normalizer<'k>(shader: &mut Shader<'k>, extents: &Extents<'k>) {
    let arena = shader.arena();
    let total = arena.name("total", Ty::F32);
    let [zero, one] = [0.0, 1.0].map(|value| arena.f32(value));
    let body = Block::of(|b| {
        b.when(total.eq(zero), |b| b.answer(extents.keys().eq(0).select(zero, shader.nan())));
        b.answer(one / total);
    });
    let parameters = parameters(&[total]).collect();
    shader.function(Function { name: "normalizer".to_owned(), parameters, result: Some(Ty::F32), body });
}

/// Words of a part's row state: maximum score, sum of exponentials, padding to a vector.
pub(in crate::wgsl) const ROW_WORDS: u32 = 4;

/// Declares `finish(batch, b0 …, row, column, output)` and `finish_row(batch, row, largest, total)`, which store
/// partial results of the part `split`, `lanes` words at a time: the outputs of all parts, then each part and row's
/// [`ROW_WORDS`].
pub(super) fn declare_partial<'k>(shader: &mut Shader<'k>, extents: &Extents<'k>, lanes: u32) {
    let scratch = shader.buffer(Slot::Scratch, DType::F32, lanes, true);
    let batches = extents.axes.batches(shader);
    let (rows, columns) = (extents.queries(), extents.columns());
    let count = shader.uniform(Uniform::Count);
    let splits = shader.uniform(Uniform::Splits);
    let split = shader.private("split", Ty::U32);
    let arena = shader.arena();
    let [batch, row, column] = ["batch", "row", "column"].map(|name| arena.name(name, Ty::U32));
    let output = arena.name("output", Ty::of(COMPUTED, 4));
    let line = (split * batches + batch) * rows + row;
    let body = Block::of(|b| {
        let outside = row.ge(rows);
        b.return_if(if lanes == 1 { outside } else { outside.or(column.ge(columns)) });
        let at = b.bind("at", line * columns + column);
        if lanes == 4 {
            b.set(scratch.at(at / 4), output);
        } else {
            for e in 0..4 {
                b.when((column + e).lt(columns), |b| b.set(scratch.at(at + e), output.lane(e)));
            }
        }
    });
    let place = place_parameters(&extents.axes).into_iter().chain(parameters(&[output])).collect();
    shader.function(Function { name: "finish".to_owned(), parameters: place, result: None, body });
    let [largest, total] = ["largest", "total"].map(|name| arena.name(name, Ty::F32));
    let body = Block::of(|b| {
        b.return_if(row.ge(rows));
        let at = b.bind("at", splits * count + line * ROW_WORDS);
        if lanes == 4 {
            let zero = arena.f32(0.0);
            b.set(scratch.at(at / 4), arena.construct(Ty::of(COMPUTED, 4), &[largest, total, zero, zero]));
        } else {
            b.set(scratch.at(at), largest);
            b.set(scratch.at(at + 1), total);
        }
    });
    let parameters = parameters(&[batch, row, largest, total]).collect();
    shader.function(Function { name: "finish_row".to_owned(), parameters, result: None, body });
}
