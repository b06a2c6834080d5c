//! Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
//! 3", 2011).

/// Multipliers of the counter's first and third word.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];

/// Key increments per round: the golden ratio and √3 - 1, as fractions of 2³².
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

const ROUNDS: u32 = 10;

pub(super) fn block(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let (high_0, low_0) = wide_product(MULTIPLIERS[0], counter[0]);
        let (high_1, low_1) = wide_product(MULTIPLIERS[1], counter[2]);
        counter = [high_1 ^ counter[1] ^ key[0], low_1, high_0 ^ counter[3] ^ key[1], low_0];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// Word `position` of a seed's stream, as [`BinaryOp::Philox`](crate::operations::BinaryOp).
pub(super) fn word(position: u32, seed: u32) -> u32 {
    block([position / 4, 0, 0, 0], [seed, 0])[(position % 4) as usize]
}

fn wide_product(x: u32, y: u32) -> (u32, u32) {
    let product = u64::from(x) * u64::from(y);
    ((product >> 32) as u32, product as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_published_vectors() {
        // Known-answer tests of Random123 (philox4x32, 10 rounds).
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(block(counter, key), expected, "{counter:x?} {key:x?}");
        }
    }

    #[test]
    fn words_walk_through_blocks() {
        let words: Vec<u32> = (0..8).map(|position| word(position, 7)).collect();
        assert_eq!(words[..4], block([0; 4], [7, 0]));
        assert_eq!(words[4..], block([1, 0, 0, 0], [7, 0]));
    }
}
