use std::{borrow::Cow, fmt};

use crate::List;

/// Index into [`Function::symbols`](crate::Function::symbols): a dimension known only at launch.
pub type SymbolId = u16;

/// A dimension or product of dimensions: a polynomial over symbols with integer coefficients.
///
/// # Invariant
/// Terms are sorted by their symbols, which are distinct, and no coefficient is zero. Hence sizes are equal for all
/// symbol values exactly if they compare equal.
///
/// Coefficients saturate: a size beyond 2⁶³ exceeds every device and only must not panic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Size {
    /// Summands; empty for zero.
    pub terms: List<Term>,
}

/// `coefficient · symbols[0] · symbols[1] · …`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// Factors, sorted; a square lists its symbol twice.
    pub symbols: List<SymbolId>,
    /// Integer factor.
    pub coefficient: i64,
}

impl Size {
    /// Size 1.
    pub const ONE: Self = Self { terms: Cow::Borrowed(&[Term { symbols: Cow::Borrowed(&[]), coefficient: 1 }]) };

    /// A literal dimension.
    pub fn constant(value: u64) -> Self {
        Self::from_terms(vec![Term { symbols: Cow::Borrowed(&[]), coefficient: value as i64 }])
    }

    /// A dimension known at launch.
    pub fn symbol(id: SymbolId) -> Self {
        Self::from_terms(vec![Term { symbols: Cow::Owned(vec![id]), coefficient: 1 }])
    }

    fn from_terms(mut terms: Vec<Term>) -> Self {
        terms.sort();
        let mut merged: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some(last) if last.symbols == term.symbols => {
                    last.coefficient = last.coefficient.saturating_add(term.coefficient);
                }
                _ => merged.push(term),
            }
        }
        merged.retain(|term| term.coefficient != 0);
        Self { terms: Cow::Owned(merged) }
    }

    /// Sum of two sizes.
    pub fn add(&self, other: &Self) -> Self {
        Self::from_terms(self.terms.iter().chain(other.terms.iter()).cloned().collect())
    }

    /// Difference of two sizes.
    pub fn sub(&self, other: &Self) -> Self {
        let negated = other
            .terms
            .iter()
            .map(|t| Term { symbols: t.symbols.clone(), coefficient: t.coefficient.saturating_neg() });
        Self::from_terms(self.terms.iter().cloned().chain(negated).collect())
    }

    /// Product of two sizes.
    pub fn mul(&self, other: &Self) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() * other.terms.len());
        for a in self.terms.iter() {
            for b in other.terms.iter() {
                let mut symbols: Vec<SymbolId> = a.symbols.iter().chain(b.symbols.iter()).copied().collect();
                symbols.sort_unstable();
                terms.push(Term {
                    symbols: Cow::Owned(symbols),
                    coefficient: a.coefficient.saturating_mul(b.coefficient),
                });
            }
        }
        Self::from_terms(terms)
    }

    /// Product of a shape's dimensions.
    pub fn product<'a>(sizes: impl IntoIterator<Item = &'a Self>) -> Self {
        sizes.into_iter().fold(Self::ONE, |product, size| product.mul(size))
    }

    /// Value of a size without symbols.
    pub fn as_constant(&self) -> Option<u64> {
        match &*self.terms {
            [] => Some(0),
            [term] if term.symbols.is_empty() => u64::try_from(term.coefficient).ok(),
            _ => None,
        }
    }

    /// Symbol, if the size is exactly one.
    pub fn as_symbol(&self) -> Option<SymbolId> {
        match &*self.terms {
            [Term { symbols, coefficient: 1 }] if symbols.len() == 1 => Some(symbols[0]),
            _ => None,
        }
    }

    /// True for the literal 1.
    pub fn is_one(&self) -> bool {
        self.as_constant() == Some(1)
    }

    /// Value for given symbol values; `None` if negative or beyond 64 bits.
    pub fn eval(&self, values: &[u64]) -> Option<u64> {
        let mut sum = 0i128;
        for term in self.terms.iter() {
            let mut product = i128::from(term.coefficient);
            for &symbol in term.symbols.iter() {
                product = product.checked_mul(i128::from(*values.get(usize::from(symbol))?))?;
            }
            sum = sum.checked_add(product)?;
        }
        u64::try_from(sum).ok()
    }

    /// Formats the size, such as `4*M*N`, with names from `name`. Symbols with empty names count as 1.
    pub fn display<'a, F: Fn(SymbolId) -> &'a str>(&'a self, name: F) -> impl fmt::Display + use<'a, F> {
        DisplaySize { size: self, name }
    }
}

impl From<u64> for Size {
    fn from(value: u64) -> Self {
        Self::constant(value)
    }
}

struct DisplaySize<'a, F> {
    size: &'a Size,
    name: F,
}

impl<'a, F: Fn(SymbolId) -> &'a str> fmt::Display for DisplaySize<'a, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.size.terms.is_empty() {
            return f.write_str("0");
        }
        // The constant sorts first but reads best last.
        let constant_last = self.size.terms.iter().skip_while(|t| t.symbols.is_empty());
        let constants = self.size.terms.iter().take_while(|t| t.symbols.is_empty());
        for (i, term) in constant_last.chain(constants).enumerate() {
            match (i, term.coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let magnitude = term.coefficient.unsigned_abs();
            let mut separator = "";
            if magnitude != 1 {
                write!(f, "{magnitude}")?;
                separator = "*";
            }
            for &symbol in term.symbols.iter() {
                let name = (self.name)(symbol);
                if !name.is_empty() {
                    write!(f, "{separator}{name}")?;
                    separator = "*";
                }
            }
            if separator.is_empty() {
                f.write_str("1")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_polynomials_compare_equal() {
        let (m, k) = (Size::symbol(0), Size::symbol(1));
        let a = m.add(&2.into()).mul(&k);
        let b = k.mul(&2.into()).add(&k.mul(&m));
        assert_eq!(a, b);
        assert_eq!(a.sub(&b).as_constant(), Some(0));
        assert_eq!(a.eval(&[3, 7]), Some(35));
        assert_eq!(a.display(|i| ["M", "K"][usize::from(i)]).to_string(), "M*K + 2*K");
        assert_eq!(a.display(|i| ["", "K"][usize::from(i)]).to_string(), "K + 2*K");
        assert_eq!(a.display(|i| ["M", ""][usize::from(i)]).to_string(), "M + 2");
    }

    #[test]
    fn eval_reports_negative_and_huge_values() {
        let m = Size::symbol(0);
        assert_eq!(m.sub(&5.into()).eval(&[3]), None);
        assert_eq!(m.mul(&m).eval(&[u64::MAX]), None);
        assert_eq!(m.eval(&[]), None);
    }
}
