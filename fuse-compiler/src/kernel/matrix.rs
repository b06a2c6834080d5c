//! Cooperative matrices: square matrices whose elements are distributed over a subgroup.

use super::{Arena, Block, Expr, IntoVal, Scalar, Ty, Val};

/// The operand of `A * B + C` that a matrix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in WGSL")]
pub enum Role {
    A,
    B,
    C,
}

/// The memory layout of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Rows are contiguous.
    RowMajor,
    /// Columns are contiguous.
    ColumnMajor,
}

/// The location of a matrix in an array.
#[derive(Clone, Copy, Debug)]
pub struct MatrixPlace<V> {
    /// The array.
    pub array: V,
    /// The array index of its first element.
    pub index: V,
    /// Array elements between lines of the matrix.
    pub stride: V,
    /// The memory layout.
    pub order: Order,
}

impl Ty {
    /// The type of a cooperative matrix.
    pub const fn matrix(size: u32, scalar: Scalar, role: Role) -> Self {
        Self::Matrix { size, scalar, role }
    }
}

impl<'k> Val<'k> {
    /// The matrix at an index of this array.
    pub fn matrix_at(self, index: impl IntoVal<'k>, stride: impl IntoVal<'k>, order: Order) -> MatrixPlace<Self> {
        let zero = self.arena().u32(0);
        MatrixPlace { array: self, index: index.into_val(zero), stride: stride.into_val(zero), order }
    }

    /// `self * right + sum` of matrices.
    pub fn matrix_multiply_add(self, right: Self, sum: Self) -> Self {
        self.arena().push(Expr::MatrixMultiplyAdd([self, right, sum].map(Self::id)), sum.ty())
    }
}

impl<'k> MatrixPlace<Val<'k>> {
    fn arena(self) -> &'k Arena {
        self.array.arena()
    }

    fn ids(self) -> MatrixPlace<u32> {
        let Self { array, index, stride, order } = self;
        MatrixPlace { array: array.id(), index: index.id(), stride: stride.id(), order }
    }

    /// Loads the matrix of this type.
    pub fn load(self, ty: Ty) -> Val<'k> {
        self.arena().push(Expr::MatrixLoad(self.ids()), ty)
    }

    /// Stores a matrix.
    pub fn store(self, b: &mut Block<'k>, matrix: Val<'k>) {
        b.run(self.arena().push(Expr::MatrixStore(matrix.id(), self.ids()), Ty::Void));
    }
}
