//! Programs of newcomers: fields as operands, names of Rust's macros, and wrong shapes.

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2, fuse};

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

fn matrix(device: &Device, shape: [usize; 2]) -> Tensor2<f32> {
    let count = shape[0] * shape[1];
    Tensor::from_vec(device, (0..count).map(|i| i as f32 * 0.5 - 1.0).collect(), shape).expect("a tensor")
}

mod named_like_macros {
    use fuse_gpu::fuse;

    fuse! {
        /// Named like a macro of Rust.
        pub fn println(x: f32[N]) -> f32[N] {
            x * 2.0
        }

        /// Named like an operator.
        pub fn add(x: f32[N], y: f32[N]) -> f32[N] {
            x + y
        }

        fn vec(x: f32[N]) -> f32[N] {
            -x
        }
    }

    pub(crate) fn macros_still_work() -> Vec<String> {
        println!("printed by the macro of Rust");
        let _ = vec as fn(&_) -> _;
        vec![String::new(); 2]
    }
}

fuse! {
    use named_like_macros::{add, println};

    pub fn both(x: f32[N], y: f32[N]) -> f32[N] {
        println(add(x, y))
    }
}

#[test]
fn functions_may_be_called_like_macros_and_operators() -> Result<(), Error> {
    assert_eq!(named_like_macros::macros_still_work().len(), 2);
    let device = device();
    let (x, y) = (Tensor1::full(&device, 1.0, [3])?, Tensor1::full(&device, 0.5, [3])?);
    assert_eq!(both(&x, &y)?.to_vec_blocking()?, [3.0; 3]);
    let doubled = fuse!({
        use named_like_macros::println;
        println(x) + y
    })?;
    println!("{}", doubled.shape()[0]);
    assert_eq!(doubled.to_vec_blocking()?, [2.5; 3]);
    let own = fuse!({
        use both;
        both(x, y) + 1.0
    })?;
    assert_eq!(own.to_vec_blocking()?, [4.0; 3]);
    Ok(())
}

struct Linear {
    w: Tensor2<f32>,
    b: Tensor1<f32>,
    scale: f32,
}

impl Linear {
    fn bias(&self) -> &Tensor1<f32> {
        &self.b
    }

    fn forward(&self, x: &Tensor2<f32>) -> Result<Tensor2<f32>, Error> {
        fuse!(relu(matmul(x, self.w) + self.b) * self.scale)
    }
}

struct Model {
    layers: Vec<Linear>,
    pair: (Linear, Tensor1<f32>),
}

#[test]
fn fields_are_operands() -> Result<(), Error> {
    let device = device();
    let layer = |scale| -> Result<Linear, Error> {
        Ok(Linear { w: matrix(&device, [3, 3]), b: Tensor1::full(&device, 0.25, [3])?, scale })
    };
    let model =
        Model { layers: vec![layer(1.0)?, layer(2.0)?], pair: (layer(0.5)?, Tensor1::full(&device, 1.0, [3])?) };
    let x = matrix(&device, [2, 3]);
    let (w, b, scale) = (&model.layers[1].w, &model.layers[1].b, model.layers[1].scale);
    let expected = fuse!(relu(matmul(x, w) + b) * scale)?.to_vec_blocking()?;
    assert_eq!(model.layers[1].forward(&x)?.to_vec_blocking()?, expected);
    let i = 1;
    let paths = fuse!(relu(matmul(x, model.layers[i].w) + model.layers[i].bias()) * model.layers[i].scale)?;
    assert_eq!(paths.to_vec_blocking()?, expected);
    let pair = fuse!({
        let shift = model.pair.1 * model.pair.0.scale;
        matmul(x, model.pair.0.w) + shift - shift
    })?;
    let w = &model.pair.0.w;
    assert_eq!(pair.to_vec_blocking()?, fuse!(matmul(x, w))?.to_vec_blocking()?);
    Ok(())
}

#[test]
fn errors_of_expressions_name_what_the_caller_named() {
    let device = device();
    let (x, w) = (matrix(&device, [2, 3]), matrix(&device, [4, 5]));
    let layer = Linear { w, b: Tensor1::zeros(&device, [2]).unwrap(), scale: 1.0 };
    let error = fuse!(matmul(x, layer.w)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("expected `x.shape()[1]` (3) to be equal to `layer.w.shape()[0]` (4)"), "{error}");
    let error = fuse!(x + layer.b).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`x`, axis 1") && error.contains("`layer.b`, axis 0"), "{error}");
    let error = fuse!(squeeze(x, axis = -1)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("expected `x.shape()[1]` (3) to be equal to 1"), "{error}");
    let error = fuse!(reshape(x * layer.scale, [2, 4])).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("expected `x.shape()[0]*x.shape()[1]` (6) to be equal to 8"), "{error}");
    let error = fuse!(split(x, axis = -1, parts = 2)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("expected `x.shape()[1]` (3) to be equal to `2*(x.shape()[1]/2)` (2)"), "{error}");
}

mod constants {
    use fuse_gpu::fuse;

    pub(crate) const SHIFT: f32 = 2.0;

    fuse! {
        /// Used by the block and by the rest of the program.
        pub(super) const SCALE: f32 = 0.5;
        const HEADS: usize = 2;
        const WHITE: u32 = 255;

        /// Splits rows into heads, and scales them.
        pub fn heads(x: f32[B, HEADS * D]) -> f32[HEADS, B, D] {
            permute(reshape(x, [B, HEADS, -1]), [1, 0, 2]) * SCALE
        }

        pub fn mask(x: f32[B, D], limit: f32) -> u32[B, D] {
            select(x > limit, WHITE, 0)
        }
    }
}

fuse! {
    use constants::heads;

    fn rows(x: f32[M, 2 * N]) -> f32 {
        sum(heads(x))
    }
}

#[test]
fn constants_and_products_of_dimensions_are_part_of_signatures() -> Result<(), Error> {
    let device = device();
    let x = matrix(&device, [2, 4]);
    let (scale, expected) = (constants::SCALE, [-1.0f32, -0.5, 1.0, 1.5, 0.0, 0.5, 2.0, 2.5]);
    let heads = constants::heads(&x)?;
    assert_eq!(heads.shape(), [2, 2, 2]);
    assert_eq!(heads.to_vec_blocking()?, expected.map(|value| value * scale));
    assert_eq!(rows(&x)?.to_vec_blocking()?, [3.0]);
    assert_eq!(constants::mask(&x, 0.0)?.to_vec_blocking()?, [0, 0, 0, 255, 255, 255, 255, 255]);
    let shifted = fuse!(x * constants::SCALE + constants::SHIFT)?.to_vec_blocking()?;
    assert_eq!(shifted[..2], [1.5, 1.75]);
    let odd = matrix(&device, [2, 5]);
    assert_eq!(
        constants::heads(&odd).unwrap_err().to_string(),
        "kernel `heads`, argument `x`, axis 1 (`2*D`): expected 4 (from `2*D`), found 5"
    );
    let error = rows(&odd).unwrap_err().to_string();
    assert_eq!(error, "kernel `rows`, argument `x`, axis 1 (`2*N`): expected 4 (from `2*N`), found 5");
    Ok(())
}
