//! Draws operands after the first.

use fuse_gpu::auto::DType;
use fuse_test_support::operations::ALL;

use super::{
    super::call::{Arg, Call, Size, Type},
    Draw,
};

impl Draw {
    pub(super) fn select(&mut self, x: usize) -> Call {
        let shape = self.types[x].shape.clone();
        let other = self.operand(x);
        let condition = self.like(DType::Bool, shape);
        let mut values = vec![Arg::Value(x), other];
        if self.chance(50) {
            values.swap(0, 1);
        }
        if self.chance(10) {
            // Two numbers: their own dtypes count.
            values = if self.chance(50) {
                vec![Arg::Number(DType::F32, 0.5), Arg::Number(DType::I32, 2.0)]
            } else {
                vec![Arg::Number(DType::I32, 3.0), Arg::Number(DType::I32, -2.0)]
            };
        }
        values.insert(0, Arg::Value(condition));
        Call::new("select", values)
    }

    pub(super) fn right(&mut self, dtype: DType, left: &[usize]) -> usize {
        let rank = left.len();
        let mut shape = left.to_vec();
        if rank >= 2 {
            shape[rank - 2] = left[rank - 1];
            shape[rank - 1] = self.extent();
            for extent in &mut shape[..rank - 2] {
                if self.chance(30) {
                    *extent = 1;
                }
            }
            if self.chance(40) {
                shape.drain(..rank - 2);
            }
        }
        self.like(dtype, shape)
    }

    pub(super) fn order(&mut self, rank: usize) -> Vec<i32> {
        if self.is_wild() {
            return (0..rank).map(|_| self.axis(rank)).collect();
        }
        let mut axes: Vec<i32> = (0..rank as i32).collect();
        for at in (1..rank).rev() {
            axes.swap(at, self.numbers.below(at as u64 + 1) as usize);
        }
        axes.into_iter().map(|axis| if self.chance(20) { axis - rank as i32 } else { axis }).collect()
    }

    /// Merges, splits or adds axes.
    pub(super) fn reshape(&mut self, x: usize) -> Vec<Size> {
        let shape = self.types[x].shape.clone();
        let mut sizes: Vec<Size> = (0..shape.len()).map(|axis| self.size_of(x, axis)).collect();
        match self.numbers.below(4) {
            0 | 1 if sizes.len() >= 2 => {
                let at = self.numbers.below(sizes.len() as u64 - 1) as usize;
                let (a, b) = (sizes.remove(at), sizes[at].clone());
                sizes[at] = Size::Product(Box::new((a, b)));
            }
            2 if !self.style.open && !sizes.is_empty() => {
                let at = self.numbers.below(sizes.len() as u64) as usize;
                let extent = shape[at];
                let part = (2..=extent).find(|part| extent.is_multiple_of(*part)).unwrap_or(1);
                sizes[at] = Size::Number(part);
                sizes.insert(at, Size::Number(extent / part));
            }
            _ => {
                let at = self.numbers.below(sizes.len() as u64 + 1) as usize;
                sizes.insert(at, Size::Number(1));
            }
        }
        if self.is_wild() {
            sizes.push(Size::Number(self.extent()));
        }
        sizes
    }

    pub(super) fn broadcast_to(&mut self, x: usize) -> Vec<Size> {
        let shape = self.types[x].shape.clone();
        let mut sizes: Vec<Size> = vec![];
        for (axis, extent) in shape.iter().enumerate() {
            let size =
                if *extent == 1 && self.chance(70) || self.is_wild() { self.any_size() } else { self.size_of(x, axis) };
            sizes.push(size);
        }
        if sizes.len() < 5 && self.chance(50) {
            let size = self.any_size();
            sizes.insert(0, size);
        }
        sizes
    }

    fn any_size(&mut self) -> Size {
        let value = self.value(&ALL, 1..=6);
        let rank = self.types[value].rank() as u64;
        if rank == 0 {
            return Size::Number(1);
        }
        let axis = self.numbers.below(rank) as usize;
        match self.chance(15) {
            true => Size::Sum(Box::new((Size::Axis(value, axis), Size::Number(1)))),
            false => self.size_of(value, axis),
        }
    }

    pub(super) fn norm(&mut self, name: &'static str, x: usize) -> Call {
        let Type { dtype, shape } = self.types[x].clone();
        let along = if matches!(name, "layer_norm" | "rms_norm") { shape.last() } else { shape.get(1) };
        let along = along.copied().unwrap_or(1);
        let count = match name {
            "rms_norm" => 1,
            "batch_norm" => 4,
            _ => 2,
        };
        let mut operands = vec![Arg::Value(x)];
        for _ in 0..count {
            operands.push(Arg::Value(self.like(dtype, vec![along])));
        }
        operands.push(self.single(DType::F32, 0.5));
        let call = Call::new(name, operands);
        if name != "group_norm" {
            return call;
        }
        let fitting: Vec<usize> = (1..=along.clamp(1, 4)).filter(|groups| along % groups == 0).collect();
        let groups = if self.is_wild() { self.numbers.below(5) as usize } else { self.one(&fitting) };
        call.sizes(vec![Size::Number(groups)])
    }
}
