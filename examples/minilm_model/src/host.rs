//! The encoder on the host in `f32`, for calibration and for comparison with kernels, which are hundreds of times
//! faster.
//!
//! Rows are the tokens of all texts one after another, without padding.

use std::ops::Range;

use anyhow::ensure;

use crate::{
    encoder::{HIDDEN, WIDTH},
    model::LAYERS,
    weights::Weights,
};

const HEADS: usize = 12;

/// Added to variances.
const EPSILON: f32 = 1e-12;

/// Accumulators of a dot product, for vector instructions.
const LANES: usize = 8;

/// Tokens multiplied with a row of weights together.
const TILE: usize = 4;

/// Tokens that stay in cache while all weights are read.
const BLOCK: usize = 32;

/// Linear layer of an encoder layer, in order of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Queries.
    Query,
    /// Keys.
    Key,
    /// Values.
    Value,
    /// Output projection of the attention.
    Attention,
    /// First layer of the feed-forward block.
    Intermediate,
    /// Second layer of the feed-forward block.
    Output,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] = [Self::Query, Self::Key, Self::Value, Self::Attention, Self::Intermediate, Self::Output];

    /// Name of tensors in layer `layer`, without `.weight` and `.bias`.
    pub fn name(self, layer: usize) -> String {
        let part = match self {
            Self::Query => "attention.self.query",
            Self::Key => "attention.self.key",
            Self::Value => "attention.self.value",
            Self::Attention => "attention.output.dense",
            Self::Intermediate => "intermediate.dense",
            Self::Output => "output.dense",
        };
        format!("encoder.layer.{layer}.{part}")
    }

    /// Outputs and inputs.
    pub const fn shape(self) -> [usize; 2] {
        match self {
            Self::Query | Self::Key | Self::Value | Self::Attention => [WIDTH, WIDTH],
            Self::Intermediate => [HIDDEN, WIDTH],
            Self::Output => [WIDTH, HIDDEN],
        }
    }
}

/// Linear layer: weights `[outputs, inputs]`, and a bias.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Row-major.
    pub weight: Vec<f32>,
    /// Per output.
    pub bias: Vec<f32>,
}

/// Layer norm: scale and shift.
#[derive(Clone, Debug)]
pub struct Norm {
    /// Scale per feature.
    pub gamma: Vec<f32>,
    /// Shift per feature.
    pub beta: Vec<f32>,
}

/// Encoder layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// In the order of [`Part::ALL`].
    pub linears: [Linear; 6],
    /// After the attention.
    pub attention_norm: Norm,
    /// After the feed-forward block.
    pub output_norm: Norm,
}

/// Model in `f32`.
#[derive(Clone, Debug)]
pub struct HostModel {
    /// Word embeddings, `[tokens, 384]`.
    pub words: Vec<f32>,
    positions: Vec<f32>,
    segment: Vec<f32>,
    norm: Norm,
    /// Encoder layers.
    pub layers: Vec<Layer>,
}

/// Texts as rows of tokens, one text after another.
#[derive(Clone, Debug)]
pub struct Texts {
    ids: Vec<i32>,
    rows: Vec<Range<usize>>,
}

impl Texts {
    /// Takes the tokens of each text.
    pub fn new(texts: &[Vec<i32>]) -> Self {
        let mut start = 0;
        let rows = texts.iter().map(|text| {
            start += text.len();
            start - text.len()..start
        });
        let rows = rows.collect();
        Self { ids: texts.concat(), rows }
    }

    /// Tokens of each text.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(ExactSizeIterator::len)
    }

    /// Tokens of all texts.
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }
}

impl HostModel {
    /// Loads the model of a file.
    ///
    /// # Errors
    /// If a tensor is missing or has a wrong shape.
    pub fn load(weights: &Weights<'_>) -> anyhow::Result<Self> {
        let table = |name: &str| {
            let name = format!("embeddings.{name}.weight");
            weights.values(&name, &[weights.rows(&name, WIDTH)?, WIDTH])
        };
        let mut segment = table("token_type_embeddings")?;
        segment.truncate(WIDTH);
        let (words, positions) = (table("word_embeddings")?, table("position_embeddings")?);
        let norm = Norm::load("embeddings.LayerNorm", weights)?;
        let layers = (0..LAYERS).map(|layer| Layer::load(layer, weights)).collect::<anyhow::Result<_>>()?;
        Ok(Self { words, positions, segment, norm, layers })
    }

    /// First layer's input: rows of 384 numbers.
    ///
    /// # Errors
    /// If a token or a position has no row in the tables.
    pub fn embed(&self, texts: &Texts) -> anyhow::Result<Vec<f32>> {
        let mut rows = Vec::with_capacity(texts.tokens() * WIDTH);
        for range in &texts.rows {
            for (position, &id) in texts.ids[range.clone()].iter().enumerate() {
                let row = |table: &[f32], at: usize| table.get(at * WIDTH..(at + 1) * WIDTH).map(<[f32]>::to_vec);
                let word = usize::try_from(id).ok().and_then(|id| row(&self.words, id));
                let (word, position) = (word, row(&self.positions, position));
                ensure!(word.is_some() && position.is_some(), "token {id}: expected a row of the tables, found none");
                let both = word.into_iter().flatten().zip(position.into_iter().flatten());
                rows.extend(both.zip(&self.segment).map(|((word, position), segment)| word + position + segment));
            }
        }
        self.norm.apply(&mut rows);
        Ok(rows)
    }

    /// Embeddings of 384 numbers, each of length 1.
    ///
    /// # Errors
    /// Those of [`embed`](Self::embed).
    pub fn encode(&self, texts: &Texts) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut rows = self.embed(texts)?;
        for layer in &self.layers {
            rows = layer.apply(&rows, texts);
        }
        Ok(pool(&rows, texts))
    }
}

impl Layer {
    fn load(layer: usize, weights: &Weights<'_>) -> anyhow::Result<Self> {
        let linear = |part: Part| Linear::load(part, layer, weights);
        let norm = |name: &str| Norm::load(&format!("encoder.layer.{layer}.{name}"), weights);
        let [q, k, v, attention, intermediate, output] = Part::ALL.map(linear);
        Ok(Self {
            linears: [q?, k?, v?, attention?, intermediate?, output?],
            attention_norm: norm("attention.output.LayerNorm")?,
            output_norm: norm("output.LayerNorm")?,
        })
    }

    /// Linear layer of a part.
    pub fn linear(&self, part: Part) -> &Linear {
        &self.linears[part as usize]
    }

    /// Layer's output.
    pub fn apply(&self, rows: &[f32], texts: &Texts) -> Vec<f32> {
        let context = self.context(rows, texts);
        let attended = self.attended(rows, &context);
        let hidden = self.hidden(&attended);
        self.finish(&attended, &hidden)
    }

    /// Input of [`Part::Attention`], the attention's output, from the layer's input.
    pub fn context(&self, rows: &[f32], texts: &Texts) -> Vec<f32> {
        let [q, k, v] = [Part::Query, Part::Key, Part::Value].map(|part| self.linear(part).apply(rows));
        attention([&q, &k, &v], texts)
    }

    /// Input of [`Part::Intermediate`], from the layer's input and [`context`](Self::context).
    pub fn attended(&self, rows: &[f32], context: &[f32]) -> Vec<f32> {
        let mut attended = self.attention_sums(rows, context);
        self.attention_norm.apply(&mut attended);
        attended
    }

    /// Input of [`attention_norm`](Self::attention_norm).
    pub fn attention_sums(&self, rows: &[f32], context: &[f32]) -> Vec<f32> {
        plus(self.linear(Part::Attention).apply(context), rows)
    }

    /// Input of [`Part::Output`], from that of [`Part::Intermediate`].
    pub fn hidden(&self, attended: &[f32]) -> Vec<f32> {
        let mut hidden = self.linear(Part::Intermediate).apply(attended);
        gelu(&mut hidden);
        hidden
    }

    /// Layer's output, from inputs of [`Part::Intermediate`] and [`Part::Output`].
    pub fn finish(&self, attended: &[f32], hidden: &[f32]) -> Vec<f32> {
        let mut output = self.output_sums(attended, hidden);
        self.output_norm.apply(&mut output);
        output
    }

    /// Input of [`output_norm`](Self::output_norm).
    pub fn output_sums(&self, attended: &[f32], hidden: &[f32]) -> Vec<f32> {
        plus(self.linear(Part::Output).apply(hidden), attended)
    }
}

impl Linear {
    fn load(part: Part, layer: usize, weights: &Weights<'_>) -> anyhow::Result<Self> {
        let (name, shape) = (part.name(layer), part.shape());
        Ok(Self {
            weight: weights.values(&format!("{name}.weight"), &shape)?,
            bias: weights.values(&format!("{name}.bias"), &shape[..1])?,
        })
    }

    /// `x·Wᵀ + b` of rows.
    pub fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs.max(1);
        let mut results = vec![0.0; rows.len() / inputs.max(1) * outputs];
        for (rows, results) in rows.chunks(BLOCK * inputs).zip(results.chunks_mut(BLOCK * outputs)) {
            let rows: Vec<&[f32]> = rows.chunks_exact(inputs).collect();
            let (tiles, rest) = rows.as_chunks::<TILE>();
            for (output, (weights, bias)) in self.weight.chunks_exact(inputs).zip(&self.bias).enumerate() {
                let products = tiles.iter().flat_map(|&tile| dots(weights, tile));
                let products = products.chain(rest.iter().map(|row| dot(weights, row)));
                let places = results.iter_mut().skip(output).step_by(outputs);
                places.zip(products).for_each(|(place, product)| *place = product + bias);
            }
        }
        results
    }
}

impl Norm {
    fn load(name: &str, weights: &Weights<'_>) -> anyhow::Result<Self> {
        Ok(Self {
            gamma: weights.values(&format!("{name}.weight"), &[WIDTH])?,
            beta: weights.values(&format!("{name}.bias"), &[WIDTH])?,
        })
    }

    /// Normalizes rows of 384 numbers in place.
    pub fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(WIDTH) {
            let mean = row.iter().sum::<f32>() / WIDTH as f32;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / WIDTH as f32;
            let factor = 1.0 / (variance + EPSILON).sqrt();
            for ((x, gamma), beta) in row.iter_mut().zip(&self.gamma).zip(&self.beta) {
                *x = (*x - mean) * factor * gamma + beta;
            }
        }
    }
}

/// Attention of all heads, from queries, keys and values.
pub fn attention([q, k, v]: [&[f32]; 3], texts: &Texts) -> Vec<f32> {
    let head = WIDTH / HEADS;
    let mut context = vec![0.0; q.len()];
    for range in &texts.rows {
        for (row, head_start) in range.clone().flat_map(|row| (0..WIDTH).step_by(head).map(move |at| (row, at))) {
            let of = |row: usize| row * WIDTH + head_start..row * WIDTH + head_start + head;
            let query = &q[of(row)];
            let scale = 1.0 / (head as f32).sqrt();
            let scores: Vec<f32> = range.clone().map(|other| dot(query, &k[of(other)]) * scale).collect();
            let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let weights: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
            let sum: f32 = weights.iter().sum();
            let place = of(row);
            for (other, weight) in range.clone().zip(weights) {
                let value = &v[of(other)];
                context[place.clone()].iter_mut().zip(value).for_each(|(c, v)| *c += weight / sum * v);
            }
        }
    }
    context
}

/// GELU with the error function (Hendrycks and Gimpel 2016), in place.
pub fn gelu(values: &mut [f32]) {
    values.iter_mut().for_each(|x| *x *= 0.5 * (1.0 + libm::erff(*x * std::f32::consts::FRAC_1_SQRT_2)));
}

fn plus(mut values: Vec<f32>, others: &[f32]) -> Vec<f32> {
    values.iter_mut().zip(others).for_each(|(value, other)| *value += other);
    values
}

/// Mean over each text's tokens, scaled to length 1.
pub fn pool(rows: &[f32], texts: &Texts) -> Vec<Vec<f32>> {
    let embedding = |range: &Range<usize>| {
        let mut mean = vec![0.0f32; WIDTH];
        for row in rows[range.start * WIDTH..range.end * WIDTH].chunks_exact(WIDTH) {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x);
        }
        let length = dot(&mean, &mean).sqrt();
        mean.iter_mut().for_each(|x| *x /= length);
        mean
    };
    texts.rows.iter().map(embedding).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        (0..LANES).for_each(|lane| lanes[lane] += a[lane] * b[lane]);
    }
    lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

fn dots(weights: &[f32], rows: [&[f32]; TILE]) -> [f32; TILE] {
    let mut sums = [[0.0f32; LANES]; TILE];
    let [a, b, c, d] = rows.map(|row| row.as_chunks::<LANES>().0);
    for ((((w, a), b), c), d) in weights.as_chunks::<LANES>().0.iter().zip(a).zip(b).zip(c).zip(d) {
        for (sums, row) in sums.iter_mut().zip([a, b, c, d]) {
            (0..LANES).for_each(|lane| sums[lane] += w[lane] * row[lane]);
        }
    }
    sums.map(|sums| sums.iter().sum())
}
