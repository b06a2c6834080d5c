//! Programs that failed once, spelled out: changes of the generator invalidate proptest's seeds.

use super::{
    check_program, expressions,
    generate::{Builder, Step},
};

/// Kind, operand, other and detail per step; extents; seed of inputs and variants.
type Known = (&'static [(u8, u8, u8, u16)], [usize; 4], u64);

const ITEMS: &[Known] = &[
    (&[(4, 0, 4, 11949), (3, 0, 0, 0), (23, 45, 0, 38633)], [4, 4, 4, 4], 0),
    (&[(17, 0, 0, 418), (4, 86, 48, 35638)], [8, 4, 4, 1], 6571240623504476423),
    (&[(195, 148, 55, 55672), (48, 64, 159, 13994)], [8, 24, 1, 13], 12874143164143565123),
];

const EXPRESSIONS: &[Known] = &[
    (&[(0, 0, 0, 26741), (0, 0, 0, 0), (158, 0, 0, 0), (114, 20, 0, 0)], [1, 4, 4, 4], 0),
    (
        &[
            (0, 0, 0, 241),
            (6, 0, 0, 10152),
            (0, 151, 0, 0),
            (26, 187, 104, 0),
            (0, 0, 0, 0),
            (0, 0, 0, 0),
            (0, 0, 0, 0),
            (24, 0, 0, 0),
            (7, 179, 109, 11359),
            (30, 209, 50, 45281),
        ],
        [1, 8, 1, 4],
        7772293224653377814,
    ),
    (
        &[
            (12, 0, 0, 57435),
            (28, 29, 19, 0),
            (119, 0, 65, 0),
            (175, 223, 0, 7174),
            (176, 20, 93, 43104),
            (0, 0, 0, 0),
            (206, 0, 74, 0),
            (72, 0, 35, 15208),
            (249, 227, 181, 8519),
            (104, 255, 121, 15701),
            (48, 239, 89, 452),
        ],
        [4, 4, 2, 8],
        14974040619135911756,
    ),
    (
        &[
            (0, 0, 0, 993),
            (163, 65, 61, 5800),
            (9, 19, 0, 0),
            (101, 61, 0, 37100),
            (57, 12, 172, 0),
            (0, 0, 0, 0),
            (161, 0, 168, 0),
        ],
        [4, 4, 0, 9],
        65_856_592_186_960_017,
    ),
];

fn steps(steps: &[(u8, u8, u8, u16)]) -> Vec<Step> {
    steps.iter().map(|&(kind, operand, other, detail)| Step { kind, operand, other, detail }).collect()
}

#[test]
fn what_failed_once() {
    for (known, extents, seed) in ITEMS {
        let program = Builder::fitting(*extents, &steps(known));
        let checked = check_program(&program, *seed, [Some(*seed), Some(seed >> 8)]);
        checked.unwrap_or_else(|error| panic!("{error}\n{}", program.source));
    }
    for (known, extents, seed) in EXPRESSIONS {
        let expression = expressions::fitting(*extents, &steps(known));
        let checked = expressions::check_expression(&expression, *seed, [Some(*seed), Some(seed >> 8)]);
        checked.unwrap_or_else(|error| panic!("{error}\n{}", expression.source));
    }
}
