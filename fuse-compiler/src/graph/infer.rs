//! Dtype inference by unification.
//!
//! Input: the body of a `fuse!(expr)`. Output: its free variables by first use, their dtype classes, dtypes of results
//! and literals. Functions declare their types, so only literals are inferred. Lowering reports contradictions.

mod constraint;

use std::collections::BTreeMap;

use fuse_artifact::DType;

use self::constraint::{Constraint, meet};
use super::lower::{
    catalog::{self, Kind, Pointwise},
    output::{DTypeClass, ExpressionDType},
    program::Program,
};
use crate::{
    operations::DTypes,
    syntax::ast::{
        self, Argument, BinaryOperator, Block, Call, Element, Expr, ExprKind, HostOperand, Literal, Target,
        UnaryOperator,
    },
};

type Term = usize;

pub(crate) struct Inferred {
    pub(crate) variables: Vec<(HostOperand, ExpressionDType)>,
    pub(crate) classes: Vec<DTypeClass>,
    pub(crate) witnesses: Vec<HostOperand>,
    pub(crate) results: Vec<ExpressionDType>,
    literals: Vec<(usize, ExpressionDType)>,
}

impl Inferred {
    pub(crate) fn literals(&self, dtypes: &[DType]) -> Literals {
        let chosen = |dtype: &ExpressionDType| match dtype {
            ExpressionDType::Known(dtype) => Some(*dtype),
            ExpressionDType::Class(class) => dtypes.get(*class).copied(),
        };
        Literals(self.literals.iter().filter_map(|(literal, dtype)| Some((*literal, chosen(dtype)?))).collect())
    }
}

/// Inferred dtypes of literals by address, since equal expressions can differ in dtype.
#[derive(Default)]
pub(crate) struct Literals(BTreeMap<usize, DType>);

impl Literals {
    pub(crate) fn of(&self, literal: &Expr) -> Option<DType> {
        self.0.get(&address(literal)).copied()
    }
}

fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

struct Inference<'a> {
    program: &'a Program<'a>,
    functions: &'a BTreeMap<String, usize>,
    generics: &'a [DType],
    parents: Vec<Term>,
    constraints: Vec<Constraint>,
    contradicted: Vec<bool>,
    literals: Vec<(usize, Term)>,
    variables: Vec<(HostOperand, Term)>,
    indices: BTreeMap<String, usize>,
}

type Bindings = BTreeMap<String, Term>;

pub(crate) fn infer(body: &Block, program: &Program<'_>) -> Inferred {
    let mut inference = Inference::new(program, program.functions.len(), &[]);
    let results = inference.block_results(body, &Bindings::new());
    inference.finish(results)
}

pub(crate) fn literals_of_function(index: usize, dtypes: &[DType], program: &Program<'_>) -> Literals {
    let function = program.functions[index];
    let mut inference = Inference::new(program, index, dtypes);
    let generics: Vec<Term> = dtypes.iter().map(|dtype| inference.known(*dtype)).collect();
    let mut bindings = Bindings::new();
    for param in &function.params {
        let term = inference.element(&param.ty.element, &generics);
        bindings.insert(param.name.to_string(), term);
    }
    let results = inference.block_results(&function.body, &bindings);
    for (result, ty) in results.into_iter().zip(&function.results) {
        let declared = inference.element(&ty.element, &generics);
        inference.unify(result, declared);
    }
    inference.finish(vec![]).literals(&[])
}

impl<'a> Inference<'a> {
    /// Function of this index; the expression's follows those of all functions.
    fn new(program: &'a Program<'a>, index: usize, generics: &'a [DType]) -> Self {
        Self {
            program,
            functions: &program.names[index],
            generics,
            parents: vec![],
            constraints: vec![],
            contradicted: vec![],
            literals: vec![],
            variables: vec![],
            indices: BTreeMap::new(),
        }
    }

    fn finish(&mut self, results: Vec<Term>) -> Inferred {
        let mut roots: Vec<Term> = Vec::new();
        let mut inferred =
            Inferred { variables: vec![], classes: vec![], witnesses: vec![], results: vec![], literals: vec![] };
        for (place, term) in self.variables.clone() {
            let root = self.find(term);
            if let Constraint::Class(class) = self.constraints[root]
                && !roots.contains(&root)
            {
                roots.push(root);
                inferred.classes.push(class);
                inferred.witnesses.push(place.clone());
            }
            let dtype = self.dtype(root, &roots);
            inferred.variables.push((place, dtype));
        }
        inferred.results = results.into_iter().map(|term| self.dtype(term, &roots)).collect();
        for (literal, term) in std::mem::take(&mut self.literals) {
            let root = self.find(term);
            let decided = matches!(self.constraints[root], Constraint::Known(_)) || roots.contains(&root);
            if decided && !self.contradicted[root] {
                let dtype = self.dtype(root, &roots);
                inferred.literals.push((literal, dtype));
            }
        }
        inferred
    }

    fn dtype(&mut self, term: Term, roots: &[Term]) -> ExpressionDType {
        let root = self.find(term);
        match (self.constraints[root], roots.iter().position(|other| *other == root)) {
            (Constraint::Known(dtype), _) => ExpressionDType::Known(dtype),
            (Constraint::Class(_), Some(class)) => ExpressionDType::Class(class),
            (Constraint::Class(DTypeClass::Float), None) => ExpressionDType::Known(DType::F32),
            (Constraint::Class(_), None) => ExpressionDType::Known(DType::I32),
        }
    }

    fn term(&mut self, constraint: Constraint) -> Term {
        self.parents.push(self.parents.len());
        self.constraints.push(constraint);
        self.contradicted.push(false);
        self.parents.len() - 1
    }

    fn class(&mut self, class: DTypeClass) -> Term {
        self.term(Constraint::Class(class))
    }

    fn known(&mut self, dtype: DType) -> Term {
        self.term(Constraint::Known(dtype))
    }

    fn find(&mut self, term: Term) -> Term {
        let mut root = term;
        while self.parents[root] != root {
            root = self.parents[root];
        }
        self.parents[term] = root;
        root
    }

    fn is_integer(&mut self, term: Term) -> bool {
        let root = self.find(term);
        match self.constraints[root] {
            Constraint::Known(dtype) => dtype.is_integer(),
            Constraint::Class(class) => class == DTypeClass::Integer,
        }
    }

    fn unify(&mut self, a: Term, b: Term) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let contradicted = self.contradicted[a] || self.contradicted[b];
        if let Some(both) = meet(self.constraints[a], self.constraints[b]) {
            self.parents[b] = a;
            self.constraints[a] = both;
            self.contradicted[a] = contradicted;
        } else {
            (self.contradicted[a], self.contradicted[b]) = (true, true);
        }
    }

    fn restrict(&mut self, term: Term, constraint: Constraint) {
        let other = self.term(constraint);
        self.unify(term, other);
    }

    fn block_results(&mut self, block: &Block, bindings: &Bindings) -> Vec<Term> {
        let bindings = self.lets(block, bindings);
        match &block.value.kind {
            ExprKind::Block(inner) => self.block_results(inner, &bindings),
            _ => self.values(&block.value, &bindings),
        }
    }

    fn lets(&mut self, block: &Block, bindings: &Bindings) -> Bindings {
        let mut bindings = bindings.clone();
        for statement in &block.statements {
            let values = self.values(&statement.value, &bindings);
            if let Target::Parameters(names) = &statement.target {
                for (name, value) in names.iter().zip(&values) {
                    bindings.get(&name.to_string()).copied().into_iter().for_each(|param| self.unify(param, *value));
                }
            }
            for (position, name) in statement.names().iter().enumerate() {
                let term = match values.get(position) {
                    Some(term) => *term,
                    None => self.class(DTypeClass::Any),
                };
                bindings.insert(name.to_string(), term);
            }
        }
        bindings
    }

    fn values(&mut self, expr: &Expr, bindings: &Bindings) -> Vec<Term> {
        match &expr.kind {
            ExprKind::Tuple(values) => values.iter().map(|value| self.expr(value, bindings)).collect(),
            ExprKind::Call(call) => match self.function(call) {
                Some(function) => self.function_call(function, call, bindings),
                None if call.name == "grad" => self.gradients(call, bindings),
                None => {
                    let value = self.call(call, bindings);
                    let split = catalog::find_call(call).is_some_and(|operation| operation.kind == Kind::Split);
                    vec![value; if split { catalog::split_parts(call) } else { 1 }]
                }
            },
            _ => vec![self.expr(expr, bindings)],
        }
    }

    fn expr(&mut self, expr: &Expr, bindings: &Bindings) -> Term {
        match &expr.kind {
            ExprKind::Method(call) => {
                super::lower::calls::call_arguments(call).for_each(|argument| _ = self.expr(argument, bindings));
                self.class(DTypeClass::Any)
            }
            ExprKind::Error | ExprKind::Tuple(_) => {
                if let ExprKind::Tuple(values) = &expr.kind {
                    for value in values {
                        self.expr(value, bindings);
                    }
                }
                self.class(DTypeClass::Any)
            }
            ExprKind::Name(name) => match bindings.get(&name.to_string()) {
                Some(term) => *term,
                None if catalog::constant(&name.to_string()).is_some() => {
                    let term = self.class(DTypeClass::Float);
                    self.literals.push((address(expr), term));
                    term
                }
                None => self.variable(&name.into()),
            },
            ExprKind::HostOperand(place) => match bindings.contains_key(&place.root.to_string()) {
                true => self.class(DTypeClass::Any),
                false => self.variable(place),
            },
            ExprKind::Literal(literal) => {
                let term = self.literal(literal);
                self.literals.push((address(expr), term));
                term
            }
            ExprKind::Unary(UnaryOperator::Neg, x)
                if let ExprKind::Literal(Literal::Integer(value @ 1.., None)) = x.kind =>
            {
                let term = self.integer(-value);
                self.literals.push((address(x), term));
                term
            }
            ExprKind::Unary(operator, x) => {
                let x = self.expr(x, bindings);
                let takes = match operator {
                    UnaryOperator::Neg => DTypes::NUMBERS,
                    UnaryOperator::Not if self.is_integer(x) => DTypes::INTEGERS,
                    // `!` on integers is too rare to generate kernels for.
                    UnaryOperator::Not => DTypes::BOOL,
                };
                self.same(takes, &[x])
            }
            ExprKind::Binary(first, others) => {
                let first = self.expr(first, bindings);
                others.iter().fold(first, |left, (operator, right)| {
                    let right = self.expr(right, bindings);
                    self.operator(*operator, &[left, right])
                })
            }
            ExprKind::Cast(x, element, _) => {
                self.expr(x, bindings);
                match element {
                    Element::DType(dtype) => self.known(*dtype),
                    Element::Generic(index) => match self.generics.get(*index) {
                        Some(dtype) => self.known(*dtype),
                        None => self.class(DTypeClass::Any),
                    },
                    Element::Quantized(_) => self.known(DType::F32),
                }
            }
            ExprKind::Block(block) => {
                let bindings = self.lets(block, bindings);
                self.expr(&block.value, &bindings)
            }
            ExprKind::Call(call) => self.call(call, bindings),
        }
    }

    fn variable(&mut self, place: &HostOperand) -> Term {
        if let Some(index) = self.indices.get(&place.text) {
            return self.variables[*index].1;
        }
        let term = self.class(DTypeClass::Any);
        self.indices.insert(place.text.clone(), self.variables.len());
        self.variables.push((place.clone(), term));
        term
    }

    fn literal(&mut self, literal: &Literal) -> Term {
        match literal {
            Literal::Bool(_) => self.known(DType::Bool),
            Literal::Integer(_, Some(dtype)) | Literal::Float(_, Some(dtype)) => self.known(*dtype),
            Literal::Integer(value, None) => self.integer(*value),
            Literal::Float(value, None) if DType::F16.keeps(*value) => self.class(DTypeClass::Float),
            Literal::Float(_, None) => self.known(DType::F32),
        }
    }

    fn integer(&mut self, value: i128) -> Term {
        let holds = |dtype: &DType| match dtype {
            DType::F32 | DType::F16 => dtype.keeps(value as f64),
            DType::I32 => i32::try_from(value).is_ok(),
            DType::U32 => u32::try_from(value).is_ok(),
            DType::Bool => false,
        };
        let dtypes: Vec<DType> = DTypeClass::Number.dtypes().iter().copied().filter(holds).collect();
        match DTypeClass::ALL.into_iter().find(|class| class.dtypes() == dtypes) {
            Some(class) => self.class(class),
            // Lowering reports it.
            None => self.known(DType::F32),
        }
    }

    fn operator(&mut self, operator: BinaryOperator, operands: &[Term]) -> Term {
        self.pointwise(operator.into(), operands)
    }

    fn same(&mut self, takes: DTypes, operands: &[Term]) -> Term {
        for pair in operands.windows(2) {
            self.unify(pair[0], pair[1]);
        }
        let constraint = match (takes.only(), takes) {
            (Some(only), _) => Constraint::Known(only),
            // Activations of integers are too rare to generate kernels for.
            (None, DTypes::FLOATS | DTypes::SIGNED) => Constraint::Class(DTypeClass::Float),
            (None, DTypes::NUMBERS) => Constraint::Class(DTypeClass::Number),
            // Booleans have `&&` and `||`.
            (None, DTypes::INTEGERS | DTypes::BITS) => Constraint::Class(DTypeClass::Integer),
            (None, _) => Constraint::Class(DTypeClass::Any),
        };
        for operand in operands {
            self.restrict(*operand, constraint);
        }
        operands.first().copied().unwrap_or_else(|| self.term(constraint))
    }

    fn function(&self, call: &Call) -> Option<&'a ast::Function> {
        let program = self.program;
        let index = self.functions.get(&call.name.to_string())?;
        Some(program.functions[*index])
    }

    fn function_call(&mut self, function: &ast::Function, call: &Call, bindings: &Bindings) -> Vec<Term> {
        let generics: Vec<Term> = function.generics.iter().map(|_| self.class(DTypeClass::Float)).collect();
        let arguments: Vec<Term> =
            super::lower::calls::call_arguments(call).map(|argument| self.expr(argument, bindings)).collect();
        for (argument, param) in arguments.into_iter().zip(&function.params) {
            let declared = self.element(&param.ty.element, &generics);
            self.unify(declared, argument);
        }
        function.results.iter().map(|result| self.element(&result.element, &generics)).collect()
    }

    fn gradients(&mut self, call: &Call, bindings: &Bindings) -> Vec<Term> {
        for argument in call.arguments.iter() {
            argument_exprs(argument).iter().for_each(|expr| _ = self.expr(expr, bindings));
        }
        let mut gradients = vec![];
        for (option, argument) in &call.options {
            let terms = argument_exprs(argument).iter().map(|expr| self.expr(expr, bindings));
            let terms: Vec<Term> = terms.collect();
            if option == "wrt" {
                gradients = terms;
            }
        }
        gradients
    }

    fn element(&mut self, element: &Element, generics: &[Term]) -> Term {
        match element {
            Element::DType(dtype) => self.known(*dtype),
            Element::Generic(index) => generics[*index],
            Element::Quantized(_) => self.known(DType::F32),
        }
    }

    fn call(&mut self, call: &Call, bindings: &Bindings) -> Term {
        if let Some(function) = self.function(call) {
            let results = self.function_call(function, call, bindings);
            return results.first().copied().unwrap_or_else(|| self.class(DTypeClass::Any));
        }
        let Some(operation) = catalog::find_call(call) else {
            for argument in super::lower::calls::call_arguments(call) {
                self.expr(argument, bindings);
            }
            return self.class(DTypeClass::Any);
        };
        let operands: Vec<Term> = call
            .arguments
            .iter()
            .flat_map(|argument| match (argument, operation.kind) {
                (Argument::Expr(expr), _) => std::slice::from_ref(expr),
                (Argument::List(list, _), Kind::Concat | Kind::Stack) => list.as_slice(),
                (Argument::List(..), _) => &[],
            })
            .map(|expr| self.expr(expr, bindings))
            .collect();
        match operation.kind {
            Kind::Grad => {
                self.gradients(call, bindings).first().copied().unwrap_or_else(|| self.class(DTypeClass::Any))
            }
            Kind::Pointwise(op) => self.pointwise(op, &operands),
            Kind::Clamp | Kind::Matmul | Kind::Dot | Kind::Outer => self.same(DTypes::NUMBERS, &operands),
            Kind::Lerp => self.same(DTypes::FLOATS, &operands),
            Kind::LeakyRelu | Kind::Elu => {
                let mut all = operands;
                all.extend(self.option_terms(&["slope", "alpha"], call, bindings));
                self.same(DTypes::FLOATS, &all)
            }
            Kind::Index => self.known(DType::I32),
            Kind::Dequantize => self.known(DType::F32),
            Kind::Transpose
            | Kind::Permute
            | Kind::Reshape
            | Kind::BroadcastTo
            | Kind::Slice
            | Kind::Squeeze
            | Kind::Unsqueeze
            | Kind::Flip
            | Kind::StopGradient
            | Kind::Checkpoint => operands.first().copied().unwrap_or_else(|| self.class(DTypeClass::Any)),
            Kind::Reduce(reduction) => {
                let value = self.same(reduction.takes(), &operands);
                if reduction.is_index() { self.known(DType::I32) } else { value }
            }
            Kind::Row(_) | Kind::BatchNorm | Kind::GroupNorm => {
                self.options(&["eps"], DType::F32, call, bindings);
                self.same(DTypes::FLOATS, &operands)
            }
            Kind::Concat | Kind::Stack => self.same(DTypes::ANY, &operands),
            Kind::Pad => {
                let mut all = operands;
                all.extend(self.option_terms(&["value"], call, bindings));
                self.same(DTypes::ANY, &all)
            }
            Kind::Roll | Kind::Tril | Kind::Triu => {
                self.options(&["shift", "diagonal"], DType::I32, call, bindings);
                self.same(DTypes::ANY, &operands)
            }
            Kind::Repeat | Kind::Tile | Kind::Split => self.same(DTypes::ANY, &operands),
            Kind::Glu => self.same(DTypes::FLOATS, &operands),
            Kind::CrossEntropy => {
                operands.iter().skip(1).for_each(|ids| self.restrict(*ids, Constraint::Known(DType::I32)));
                self.same(DTypes::FLOATS, &operands[..operands.len().min(1)])
            }
            Kind::Gather => {
                let indices = operands.get(1).copied();
                indices.into_iter().for_each(|ids| self.restrict(ids, Constraint::Known(DType::I32)));
                operands.first().copied().unwrap_or_else(|| self.class(DTypeClass::Any))
            }
            Kind::OneHot => {
                operands.into_iter().for_each(|ids| self.restrict(ids, Constraint::Known(DType::I32)));
                self.known(DType::F32)
            }
            Kind::Dropout => {
                for (operand, dtype) in operands.iter().skip(1).zip([DType::F32, DType::U32]) {
                    self.restrict(*operand, Constraint::Known(dtype));
                }
                self.same(DTypes::FLOATS, &operands[..operands.len().min(1)])
            }
        }
    }

    fn options(&mut self, names: &[&str], dtype: DType, call: &Call, bindings: &Bindings) {
        for term in self.option_terms(names, call, bindings) {
            self.restrict(term, Constraint::Known(dtype));
        }
    }

    fn option_terms(&mut self, names: &[&str], call: &Call, bindings: &Bindings) -> Vec<Term> {
        let given = call.options.iter().filter(|(name, _)| names.iter().any(|known| *name == known));
        given
            .filter_map(|(_, argument)| match argument {
                Argument::Expr(expr) => Some(self.expr(expr, bindings)),
                Argument::List(..) => None,
            })
            .collect()
    }

    fn pointwise(&mut self, op: Pointwise, operands: &[Term]) -> Term {
        match (op, operands) {
            (Pointwise::Select, [condition, values @ ..]) => {
                self.restrict(*condition, Constraint::Known(DType::Bool));
                self.same(DTypes::ANY, values)
            }
            _ => {
                let operand = self.same(op.takes(), operands);
                op.yields().map_or(operand, |dtype| self.known(dtype))
            }
        }
    }
}

fn argument_exprs(argument: &Argument) -> &[Expr] {
    match argument {
        Argument::Expr(expr) => std::slice::from_ref(expr),
        Argument::List(list, _) => list,
    }
}
