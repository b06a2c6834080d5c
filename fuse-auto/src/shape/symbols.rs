//! Symbolic extents: a symbol for every axis of an argument and every size argument. Operations unify symbols.
//!
//! The language cannot write some relations, such as half of an unknown extent or equal sums. Their symbols become
//! numbers; the function then serves these extents only, as [`Required`] states.

use fuse_artifact::{Size, SymbolId};

use crate::shape::infer::Space;

#[derive(Default)]
pub(crate) struct Symbols {
    values: Vec<u64>,
    bound: Vec<Option<Size>>,
    axes: usize,
    pub(crate) required: Vec<Required>,
}

/// Assumption of a function, in terms of its arguments' symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Required {
    Is(SymbolId, u64),
    /// The size is not 1, so it was not broadcast.
    NotOne(Size),
    /// The size is not 0, so equal products with this factor have equal cofactors.
    NotZero(Size),
}

impl Required {
    pub(crate) fn holds(&self, values: &[u64]) -> bool {
        match self {
            Self::Is(symbol, value) => values.get(usize::from(*symbol)) == Some(value),
            Self::NotOne(size) => size.eval(values) != Some(1),
            Self::NotZero(size) => size.eval(values) != Some(0),
        }
    }
}

impl Symbols {
    /// Extent of an argument's axis; 1 is no symbol.
    pub(crate) fn axis(&mut self, value: usize) -> Size {
        let symbol = self.values.len() as SymbolId;
        self.values.push(value as u64);
        let one = (value == 1).then_some(Size::ONE);
        self.bound.push(one.clone());
        self.axes = self.values.len();
        one.unwrap_or_else(|| Size::symbol(symbol))
    }

    pub(crate) fn argument(&mut self, value: u32) -> Size {
        self.values.push(value.into());
        self.bound.push(None);
        Size::symbol((self.values.len() - 1) as SymbolId)
    }

    /// Position among the size arguments; `None` for an axis.
    pub(crate) fn argument_position(&self, symbol: SymbolId) -> Option<usize> {
        usize::from(symbol).checked_sub(self.axes)
    }

    pub(crate) fn resolved(&self, size: &Size) -> Size {
        let mut sum = Size::default();
        for term in size.terms.iter() {
            let mut product = number(term.coefficient);
            for &symbol in term.symbols.iter() {
                let factor = match &self.bound[usize::from(symbol)] {
                    Some(size) => self.resolved(size),
                    None => Size::symbol(symbol),
                };
                product = product.mul(&factor);
            }
            sum = sum.add(&product);
        }
        sum
    }

    fn value(&self, size: &Size) -> u64 {
        size.eval(&self.values).unwrap_or(0)
    }

    /// Binds every symbol of a size to its value.
    fn freeze(&mut self, size: &Size) -> Size {
        let mut size = self.resolved(size);
        while let Some(&symbol) = size.terms.iter().find_map(|term| term.symbols.first()) {
            self.bind(symbol, Size::constant(self.values[usize::from(symbol)]));
            size = self.resolved(&size);
        }
        size
    }

    /// Freezes a size that the language cannot write: one that subtracts a symbol.
    pub(crate) fn keep_writable(&mut self, size: &Size) {
        let size = self.resolved(size);
        if size.terms.iter().any(|term| term.coefficient < 0 && !term.symbols.is_empty()) {
            self.freeze(&size);
        }
    }

    fn bind(&mut self, symbol: SymbolId, size: Size) {
        if let Some(value) = size.as_constant() {
            self.required.push(Required::Is(symbol, value));
        }
        self.bound[usize::from(symbol)] = Some(size);
    }

    /// Unifies products by one symbol, after removing common factors.
    fn unify_products(&mut self, a: &Size, b: &Size) -> bool {
        let ([left], [right]) = (&*a.terms, &*b.terms) else { return false };
        let (mut one, mut other, mut common) = (left.symbols.to_vec(), right.symbols.to_vec(), vec![]);
        one.retain(|symbol| match other.iter().position(|other| other == symbol) {
            Some(position) => {
                common.push(other.remove(position));
                false
            }
            None => true,
        });
        let of = |coefficient: i64, symbols: &[SymbolId]| {
            symbols.iter().fold(number(coefficient), |product, &symbol| product.mul(&Size::symbol(symbol)))
        };
        let shared = gcd(left.coefficient.unsigned_abs(), right.coefficient.unsigned_abs()).max(1) as i64;
        let common = of(1, &common);
        let is_equal = self.value(&common) != 0
            && self.unify(&of(left.coefficient / shared, &one), &of(right.coefficient / shared, &other));
        if is_equal && common.as_constant().is_none() {
            self.required.push(Required::NotZero(common));
        }
        is_equal
    }

    fn unify(&mut self, a: &Size, b: &Size) -> bool {
        let (a, b) = without_common(&self.resolved(a), &self.resolved(b));
        if a == b {
            return true;
        }
        let pairs = [(a.clone(), b.clone()), (b.clone(), a.clone())];
        let mut best: Option<(SymbolId, Size)> = None;
        for (one, other) in pairs {
            if let Some(symbol) = one.as_symbol().filter(|symbol| !mentions(&other, *symbol))
                && best.as_ref().is_none_or(|(earlier, _)| *earlier < symbol)
            {
                best = Some((symbol, other));
            }
        }
        match best {
            Some((symbol, size)) => {
                self.bind(symbol, size);
                true
            }
            None => false,
        }
    }
}

impl Space for Symbols {
    type Size = Size;

    fn number(&mut self, value: usize) -> Size {
        Size::constant(value as u64)
    }

    fn is_one(&mut self, size: &Size) -> bool {
        let size = self.resolved(size);
        if size.as_constant().is_some() {
            return size.is_one();
        }
        if self.value(&size) == 1 {
            return self.freeze(&size).is_one();
        }
        // A tensor's extent is 1 only if its type says so.
        if size.as_symbol().is_none_or(|symbol| self.argument_position(symbol).is_some()) {
            self.required.push(Required::NotOne(size));
        }
        false
    }

    fn equal(&mut self, a: &Size, b: &Size) -> bool {
        if self.unify(a, b) {
            return true;
        }
        let (a, b) = (self.resolved(a), self.resolved(b));
        self.unify_products(&a, &b) || self.freeze(&a) == self.freeze(&b)
    }

    fn add(&mut self, a: &Size, b: &Size) -> Size {
        a.add(b)
    }

    fn sub(&mut self, a: &Size, b: &Size) -> Size {
        a.sub(b)
    }

    fn mul(&mut self, a: &Size, b: &Size) -> Size {
        a.mul(b)
    }

    fn part(&mut self, whole: &Size, parts: &Size) -> Option<Size> {
        let (whole, parts) = (self.resolved(whole), self.resolved(parts));
        let divisor = parts.as_constant();
        if let Some(divisor @ 1..) = divisor
            && whole.terms.iter().all(|term| term.coefficient % divisor as i64 == 0)
        {
            let terms = whole.terms.iter().cloned().map(|mut term| {
                term.coefficient /= divisor as i64;
                term
            });
            return Some(Size { terms: terms.collect::<Vec<_>>().into() });
        }
        let (whole, parts) = (self.freeze(&whole).as_constant()?, self.freeze(&parts).as_constant()?);
        (parts > 0 && whole % parts == 0).then(|| Size::constant(whole / parts))
    }

    fn at_most(&mut self, a: &Size, b: &Size) -> bool {
        self.value(&self.resolved(a)) <= self.value(&self.resolved(b))
    }

    fn same_elements(&mut self, have: &[Size], want: &[Size]) -> bool {
        let (have, want) = (self.resolved(&Size::product(have)), self.resolved(&Size::product(want)));
        if have == want {
            return true;
        }
        // `[B, K]` as `[B, 12, 32]` determines K. The launch compares products that keep other symbols.
        self.unify_products(&have, &want);
        self.value(&have) == self.value(&want)
    }

    fn text(&self, size: &Size) -> String {
        self.resolved(size).display(|_| "N").to_string()
    }
}

/// Sizes without common terms: `A + 1` equals `B + 1` if `A` equals `B`.
fn without_common(a: &Size, b: &Size) -> (Size, Size) {
    let more = |a: &Size, b: &Size| Size {
        terms: a.sub(b).terms.iter().filter(|term| term.coefficient > 0).cloned().collect::<Vec<_>>().into(),
    };
    (more(a, b), more(b, a))
}

fn mentions(size: &Size, symbol: SymbolId) -> bool {
    size.terms.iter().any(|term| term.symbols.contains(&symbol))
}

fn number(coefficient: i64) -> Size {
    match u64::try_from(coefficient) {
        Ok(value) => Size::constant(value),
        Err(_) => Size::default().sub(&Size::constant(coefficient.unsigned_abs())),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
