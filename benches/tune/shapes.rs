//! The sizes of a search, and held-out sizes that judge its tables.

/// Batch, rows, columns, depth.
pub(crate) type Product = [usize; 4];

pub(crate) struct Shapes {
    /// Right operand as it is and transposed, as in `gated` to `reduced`.
    pub(crate) products: Vec<Product>,
    /// Left operand computed.
    pub(crate) computed: Vec<Product>,
    /// Pairs with the same left operand, multiplied elementwise.
    pub(crate) gated: Vec<Product>,
    /// Three with the same left operand.
    pub(crate) grouped: Vec<Product>,
    /// Rows of the left operand normalized.
    pub(crate) normalized: Vec<Product>,
    /// Rows of the result normalized.
    pub(crate) reduced: Vec<Product>,
    /// Rows and their length, or columns and rows.
    pub(crate) reductions: Vec<[usize; 2]>,
    /// Norms of partly `f16` rows: rows and their length.
    pub(crate) mixed: Vec<[usize; 2]>,
    /// Batch, heads, queries, keys, head size.
    pub(crate) attentions: Vec<[usize; 5]>,
}

pub(crate) fn grid() -> Shapes {
    // Where tiles of 32 to 128 begin to fill the machine, the fastest variant changes.
    let squares = [
        16, 32, 40, 64, 80, 112, 128, 160, 176, 208, 256, 320, 352, 448, 512, 640, 704, 768, 896, 1024, 1152, 1280,
        1408, 1792, 2048, 2304, 2560, 3584, 4096, 5120,
    ];
    let mut products: Vec<Product> = squares.iter().map(|&n| [1, n, n, n]).collect();
    // Vectors, decoding, small batches.
    for rows in [1, 2, 4, 8, 16, 32, 64, 128] {
        products.extend([[1024, 1024], [4096, 1024], [1024, 4096], [4096, 4096]].map(|[n, k]| [1, rows, n, k]));
        products.push([1, rows, 256, 256]);
    }
    products.extend([[1, 1, 16384, 4096], [1, 1, 4096, 16384], [1, 8, 16384, 4096], [1, 32, 16384, 4096]]);
    // Layers of transformers.
    products.extend([
        [1, 256, 1024, 1024],
        [1, 256, 4096, 1024],
        [1, 256, 4096, 4096],
        [1, 512, 512, 2048],
        [1, 512, 2048, 512],
        [1, 512, 4096, 4096],
        [1, 1024, 4096, 1024],
        [1, 1024, 1024, 4096],
        [1, 2048, 4096, 1024],
        [1, 512, 768, 3072],
        [1, 2048, 768, 3072],
        [1, 2048, 1280, 5120],
        [1, 4096, 384, 384],
        [1, 4096, 1024, 1024],
        [1, 16384, 384, 1536],
        [1, 16384, 1536, 384],
    ]);
    // Tall and narrow, flat and wide, few columns.
    products.extend([
        [1, 4096, 64, 64],
        [1, 4096, 64, 512],
        [1, 4096, 64, 4096],
        [1, 16384, 16, 256],
        [1, 16384, 64, 1024],
        [1, 65536, 32, 64],
        [1, 64, 16384, 64],
        [1, 4096, 4096, 64],
        [1, 1024, 4, 1024],
        [1, 4096, 4, 4096],
    ]);
    products.extend([
        [1, 16, 16, 4096],
        [1, 16, 16, 65536],
        [1, 64, 64, 2048],
        [1, 64, 64, 16384],
        [1, 256, 256, 4096],
        [1, 256, 256, 32768],
        [1, 1024, 1024, 16384],
    ]);
    // Many small ones.
    products.extend([
        [1024, 16, 16, 16],
        [1024, 32, 32, 32],
        [256, 64, 64, 64],
        [1024, 64, 64, 64],
        [64, 128, 128, 128],
        [96, 128, 128, 32],
        [96, 128, 32, 128],
        [64, 64, 64, 64],
        [64, 96, 96, 96],
        [128, 96, 64, 96],
        [128, 80, 80, 64],
        [96, 112, 112, 48],
        [16, 256, 256, 256],
        [16, 512, 512, 64],
        [4, 1024, 1024, 1024],
    ]);
    // Extents that no vectors fit.
    products.extend([[1, 63, 63, 63], [1, 127, 127, 127], [1, 255, 255, 255], [1, 1023, 1023, 1023]]);
    products.extend([
        [1, 1, 1023, 1023],
        [1, 7, 1023, 1023],
        [1, 31, 63, 4095],
        [64, 33, 33, 33],
        [1, 4095, 4095, 4095],
    ]);
    let mut computed: Vec<Product> = squares.iter().map(|&n| [1, n, n, n]).collect();
    computed.extend([1, 4, 16, 64].map(|rows| [1, rows, 1024, 4096]));
    // Transformers, from decoding to long texts.
    let of_rows = |rows: &[usize], sides: &[[usize; 2]]| -> Vec<Product> {
        rows.iter().flat_map(|&m| sides.iter().map(move |&[n, k]| [1, m, n, k])).collect()
    };
    let rows = [1, 16, 128, 512, 2048];
    let mut gated = of_rows(&rows, &[[256, 256], [1536, 512], [4096, 1024], [4096, 4096]]);
    gated.extend(of_rows(&[32, 64, 256], &[[1536, 512], [2048, 1024], [3072, 768], [4864, 896], [5632, 2048]]));
    gated.extend([128, 512].map(|rows| [1, rows, 1024, 1024]));
    let mut grouped = of_rows(&rows, &[[384, 384], [1024, 1024]]);
    grouped.extend(of_rows(&[4096, 16384], &[[384, 384]]));
    let mut normalized = of_rows(&rows, &[[256, 256], [1024, 1024], [4096, 4096]]);
    normalized.extend([64, 256, 1024].map(|n| [1, n, n, n]));
    normalized.push([1, 8, 4096, 4096]);
    normalized.extend(of_rows(&[64, 256, 512], &[[384, 384], [768, 768], [1024, 1024]]));
    let mut reduced =
        of_rows(&[1, 16, 64, 128, 512, 4096], &[[128, 128], [256, 1024], [384, 384], [384, 1536], [512, 512]]);
    reduced.extend(of_rows(&[16384], &[[384, 384], [384, 1536]]));
    let mut reductions = vec![];
    let lengths =
        [8, 16, 32, 48, 64, 128, 192, 256, 512, 640, 1024, 1536, 2048, 4096, 8192, 16384, 65536, 262_144, 1 << 20];
    for length in lengths {
        for rows in [1, 16, 256, 4096, 65536] {
            if (1 << 12..=1 << 24).contains(&(rows * length)) {
                reductions.push([rows, length]);
            }
        }
    }
    // Beyond caches, where a second read of a row costs a third more.
    reductions.extend([[16384, 4096], [4096, 8192], [4096, 16384]]);
    // Little longer than a launch: the fastest variant changes.
    reductions.extend([[4096, 20], [16384, 20], [16384, 28], [32768, 40], [2048, 288], [4096, 320], [1024, 320]]);
    reductions.extend([[128, 320], [64, 384], [128, 416], [256, 448], [128, 960], [4096, 896]]);
    // Extents that no vectors fit.
    reductions.extend([[256, 255], [64, 1023], [1001, 1000], [4, 65535], [50, 4096], [250, 1024], [30, 64]]);
    let attentions = vec![
        [1, 32, 1024, 1024, 64],
        [1, 32, 4096, 4096, 64],
        [1, 32, 1024, 1024, 128],
        [1, 8, 256, 256, 64],
        [1, 32, 128, 128, 64],
        [1, 12, 128, 128, 32],
        [1, 32, 1, 8192, 64],
        [8, 12, 128, 128, 32],
        [32, 12, 128, 128, 32],
        [128, 12, 128, 128, 32],
        [1, 12, 512, 512, 32],
        [8, 12, 512, 512, 64],
        [1, 32, 1, 1024, 64],
        [1, 32, 1, 4096, 128],
        [8, 32, 1, 4096, 128],
        [1, 32, 4, 1024, 128],
        [1, 32, 16, 2048, 64],
        [1, 32, 64, 4096, 128],
        [1, 24, 256, 256, 64],
        [2, 12, 384, 384, 64],
        [4, 16, 640, 640, 64],
        [4, 16, 1024, 1024, 64],
        [1, 12, 1024, 1024, 32],
        [1, 12, 2048, 2048, 32],
        [2, 32, 1, 4096, 128],
        [4, 32, 1, 2048, 128],
        [1, 16, 4, 1024, 64],
        [1, 16, 8, 1024, 64],
        [1, 16, 8, 2048, 64],
        [1, 16, 16, 1024, 64],
        [1, 32, 256, 256, 128],
        [4, 8, 512, 512, 128],
        [1, 16, 384, 384, 256],
        [1, 8, 1024, 1024, 256],
        // Few keys: cross-attention, or a window.
        [1, 32, 1024, 77, 64],
        [1, 16, 4096, 77, 64],
        [1, 32, 1024, 256, 64],
        [1, 16, 4096, 256, 64],
        [1, 32, 2048, 512, 128],
    ];
    let mixed =
        [1, 16, 128, 1024, 8192].iter().flat_map(|&rows| [384, 1024, 4096].map(|length| [rows, length])).collect();
    Shapes { products, computed, gated, grouped, normalized, reduced, reductions, mixed, attentions }
}

pub(crate) fn quick_grid() -> Shapes {
    Shapes {
        products: vec![
            [1, 16, 16, 16],
            [1, 32, 32, 32],
            [1, 64, 64, 64],
            [1, 80, 80, 80],
            [1, 128, 128, 128],
            [1, 160, 160, 160],
            [1, 256, 256, 256],
            [1, 512, 512, 512],
            [1, 1, 128, 128],
            [1, 1, 512, 512],
            [1, 4, 256, 256],
            [1, 16, 256, 256],
            [1, 64, 256, 64],
            [1, 1024, 32, 64],
            [1, 16, 16, 4096],
            [64, 16, 16, 16],
            [16, 64, 64, 64],
            [1, 63, 63, 63],
            [1, 127, 255, 127],
            [1, 40, 40, 40],
            [1, 56, 56, 56],
            [1, 88, 88, 88],
            [1, 112, 112, 112],
            [1, 176, 176, 176],
            [1, 208, 208, 208],
            [1, 512, 32, 128],
            [1, 112, 224, 64],
            [64, 20, 20, 20],
            [16, 32, 32, 32],
        ],
        computed: vec![[1, 32, 32, 32], [1, 64, 64, 64], [1, 80, 80, 80], [1, 128, 128, 128]],
        gated: vec![],
        grouped: vec![],
        normalized: vec![],
        reduced: vec![],
        mixed: vec![],
        reductions: vec![
            [4096, 8],
            [2048, 16],
            [1024, 32],
            [1024, 64],
            [512, 128],
            [64, 256],
            [128, 512],
            [16, 1024],
            [256, 1024],
            [32, 2048],
            [4, 4096],
            [16, 8192],
            [1, 16384],
            [1, 65536],
            [1, 131_072],
            [1, 1 << 20],
            [30, 200],
            [10, 2000],
            [100, 255],
            [8, 4095],
            [5, 7000],
            [7, 5000],
            [1, 98_304],
            [80, 1024],
            [112, 1024],
            [14, 4000],
            [128, 960],
            [96, 1024],
        ],
        attentions: vec![[1, 2, 64, 64, 32], [1, 2, 128, 128, 32], [1, 2, 1, 256, 32], [1, 2, 256, 256, 64]],
    }
}

/// Judge a table on GPUs; disjoint from the grid.
pub(crate) fn held_out() -> Shapes {
    Shapes {
        products: vec![
            [1, 48, 48, 48],
            [1, 96, 96, 96],
            [1, 192, 192, 192],
            [1, 384, 384, 384],
            [1, 832, 832, 832],
            [1, 1536, 1536, 1536],
            [1, 3072, 3072, 3072],
            [1, 200, 300, 400],
            [1, 128, 384, 384],
            [1, 128, 1536, 384],
            [1, 1, 2048, 2048],
            [1, 1, 11008, 4096],
            [1, 3, 2048, 2048],
            [1, 24, 1536, 768],
            [1, 6000, 48, 320],
            [1, 320, 320, 10240],
            [1, 2048, 1024, 4096],
            [96, 96, 96, 64],
            [24, 384, 64, 384],
            [1, 301, 777, 555],
        ],
        computed: vec![[1, 96, 96, 96], [1, 384, 384, 384], [1, 1536, 1536, 1536]],
        gated: vec![[1, 64, 2816, 1024], [1, 256, 1024, 1024]],
        grouped: vec![[1, 64, 512, 512], [1, 300, 768, 768]],
        normalized: vec![[1, 1, 2048, 2048], [1, 300, 768, 768]],
        reduced: vec![[1, 32, 384, 768], [1, 1000, 384, 384], [1, 200, 320, 320]],
        mixed: vec![[300, 768]],
        reductions: vec![
            [100, 1000],
            [3000, 300],
            [20_000, 24],
            [128, 384],
            [4096, 768],
            [1500, 6000],
            [7, 200_000],
            [1, 700_000],
        ],
        attentions: vec![
            [2, 12, 300, 300, 64],
            [4, 16, 768, 768, 64],
            [1, 12, 1500, 1500, 32],
            [4, 32, 1, 3000, 128],
            [1, 16, 8, 1500, 64],
        ],
    }
}

pub(crate) fn quick_held_out() -> Shapes {
    Shapes {
        products: vec![
            [1, 48, 48, 48],
            [1, 96, 96, 96],
            [1, 192, 192, 192],
            [1, 1, 320, 320],
            [1, 8, 320, 160],
            [1, 600, 24, 96],
            [32, 24, 24, 24],
            [1, 100, 200, 52],
            [1, 77, 99, 101],
        ],
        computed: vec![[1, 96, 96, 96]],
        gated: vec![],
        grouped: vec![],
        normalized: vec![],
        reduced: vec![],
        mixed: vec![],
        reductions: vec![[2000, 24], [100, 1000], [50, 300], [6, 6000], [1, 100_000]],
        attentions: vec![[1, 2, 96, 96, 32], [1, 3, 1, 400, 32]],
    }
}
