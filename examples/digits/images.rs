//! 1797 images of *Optical Recognition of Handwritten Digits* (Alpaydin and Kaynak 1998, UCI Machine Learning
//! Repository, CC BY 4.0).

use std::error::Error;

use fuse_gpu::{Device, Tensor1, Tensor2};

pub(crate) const PIXELS: usize = 64;

/// Pixels from 0 to 1, and labels.
#[derive(Default)]
pub(crate) struct Images {
    pub(crate) pixels: Vec<f32>,
    pub(crate) digits: Vec<i32>,
}

impl Images {
    /// Training set, and every fifth image as the test set. A line is a label and 64 pixels of 17 shades.
    pub(crate) fn both() -> Result<[Self; 2], Box<dyn Error>> {
        let mut images = [Self::default(), Self::default()];
        for (i, line) in include_str!("../data/digits.txt").lines().enumerate() {
            let (digit, image) = line.split_once(' ').ok_or("expected a digit and an image")?;
            let part = &mut images[usize::from(i % 5 == 4)];
            part.digits.push(digit.parse()?);
            part.pixels.extend(image.chars().filter_map(|shade| shade.to_digit(17)).map(|shade| shade as f32 / 16.0));
        }
        Ok(images)
    }

    /// Uploads batches of at most `size`; the last one may be smaller.
    pub(crate) fn batches(&self, device: &Device, size: usize) -> Result<Vec<Batch>, fuse_gpu::Error> {
        let pairs = self.pixels.chunks(size * PIXELS).zip(self.digits.chunks(size));
        pairs
            .map(|(pixels, digits)| {
                let x = Tensor2::from_vec(device, pixels.to_vec(), [digits.len(), PIXELS])?;
                Ok((x, Tensor1::from_vec(device, digits.to_vec(), [digits.len()])?))
            })
            .collect()
    }
}

pub(crate) type Batch = (Tensor2<f32>, Tensor1<i32>);
