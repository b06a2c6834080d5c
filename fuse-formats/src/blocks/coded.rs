//! The types of blocks with codes, not those whose elements are numbers.
//!
//! [`decode`] gives values, [`codes`] gives codes, scales and offsets, from the same [`Block`]s.

use super::{BlockType, block::Block, k_quants, legacy, ternary};
use crate::codes::Codes;

/// Decodes whole blocks; false for types without codes.
pub(super) fn decode(ty: BlockType, bytes: &[u8], out: &mut [f32]) -> bool {
    visit(ty, Values { bytes, out })
}

/// Codes of whole blocks; `None` for types without codes.
pub(crate) fn codes(ty: BlockType, bytes: &[u8]) -> Option<Codes> {
    let mut into = Codes::default();
    visit(ty, Gather { bytes, into: &mut into }).then_some(into)
}

trait Visitor {
    /// `read` reads one block with codes of `bits` bits.
    fn blocks<const BYTES: usize, const LEN: usize, const RUNS: usize>(
        self,
        bits: u32,
        read: impl Fn(&[u8; BYTES]) -> Block<LEN, RUNS>,
    );
}

fn visit(ty: BlockType, visitor: impl Visitor) -> bool {
    match ty {
        BlockType::Q4_0 => visitor.blocks(4, legacy::q4_0),
        BlockType::Q4_1 => visitor.blocks(4, legacy::q4_1),
        BlockType::Q5_0 => visitor.blocks(5, legacy::q5_0),
        BlockType::Q5_1 => visitor.blocks(5, legacy::q5_1),
        BlockType::Q8_0 => visitor.blocks(8, legacy::q8_0),
        BlockType::Q2K => visitor.blocks(2, k_quants::q2_k),
        BlockType::Q3K => visitor.blocks(3, k_quants::q3_k),
        BlockType::Q4K => visitor.blocks(4, k_quants::q4_k),
        BlockType::Q5K => visitor.blocks(5, k_quants::q5_k),
        BlockType::Q6K => visitor.blocks(6, k_quants::q6_k),
        BlockType::Tq1_0 => visitor.blocks(2, ternary::tq1_0),
        BlockType::Tq2_0 => visitor.blocks(2, ternary::tq2_0),
        _ => return false,
    }
    true
}

struct Values<'a> {
    bytes: &'a [u8],
    out: &'a mut [f32],
}

impl Visitor for Values<'_> {
    fn blocks<const BYTES: usize, const LEN: usize, const RUNS: usize>(
        self,
        _bits: u32,
        read: impl Fn(&[u8; BYTES]) -> Block<LEN, RUNS>,
    ) {
        super::each(self.bytes, self.out, |block, out| read(block).values(out));
    }
}

struct Gather<'a> {
    bytes: &'a [u8],
    into: &'a mut Codes,
}

impl Visitor for Gather<'_> {
    fn blocks<const BYTES: usize, const LEN: usize, const RUNS: usize>(
        self,
        bits: u32,
        read: impl Fn(&[u8; BYTES]) -> Block<LEN, RUNS>,
    ) {
        let (blocks, _) = self.bytes.as_chunks::<BYTES>();
        let into = self.into;
        (into.bits, into.run) = (bits, LEN / RUNS);
        for block in blocks.iter().map(read) {
            into.codes.extend(block.codes);
            into.offsets.extend(block.offsets());
            into.scales.extend(block.scales);
        }
    }
}
