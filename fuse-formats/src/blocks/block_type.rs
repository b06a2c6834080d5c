//! Element types of ggml tensors (`enum ggml_type`) with their block sizes.
//!
//! Numbers that ggml retired (4, 5, 31 to 33, 36 to 38), and later additions, have no type here.

use std::fmt;

/// Storage type of a tensor. [`is_decodable`](Self::is_decodable) tells which have decoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BlockType {
    /// `F32`: 1 element in 4 bytes.
    F32,
    /// `F16`: 1 element in 2 bytes.
    F16,
    /// `Q4_0`: 32 elements in 18 bytes.
    Q4_0,
    /// `Q4_1`: 32 elements in 20 bytes.
    Q4_1,
    /// `Q5_0`: 32 elements in 22 bytes.
    Q5_0,
    /// `Q5_1`: 32 elements in 24 bytes.
    Q5_1,
    /// `Q8_0`: 32 elements in 34 bytes.
    Q8_0,
    /// `Q8_1`: 32 elements in 40 bytes.
    Q8_1,
    /// `Q2_K`: 256 elements in 84 bytes.
    Q2K,
    /// `Q3_K`: 256 elements in 110 bytes.
    Q3K,
    /// `Q4_K`: 256 elements in 144 bytes.
    Q4K,
    /// `Q5_K`: 256 elements in 176 bytes.
    Q5K,
    /// `Q6_K`: 256 elements in 210 bytes.
    Q6K,
    /// `Q8_K`: 256 elements in 292 bytes.
    Q8K,
    /// `IQ2_XXS`: 256 elements in 66 bytes.
    Iq2Xxs,
    /// `IQ2_XS`: 256 elements in 74 bytes.
    Iq2Xs,
    /// `IQ3_XXS`: 256 elements in 98 bytes.
    Iq3Xxs,
    /// `IQ1_S`: 256 elements in 50 bytes.
    Iq1S,
    /// `IQ4_NL`: 32 elements in 18 bytes.
    Iq4Nl,
    /// `IQ3_S`: 256 elements in 110 bytes.
    Iq3S,
    /// `IQ2_S`: 256 elements in 82 bytes.
    Iq2S,
    /// `IQ4_XS`: 256 elements in 136 bytes.
    Iq4Xs,
    /// `I8`: 1 element in 1 byte.
    I8,
    /// `I16`: 1 element in 2 bytes.
    I16,
    /// `I32`: 1 element in 4 bytes.
    I32,
    /// `I64`: 1 element in 8 bytes.
    I64,
    /// `F64`: 1 element in 8 bytes.
    F64,
    /// `IQ1_M`: 256 elements in 56 bytes.
    Iq1M,
    /// `BF16`: 1 element in 2 bytes.
    Bf16,
    /// `TQ1_0`: 256 elements in 54 bytes.
    Tq1_0,
    /// `TQ2_0`: 256 elements in 66 bytes.
    Tq2_0,
    /// `MXFP4`: 32 elements in 17 bytes.
    Mxfp4,
    /// `NVFP4`: 64 elements in 36 bytes.
    Nvfp4,
    /// `Q1_0`: 128 elements in 18 bytes.
    Q1_0,
}

/// Type, number, elements and bytes per block, name in ggml.
struct Row(BlockType, u32, usize, usize, &'static str);

/// By variant, in declaration order.
const ROWS: &[Row] = &[
    Row(BlockType::F32, 0, 1, 4, "F32"),
    Row(BlockType::F16, 1, 1, 2, "F16"),
    Row(BlockType::Q4_0, 2, 32, 18, "Q4_0"),
    Row(BlockType::Q4_1, 3, 32, 20, "Q4_1"),
    Row(BlockType::Q5_0, 6, 32, 22, "Q5_0"),
    Row(BlockType::Q5_1, 7, 32, 24, "Q5_1"),
    Row(BlockType::Q8_0, 8, 32, 34, "Q8_0"),
    Row(BlockType::Q8_1, 9, 32, 40, "Q8_1"),
    Row(BlockType::Q2K, 10, 256, 84, "Q2_K"),
    Row(BlockType::Q3K, 11, 256, 110, "Q3_K"),
    Row(BlockType::Q4K, 12, 256, 144, "Q4_K"),
    Row(BlockType::Q5K, 13, 256, 176, "Q5_K"),
    Row(BlockType::Q6K, 14, 256, 210, "Q6_K"),
    Row(BlockType::Q8K, 15, 256, 292, "Q8_K"),
    Row(BlockType::Iq2Xxs, 16, 256, 66, "IQ2_XXS"),
    Row(BlockType::Iq2Xs, 17, 256, 74, "IQ2_XS"),
    Row(BlockType::Iq3Xxs, 18, 256, 98, "IQ3_XXS"),
    Row(BlockType::Iq1S, 19, 256, 50, "IQ1_S"),
    Row(BlockType::Iq4Nl, 20, 32, 18, "IQ4_NL"),
    Row(BlockType::Iq3S, 21, 256, 110, "IQ3_S"),
    Row(BlockType::Iq2S, 22, 256, 82, "IQ2_S"),
    Row(BlockType::Iq4Xs, 23, 256, 136, "IQ4_XS"),
    Row(BlockType::I8, 24, 1, 1, "I8"),
    Row(BlockType::I16, 25, 1, 2, "I16"),
    Row(BlockType::I32, 26, 1, 4, "I32"),
    Row(BlockType::I64, 27, 1, 8, "I64"),
    Row(BlockType::F64, 28, 1, 8, "F64"),
    Row(BlockType::Iq1M, 29, 256, 56, "IQ1_M"),
    Row(BlockType::Bf16, 30, 1, 2, "BF16"),
    Row(BlockType::Tq1_0, 34, 256, 54, "TQ1_0"),
    Row(BlockType::Tq2_0, 35, 256, 66, "TQ2_0"),
    Row(BlockType::Mxfp4, 39, 32, 17, "MXFP4"),
    Row(BlockType::Nvfp4, 40, 64, 36, "NVFP4"),
    Row(BlockType::Q1_0, 41, 128, 18, "Q1_0"),
];

impl BlockType {
    /// All types, ordered by number.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// Type of a number in a GGUF file.
    pub fn from_id(id: u32) -> Option<Self> {
        ROWS.iter().find(|row| row.1 == id).map(|row| row.0)
    }

    /// Number of the type in a GGUF file.
    pub fn id(self) -> u32 {
        self.row().1
    }

    /// Elements per block; 1 for types without blocks.
    pub fn block_len(self) -> usize {
        self.row().2
    }

    /// Bytes per block.
    pub fn block_bytes(self) -> usize {
        self.row().3
    }

    /// Name in ggml, such as `Q4_K`.
    pub fn name(self) -> &'static str {
        self.row().4
    }

    /// True if [`decode`](super::decode) supports the type. Others can be listed and skipped.
    pub fn is_decodable(self) -> bool {
        matches!(
            self,
            Self::F32
                | Self::F16
                | Self::Q4_0
                | Self::Q4_1
                | Self::Q5_0
                | Self::Q5_1
                | Self::Q8_0
                | Self::Q2K
                | Self::Q3K
                | Self::Q4K
                | Self::Q5K
                | Self::Q6K
                | Self::Bf16
                | Self::Tq1_0
                | Self::Tq2_0
        )
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

impl fmt::Display for BlockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_variants() {
        for (i, row) in ROWS.iter().enumerate() {
            assert_eq!(row.0 as usize, i);
            assert_eq!(BlockType::from_id(row.1), Some(row.0));
            assert_eq!((row.0.id(), row.0.to_string().as_str()), (row.1, row.4));
        }
        assert_eq!(BlockType::from_id(4), None);
        assert_eq!(BlockType::from_id(u32::MAX), None);
    }
}
