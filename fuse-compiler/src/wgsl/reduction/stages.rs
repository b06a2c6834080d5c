//! One stage: values per row, values per element, stores, and the states of the reductions that follow.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::Uniform;

use super::{
    Part, Text,
    combine::Partial,
    place::{Element, Frame, Site, is_load, widened},
    state::State,
};
use crate::{
    fusion::body::{Body, ValueId, ValueOp},
    schedule::reduction::{Direction, Member},
    wgsl::{
        builtins::vector_type,
        expr::{literal, operation},
    },
};

/// What a stage does with the elements of a row.
struct Work {
    /// The reductions that it prepares.
    reductions: Vec<ValueId>,
    /// The stores of elements.
    stores: Vec<usize>,
}

impl Text<'_> {
    /// Computes values per row, in order.
    pub(super) fn row_values(&mut self, values: &[ValueId]) {
        let frame = self.frame;
        let lanes = frame.row_lanes();
        for &value in values {
            let op = &frame.body().values[value].op;
            if matches!(op, ValueOp::Literal(_)) || self.row_names.contains_key(&value) {
                continue;
            }
            let no_elements = BTreeMap::new();
            let operand = |x: ValueId| operand(frame, &self.row_names, &no_elements, x, lanes);
            let site = Site { frame, element: None };
            let expression = operation(&mut self.shader, frame.body(), value, lanes, &operand, &site);
            self.main.line(format!("let v{value} = {expression};"));
            self.row_names.insert(value, format!("v{value}"));
        }
    }

    /// Names the results of reductions, given their combined words.
    pub(super) fn declare_reduced(&mut self, reductions: &[ValueId], words: &[Vec<String>]) {
        let lanes = self.frame.row_lanes();
        for (&reduction, words) in reductions.iter().zip(words) {
            let value = self.frame.state(reduction).value(&mut self.shader.helpers, lanes, words);
            self.main.line(format!("let v{reduction} = {value};"));
            self.row_names.insert(reduction, format!("v{reduction}"));
        }
    }

    /// Stores values per row, once per row.
    pub(super) fn row_stores(&mut self, by_part: bool) {
        let frame = self.frame;
        let stores: Vec<usize> = (0..frame.group.stores.len()).filter(|&n| !frame.stores_elements(n)).collect();
        if stores.is_empty() {
            return;
        }
        let conditions: &[&str] = if by_part { &["lane == 0u", "part == 0u"] } else { &["lane == 0u"] };
        let guard = self.guard(conditions).unwrap_or_default();
        self.main.line(format!("if {guard} {{"));
        for n in stores {
            let value = frame.group.stores[n].value;
            let value = operand(frame, &self.row_names, &BTreeMap::new(), value, frame.row_lanes());
            frame.store(&mut self.shader, &mut self.main, n, None, &value);
        }
        self.main.line("}");
    }

    /// Everything that a stage does with elements, and the results of the reductions that it finishes.
    pub(super) fn stage(&mut self, stage: usize, used: &BTreeSet<ValueId>) {
        let frame = self.frame;
        let work = Work {
            reductions: self.finished_by(stage, used),
            stores: (0..frame.group.stores.len()).filter(|&n| frame.stores_at(n, stage)).collect(),
        };
        if work.reductions.is_empty() && work.stores.is_empty() {
            return;
        }
        let partials = if frame.member.held > 0 { self.held(stage, &work, used) } else { self.streamed(&work) };
        if partials.is_empty() {
            return;
        }
        let words = self.combine(partials, &format!("s{stage}_"));
        match self.part {
            Part::Whole => self.declare_reduced(&work.reductions, &words),
            Part::Stage(_) => self.write_scratch(&work.reductions, &words),
        }
    }

    /// The values per element that work needs, in order, without those in `known`.
    fn element_values(&self, work: &Work, known: &BTreeMap<ValueId, String>) -> Vec<ValueId> {
        let frame = self.frame;
        let reduced = work.reductions.iter().map(|&r| frame.reduced(r));
        let mut pending: Vec<ValueId> =
            reduced.chain(work.stores.iter().map(|&n| frame.group.stores[n].value)).collect();
        let mut found = BTreeSet::new();
        while let Some(value) = pending.pop() {
            if frame.levels[value].per_element && !known.contains_key(&value) && found.insert(value) {
                pending.extend(Body::operands(&frame.body().values[value].op));
            }
        }
        found.into_iter().collect()
    }

    /// Computes values at an element; loads that `guard` protects become variables.
    fn elements(
        &mut self,
        values: &[ValueId],
        element: &Element,
        suffix: &str,
        guard: Option<&str>,
        names: &mut BTreeMap<ValueId, String>,
    ) {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        for &value in values {
            let known = &frame.body().values[value];
            let site = Site { frame, element: Some(element) };
            let operand = |x: ValueId| operand(frame, &self.row_names, names, x, lanes);
            let expression = operation(&mut self.shader, frame.body(), value, lanes, &operand, &site);
            let name = format!("v{value}{suffix}");
            match guard {
                Some(guard) if is_load(&known.op) => {
                    self.main.line(format!("var {name}: {};", vector_type(known.dtype, lanes)));
                    self.main.line(format!("if {guard} {{"));
                    self.main.line(format!("{name} = {expression};"));
                    self.main.line("}");
                }
                _ => self.main.line(format!("let {name} = {expression};")),
            }
            names.insert(value, name);
        }
    }

    /// A stage of a member that holds its rows.
    fn held(&mut self, stage: usize, work: &Work, used: &BTreeSet<ValueId>) -> Vec<Partial> {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        let held = frame.member.held as usize;
        let element = |h: usize| Element { coordinates: vec![format!("e{h}")] };
        if stage == 0 {
            self.hold(used);
        }
        for h in 0..held {
            let mut names = std::mem::take(&mut self.held_names[h]);
            let inside = format!("inside{h}");
            let values = self.element_values(work, &names);
            self.elements(&values, &element(h), &format!("_{h}"), Some(&inside), &mut names);
            self.element_stores(work, &element(h), Some(&inside), &names);
            self.held_names[h] = names;
        }
        let mut partials = vec![];
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            let neutral = state.neutral(lanes);
            let mut total: Vec<String> = vec![];
            for h in 0..held {
                let value = operand(frame, &self.row_names, &self.held_names[h], frame.reduced(reduction), lanes);
                let index = self.lane_indices(&format!("e{h}"));
                let words = state.of_element(&mut self.shader.helpers, lanes, &value, &index);
                let mut names = vec![];
                for (w, (word, neutral)) in words.iter().zip(&neutral).enumerate() {
                    names.push(format!("part{reduction}_{w}_{h}"));
                    self.main.line(format!("let {} = select({neutral}, {word}, inside{h});", names[w]));
                }
                if h > 0 {
                    let merged = state.merge(&total, &names);
                    names = self.name_all(&merged, &format!("total{reduction}_{h}"));
                }
                total = names;
            }
            let words = self.fold_lanes(state, total, reduction);
            partials.push(Partial { state, words });
        }
        partials
    }

    /// Declares this invocation's elements and reads what is held of them, all loads before any use.
    fn hold(&mut self, used: &BTreeSet<ValueId>) {
        let frame = self.frame;
        let Member { invocations, lanes, held, .. } = *frame.member;
        for h in 0..held {
            let first = if h == 0 { "lane".to_owned() } else { format!("(lane + {}u)", h * invocations) };
            let scale = if lanes > 1 { format!(" * {lanes}u") } else { String::new() };
            self.main.line(format!("let e{h} = {first}{scale};"));
            self.main.line(format!("let inside{h} = e{h} < end;"));
        }
        let is_plain =
            |v: &ValueId| matches!(frame.body().values[*v].op, ValueOp::Load(_)) && frame.levels[*v].per_element;
        let loads: Vec<ValueId> = used.iter().copied().filter(is_plain).collect();
        for h in 0..held as usize {
            let element = Element { coordinates: vec![format!("e{h}")] };
            let mut names = std::mem::take(&mut self.held_names[h]);
            self.elements(&loads, &element, &format!("_{h}"), Some(&format!("inside{h}")), &mut names);
            self.held_names[h] = names;
        }
    }

    /// A stage of a member that reads its rows anew.
    fn streamed(&mut self, work: &Work) -> Vec<Partial> {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        let Member { invocations, direction, .. } = *frame.member;
        let running = |r: ValueId, words: usize| (0..words).map(|w| format!("running{r}_{w}")).collect::<Vec<_>>();
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            // The lanes of a row's sum are added first: what each addition loses is kept, which costs more than to add.
            let neutral = state.neutral(if state.is_float_sum() { frame.row_lanes() } else { lanes });
            for (name, neutral) in running(reduction, neutral.len()).iter().zip(&neutral) {
                self.main.line(format!("var {name} = {neutral};"));
            }
            if state.is_float_sum() {
                self.main.line(format!("var lost{reduction} = {};", neutral[0]));
            }
        }
        if work.reductions.iter().any(|&r| frame.state(r).is_float_sum()) && !self.has_opaque {
            // No buffer holds rows of this length.
            let length = self.shader.uniform(Uniform::RowLength);
            self.main.line(format!("let opaque = select(0u, 1u, {length} == 0xffffffffu);"));
            self.has_opaque = true;
        }
        let per_invocation = if direction == Direction::Rows { lanes } else { 1 };
        let scale = if per_invocation > 1 { format!(" * {per_invocation}u") } else { String::new() };
        let first = if self.is_by_part() { format!("begin + lane{scale}") } else { format!("lane{scale}") };
        self.main.line(format!("for (var e = {first}; e < end; e += {}u) {{", invocations * per_invocation));
        let element = self.decode_element();
        let mut names = BTreeMap::new();
        let values = self.element_values(work, &names);
        self.elements(&values, &element, "", None, &mut names);
        self.element_stores(work, &element, None, &names);
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            let value = operand(frame, &self.row_names, &names, frame.reduced(reduction), lanes);
            let index = self.lane_indices("e");
            let words = state.of_element(&mut self.shader.helpers, lanes, &value, &index);
            let words = self.name_all(&words, &format!("own{reduction}"));
            let totals = running(reduction, words.len());
            if state.is_float_sum() {
                let words = self.fold_lanes(state, words, reduction);
                let (total, word, lanes) = (&totals[0], &words[0], frame.row_lanes());
                let sum = self.shader.helpers.call("fuse_hidden", lanes, &format!("{total} + {word}, opaque"));
                self.main.line(format!("let sum{reduction} = {sum};"));
                let lost = self.shader.helpers.call("fuse_lost", lanes, &format!("{total}, {word}, sum{reduction}"));
                self.main.line(format!("lost{reduction} += {lost};"));
                self.main.line(format!("{total} = sum{reduction};"));
            } else {
                self.merge_into(state, &totals, &words);
            }
        }
        self.main.line("}");
        let mut partials = vec![];
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            let mut words = running(reduction, state.words().len());
            if state.is_float_sum() {
                let arguments = format!("{}, lost{reduction}", words[0]);
                let restored = self.shader.helpers.call("fuse_restored", frame.row_lanes(), &arguments);
                words = self.name_all(&[restored], &format!("restored{reduction}"));
            } else {
                words = self.fold_lanes(state, words, reduction);
            }
            partials.push(Partial { state, words });
        }
        partials
    }

    /// The element `e` of a streamed row.
    fn decode_element(&mut self) -> Element {
        let [kept, reduced] = self.frame.member.axes;
        let mut coordinates = vec![];
        let mut rest = "e".to_owned();
        for axis in (1..reduced).rev() {
            let extent = self.shader.uniform(Uniform::Extent { axis: kept + axis });
            self.main.line(format!("let elements{axis} = {rest} / {extent};"));
            self.main.line(format!("let r{axis} = {rest} % {extent};"));
            coordinates.push(format!("r{axis}"));
            rest = format!("elements{axis}");
        }
        coordinates.push(rest);
        coordinates.reverse();
        Element { coordinates }
    }

    /// Stores values of an element, where it is inside.
    fn element_stores(
        &mut self,
        work: &Work,
        element: &Element,
        inside: Option<&str>,
        names: &BTreeMap<ValueId, String>,
    ) {
        if work.stores.is_empty() {
            return;
        }
        let frame = self.frame;
        let guard = self.guard(inside.as_slice());
        if let Some(guard) = &guard {
            self.main.line(format!("if {guard} {{"));
        }
        for &n in &work.stores {
            let value = operand(frame, &self.row_names, names, frame.group.stores[n].value, frame.element_lanes());
            frame.store(&mut self.shader, &mut self.main, n, Some(element), &value);
        }
        if guard.is_some() {
            self.main.line("}");
        }
    }

    /// The indices in the row of an element's lanes.
    fn lane_indices(&self, element: &str) -> String {
        match (self.frame.element_lanes(), self.frame.member.direction) {
            (1, _) => element.to_owned(),
            (_, Direction::Rows) => format!("vec4<u32>({element}) + vec4<u32>(0u, 1u, 2u, 3u)"),
            (_, Direction::Columns) => format!("vec4<u32>({element})"),
        }
    }

    /// The state of a row's four lanes.
    fn fold_lanes(&mut self, state: State, words: Vec<String>, reduction: ValueId) -> Vec<String> {
        if self.frame.element_lanes() == self.frame.row_lanes() {
            return words;
        }
        let lane = |lane: u32| words.iter().map(|word| format!("{word}[{lane}]")).collect::<Vec<_>>();
        let low = self.name_all(&state.merge(&lane(0), &lane(1)), &format!("low{reduction}"));
        let high = self.name_all(&state.merge(&lane(2), &lane(3)), &format!("high{reduction}"));
        self.name_all(&state.merge(&low, &high), &format!("folded{reduction}"))
    }

    /// Declares names for expressions.
    fn name_all(&mut self, expressions: &[String], tag: &str) -> Vec<String> {
        let names: Vec<String> = (0..expressions.len()).map(|i| format!("{tag}_{i}")).collect();
        for (name, expression) in names.iter().zip(expressions) {
            self.main.line(format!("let {name} = {expression};"));
        }
        names
    }
}

/// A value as an operand of the given width: an element's, or the row's, repeated.
fn operand(
    frame: &Frame<'_>,
    row_names: &BTreeMap<ValueId, String>,
    elements: &BTreeMap<ValueId, String>,
    value: ValueId,
    lanes: u32,
) -> String {
    let known = &frame.body().values[value];
    match (&known.op, elements.get(&value)) {
        (ValueOp::Literal(number), _) => literal(*number, known.dtype, lanes),
        (_, Some(name)) => name.clone(),
        (_, None) => widened(&row_names[&value], known.dtype, frame.row_lanes(), lanes),
    }
}
