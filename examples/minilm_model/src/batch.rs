//! Batches of texts, padded to one width. Texts of similar length share a [`Batch`]; it stores their positions, so that
//! results keep the input's order.

/// With padding: keeps a large GPU busy, at 24 MiB per `f32` activation of 384 features.
const MAX_TOKENS: usize = 16_384;

const MAX_TEXTS: usize = 512;

/// Widths are multiples: whole vectors, and fewer shapes to plan.
const WIDTH_STEP: usize = 8;

/// A text below 1/2 of the width starts a batch: a launch costs less than rows of padding.
const LEAST_FILLED: usize = 2;

/// The model's own; positions are masked out.
const PADDING: i32 = 0;

/// Texts encoded together.
#[derive(Debug, PartialEq, Eq)]
pub struct Batch {
    /// Texts' positions in the input.
    pub texts: Vec<usize>,
    /// Tokens, `[texts, width]`, padded on the right.
    pub ids: Vec<i32>,
    /// Real tokens per text, at least 1.
    pub lengths: Vec<i32>,
    /// Tokens per row.
    pub width: usize,
}

/// Batches of all texts, longest first: if one does not fit into memory, it is the first.
pub fn batches(texts: &[Vec<i32>]) -> Vec<Batch> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(texts[text].len()));
    let mut rest = &order[..];
    let mut batches = vec![];
    while let Some(&longest) = rest.first() {
        let width = texts[longest].len().max(1).next_multiple_of(WIDTH_STEP);
        let similar = rest.partition_point(|&text| texts[text].len() * LEAST_FILLED >= width);
        let rows = similar.clamp(1, (MAX_TOKENS / width).clamp(1, MAX_TEXTS));
        let (taken, left) = rest.split_at(rows);
        batches.push(Batch::new(texts, taken, width));
        rest = left;
    }
    batches
}

impl Batch {
    fn new(texts: &[Vec<i32>], taken: &[usize], width: usize) -> Self {
        let row = |&text: &usize| texts[text].iter().copied().chain(std::iter::repeat(PADDING)).take(width);
        Self {
            texts: taken.to_vec(),
            ids: taken.iter().flat_map(row).collect(),
            // A mean over no token would be NaN: an empty text gets one padding token.
            lengths: taken.iter().map(|&text| texts[text].len().max(1) as i32).collect(),
            width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Vec<i32> {
        (1..=length as i32).collect()
    }

    #[test]
    fn rows_are_padded_and_remember_their_text() {
        let batches = batches(&[text(4), text(9), text(8)]);
        let [batch, short] = &batches[..] else { panic!("expected two batches, found {batches:?}") };
        assert_eq!((batch.width, &batch.texts[..], &batch.lengths[..]), (16, &[1, 2][..], &[9, 8][..]));
        assert_eq!(batch.ids.len(), 2 * 16);
        assert_eq!(batch.ids[..10], [1, 2, 3, 4, 5, 6, 7, 8, 9, PADDING]);
        assert_eq!(batch.ids[16..25], [1, 2, 3, 4, 5, 6, 7, 8, PADDING]);
        assert_eq!((short.width, &short.texts[..]), (8, &[0][..]));
    }

    #[test]
    fn a_text_without_tokens_is_one_token_of_padding() {
        let expected = Batch { texts: vec![0], ids: vec![PADDING; 8], lengths: vec![1], width: 8 };
        assert_eq!(batches(&[vec![]]), [expected]);
    }

    #[test]
    fn a_long_text_does_not_pad_short_ones() {
        let batches = batches(&[text(10), text(256), text(12), text(11)]);
        assert_eq!(batches.iter().map(|batch| batch.width).collect::<Vec<_>>(), [256, 16]);
        assert_eq!(batches[1].texts, [2, 3, 0]);
    }

    #[test]
    fn every_text_is_in_one_batch_and_no_batch_is_too_large() {
        let texts: Vec<_> = (0..3000).map(|i| text(i * 7919 % 256 + 1)).collect();
        let batches = batches(&texts);
        assert!(batches.len() > 1);
        for batch in &batches {
            assert!(batch.ids.len() <= MAX_TOKENS && batch.texts.len() <= MAX_TEXTS);
            assert_eq!(batch.ids.len(), batch.texts.len() * batch.width);
        }
        let mut seen: Vec<usize> = batches.iter().flat_map(|batch| batch.texts.iter().copied()).collect();
        seen.sort();
        assert!(seen.into_iter().eq(0..texts.len()));
        let padded: usize = batches.iter().map(|batch| batch.ids.len()).sum();
        let real: usize = texts.iter().map(Vec::len).sum();
        assert!(padded < real + real / 4, "{padded} tokens for {real}");
    }

    #[test]
    fn no_text_is_no_batch() {
        assert!(batches(&[]).is_empty());
    }
}
