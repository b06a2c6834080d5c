//! Ranks as types: the caller's type checker computes the result rank of a `fuse!(…)` expression.
//!
//! Input: rank types of the operands. Output: an associated type. Unlisted pairs of ranks are compile errors with the
//! traits' messages. Not here: extents, which are compared at launch.

use crate::{
    api::{raw::RawTensor, tensor::Tensor},
    context::element::Element,
};

/// A number of axes, as a type.
#[derive(Clone, Copy, Debug)]
pub struct Rank<const D: usize>;

/// A rank that tensors can have.
pub trait Ranked {
    /// The number of axes.
    const AXES: usize;
    /// The tensor of this rank.
    type Tensor<T: Element>;

    /// Types a launch's result.
    #[doc(hidden)]
    fn tensor<T: Element>(raw: RawTensor) -> Self::Tensor<T>;
}

impl<const D: usize> Ranked for Rank<D> {
    const AXES: usize = D;
    type Tensor<T: Element> = Tensor<T, D>;

    fn tensor<T: Element>(raw: RawTensor) -> Tensor<T, D> {
        Tensor::from_raw(raw)
    }
}

/// The rank of two tensors broadcast together: the larger one, as in NumPy.
///
/// Holds for ranks 0 to 6. Code generic over `D` states its bounds, for example `where Rank<D>: BroadcastRank<Rank<D>,
/// Output = Rank<D>>`.
#[diagnostic::on_unimplemented(
    message = "a tensor of `{Self}` cannot be broadcast with one of `{Other}`",
    label = "ranks 0 to 6 are supported"
)]
pub trait BroadcastRank<Other> {
    /// The larger rank.
    type Output: Ranked;
}

/// The rank of a matrix product: the larger of two ranks of at least 2.
#[diagnostic::on_unimplemented(
    message = "`matmul` cannot multiply a tensor of `{Self}` by one of `{Other}`",
    label = "`matmul` needs two tensors of rank 2 to 6",
    note = "a vector `v` becomes a matrix of one row by `unsqueeze(v, axis = 0)`, of one column by `axis = 1`"
)]
pub trait MatmulRank<Other> {
    /// The larger rank.
    type Output: Ranked;
}

/// A rank of at least `N`.
#[diagnostic::on_unimplemented(
    message = "an operation of this expression needs a tensor of rank {N} or more, found `{Self}`",
    label = "expected a tensor of rank {N} or more",
    note = "`transpose` needs 2 axes, and `axis = -{N}` needs {N}"
)]
pub trait AtLeast<const N: usize> {
    /// The same rank.
    type Output: Ranked;
}

/// A rank of `N`.
#[diagnostic::on_unimplemented(
    message = "an operation of this expression needs a tensor of rank {N}, found `{Self}`",
    label = "expected a tensor of rank {N}"
)]
pub trait Exactly<const N: usize> {
    /// The same rank.
    type Output: Ranked;
}

/// The common rank of joined values.
#[diagnostic::on_unimplemented(
    message = "a tensor of `{Self}` cannot be joined with one of `{Other}`",
    label = "`concat` and `stack` join tensors of one rank",
    note = "`unsqueeze(x, axis = 0)` adds an axis"
)]
pub trait SameRank<Other> {
    /// The common rank.
    type Output: Ranked;
}

/// The rank with one axis more.
#[diagnostic::on_unimplemented(
    message = "`unsqueeze` cannot add an axis to a tensor of `{Self}`",
    label = "tensors have at most 6 axes"
)]
pub trait OneMore {
    /// One axis more.
    type Output: Ranked;
}

/// The rank with one axis less.
#[diagnostic::on_unimplemented(
    message = "a tensor of `{Self}` has no axis to take away",
    label = "expected a tensor with at least one axis"
)]
pub trait OneLess {
    /// One axis less.
    type Output: Ranked;
}

/// Rows `high: lower ranks`; each pair of a row, in both orders, yields `high`.
macro_rules! larger {
    ($trait:ident { $($high:literal: [$($low:literal)*],)* }) => { $(
        impl $trait<Rank<$high>> for Rank<$high> {
            type Output = Rank<$high>;
        }
        $(
            impl $trait<Rank<$low>> for Rank<$high> {
                type Output = Rank<$high>;
            }
            impl $trait<Rank<$high>> for Rank<$low> {
                type Output = Rank<$high>;
            }
        )*
    )* };
}

larger! { BroadcastRank {
    0: [],
    1: [0],
    2: [0 1],
    3: [0 1 2],
    4: [0 1 2 3],
    5: [0 1 2 3 4],
    6: [0 1 2 3 4 5],
} }

larger! { MatmulRank {
    2: [],
    3: [2],
    4: [2 3],
    5: [2 3 4],
    6: [2 3 4 5],
} }

macro_rules! mapped {
    ($trait:ident { $($from:literal => $to:literal,)* }) => {
        $(impl $trait for Rank<$from> {
            type Output = Rank<$to>;
        })*
    };
}

/// Rows `rank: [lower bounds it satisfies]`.
macro_rules! at_least {
    ($($rank:literal: [$($least:literal)*],)*) => {
        $($(impl AtLeast<$least> for Rank<$rank> {
            type Output = Self;
        })*)*
    };
}

at_least! {
    1: [1],
    2: [1 2],
    3: [1 2 3],
    4: [1 2 3 4],
    5: [1 2 3 4 5],
    6: [1 2 3 4 5 6],
}

impl<const N: usize> Exactly<N> for Rank<N> {
    type Output = Self;
}

/// One implementation per rank: for a single generic one, rustc would report the mismatch in its own words.
macro_rules! same {
    ($($rank:literal)*) => {
        $(impl SameRank<Self> for Rank<$rank> {
            type Output = Self;
        })*
    };
}

same! { 0 1 2 3 4 5 6 }

mapped! { OneMore { 0 => 1, 1 => 2, 2 => 3, 3 => 4, 4 => 5, 5 => 6, } }
mapped! { OneLess { 1 => 0, 2 => 1, 3 => 2, 4 => 3, 5 => 4, 6 => 5, } }

#[cfg(test)]
mod tests {
    use super::*;

    type Broadcast<A, B> = <A as BroadcastRank<B>>::Output;
    type Matmul<A, B> = <A as MatmulRank<B>>::Output;

    #[test]
    fn the_larger_rank_wins_in_both_orders() {
        assert_eq!(<Broadcast<Rank<1>, Rank<3>>>::AXES, 3);
        assert_eq!(<Broadcast<Rank<6>, Rank<0>>>::AXES, 6);
        assert_eq!(<Matmul<Rank<4>, Rank<2>>>::AXES, 4);
        assert_eq!(<Matmul<Broadcast<Rank<2>, Rank<1>>, Rank<3>>>::AXES, 3);
    }

    #[test]
    fn axes_are_added_and_removed() {
        assert_eq!(<<Rank<2> as OneMore>::Output as OneLess>::Output::AXES, 2);
        assert_eq!(<Rank<5> as AtLeast<2>>::Output::AXES, 5);
        assert_eq!(<Rank<3> as Exactly<3>>::Output::AXES, 3);
        assert_eq!(<Rank<4> as SameRank<Rank<4>>>::Output::AXES, 4);
    }
}
