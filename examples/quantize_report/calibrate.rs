//! Quantizes a model layer by layer with activations of sentences, from the quantized layers before.
//!
//! `Method::Feedback` minimizes the change of outputs (GPTQ, Frantar et al. 2022). `Method::Fitted` first fits weights
//! and bias, by least squares, to outputs of the *unquantized* model: a layer thus compensates earlier errors, also
//! those of the residual stream. Bias and layer norm are fitted again after quantization.

use fuse_minilm_model::host::{HostModel, Layer, Linear, Norm, Part, Texts, attention, gelu};
use fuse_quantize::{Calibration, Quantized, Targets, quantize_calibrated};

use super::{
    cases::{Case, Method},
    round::QuantizedModel,
};

const CLAUSE_ENDS: [char; 6] = [',', ';', ':', '.', '?', '!'];

/// Damping of error feedback and of the pull towards the model's weights. With less, fitted weights overfit. Chosen by
/// trial with 2 bits and 1 bit, on the sentences that schemes are compared on.
const DAMPING: f64 = 0.03;
const NEARNESS: f64 = 0.3;

/// `[CLS]` and `[SEP]`, which enclose a text.
const BEGIN: i32 = 101;
const END: i32 = 102;

/// First word of several letters in the vocabulary, and the number of such tokens.
const FIRST_WORD: i32 = 1996;
const WORDS: u64 = 28_000;

/// Adds each clause as a text: models see short texts, too.
pub(crate) fn with_clauses(sentences: &[String]) -> Vec<String> {
    let clauses =
        sentences.iter().flat_map(|sentence| sentence.split(CLAUSE_ENDS)).map(|clause| clause.trim().to_owned());
    sentences.iter().cloned().chain(clauses.filter(|clause| !clause.is_empty())).collect()
}

/// Layers see the whole vocabulary, and weights fit the model rather than the sentences.
pub(crate) fn random_texts(count: usize) -> Vec<Vec<i32>> {
    let mut state = 1u64;
    // Linear congruential generator of Knuth's MMIX; its high bits suffice.
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = || {
        let length = 2 + next(14);
        let words: Vec<i32> = (0..length).map(|_| FIRST_WORD + next(WORDS) as i32).collect();
        [&[BEGIN][..], &words, &[END]].concat()
    };
    (0..count).map(|_| text()).collect()
}

/// Unquantized outputs for the calibration sentences.
pub(crate) struct Reference {
    texts: Texts,
    embedded: Vec<f32>,
    /// In the order of `Part::ALL`, with the residual if one is added.
    answers: Vec<[Vec<f32>; 6]>,
}

impl Reference {
    pub(crate) fn new(model: &HostModel, tokens: &[Vec<i32>]) -> anyhow::Result<Self> {
        let texts = Texts::new(tokens);
        let embedded = model.embed(&texts)?;
        let mut rows = embedded.clone();
        let mut answers = vec![];
        for layer in &model.layers {
            let [q, k, v] = [Part::Query, Part::Key, Part::Value].map(|part| layer.linear(part).apply(&rows));
            let context = attention([&q, &k, &v], &texts);
            let attention_sums = layer.attention_sums(&rows, &context);
            let mut attended = attention_sums.clone();
            layer.attention_norm.apply(&mut attended);
            let intermediate = layer.linear(Part::Intermediate).apply(&attended);
            let mut hidden = intermediate.clone();
            gelu(&mut hidden);
            let output_sums = layer.output_sums(&attended, &hidden);
            rows.clone_from(&output_sums);
            layer.output_norm.apply(&mut rows);
            answers.push([q, k, v, attention_sums, intermediate, output_sums]);
        }
        Ok(Self { texts, embedded, answers })
    }

    pub(crate) fn tokens(&self) -> usize {
        self.texts.tokens()
    }
}

pub(crate) fn quantize(case: &Case, model: &HostModel, reference: &Reference) -> anyhow::Result<QuantizedModel> {
    let (mut model, mut codes) = (model.clone(), vec![]);
    let mut rows = reference.embedded.clone();
    for (layer, answers) in model.layers.iter_mut().zip(&reference.answers) {
        let mut step = Step { texts: &reference.texts, case, layer, answers, codes: &mut codes };
        step.parts(&[Part::Query, Part::Key, Part::Value], &rows, None)?;
        let context = step.layer.context(&rows, &reference.texts);
        step.parts(&[Part::Attention], &context, Some(&rows))?;
        let mut attended = step.layer.attention_sums(&rows, &context);
        step.norm(Part::Attention, &attended);
        step.layer.attention_norm.apply(&mut attended);
        step.parts(&[Part::Intermediate], &attended, None)?;
        let hidden = step.layer.hidden(&attended);
        step.parts(&[Part::Output], &hidden, Some(&attended))?;
        rows = step.layer.output_sums(&attended, &hidden);
        step.norm(Part::Output, &rows);
        step.layer.output_norm.apply(&mut rows);
    }
    Ok(QuantizedModel { model, codes, table: None })
}

struct Step<'a> {
    texts: &'a Texts,
    case: &'a Case,
    layer: &'a mut Layer,
    answers: &'a [Vec<f32>; 6],
    codes: &'a mut Vec<Quantized>,
}

impl Step<'_> {
    /// Fits a part's layer norm to its unquantized output: one regression per feature.
    fn norm(&mut self, part: Part, sums: &[f32]) {
        if self.case.method != Method::Fitted {
            return;
        }
        let norm = match part {
            Part::Attention => &mut self.layer.attention_norm,
            _ => &mut self.layer.output_norm,
        };
        let mut wanted = self.answers[part as usize].clone();
        norm.apply(&mut wanted);
        let width = norm.gamma.len();
        let plain = Norm { gamma: vec![1.0; width], beta: vec![0.0; width] };
        let mut found = sums.to_vec();
        plain.apply(&mut found);
        let ((found, found_mean), (wanted, wanted_mean)) = (centered(&found, width), centered(&wanted, width));
        for feature in 0..width {
            let products = |a: &[f32], b: &[f32]| -> f64 {
                let of = |rows: &[f32], at: usize| f64::from(rows[at]);
                (feature..a.len()).step_by(width).map(|at| of(a, at) * of(b, at)).sum()
            };
            let gamma = (products(&found, &wanted) / products(&found, &found)) as f32;
            if gamma.is_finite() {
                norm.gamma[feature] = gamma;
                norm.beta[feature] = wanted_mean[feature] - gamma * found_mean[feature];
            }
        }
    }

    /// Layers share inputs; outputs add to `residual`, if given.
    fn parts(&mut self, parts: &[Part], inputs: &[f32], residual: Option<&[f32]>) -> anyhow::Result<()> {
        let [_, width] = parts[0].shape();
        let fitted = self.case.method == Method::Fitted;
        // With a free bias, weights only fit deviations from the mean.
        let (inputs, input_mean) = if fitted { centered(inputs, width) } else { (inputs.to_vec(), vec![]) };
        let inputs = if fitted { equal_texts(&inputs, width, self.texts) } else { inputs };
        let mut calibration = Calibration::new(width).damping(DAMPING);
        calibration.add(&inputs)?;
        let nearness = calibration.clone().damping(NEARNESS);
        for &part in parts {
            let linear = &mut self.layer.linears[part as usize];
            let shape = part.shape();
            let answer_mean = if fitted {
                let answer = &self.answers[part as usize];
                let wanted = residual.map_or_else(|| answer.clone(), |residual| difference(answer, residual));
                let (wanted, mean) = centered(&wanted, shape[0]);
                let wanted = equal_texts(&wanted, shape[0], self.texts);
                let mut targets = Targets::new(shape[0], width);
                targets.add(&inputs, &wanted)?;
                linear.weight = targets.weights(&nearness, &linear.weight)?;
                mean
            } else {
                vec![]
            };
            let Case { packing, scheme, .. } = self.case;
            let quantized = quantize_calibrated(*packing, &linear.weight, &shape, scheme, &calibration)?;
            linear.weight = quantized.dequantize();
            self.codes.push(quantized);
            if fitted {
                let without_bias = Linear { weight: linear.weight.clone(), bias: vec![0.0; shape[0]] };
                linear.bias = difference(&answer_mean, &without_bias.apply(&input_mean));
            }
        }
        Ok(())
    }
}

/// Weighs texts equally, as an embedding's mean does.
fn equal_texts(rows: &[f32], width: usize, texts: &Texts) -> Vec<f32> {
    let weights = texts.lengths().flat_map(|length| std::iter::repeat_n(1.0 / (length as f32).sqrt(), length));
    rows.chunks_exact(width).zip(weights).flat_map(|(row, weight)| row.iter().map(move |x| x * weight)).collect()
}

fn centered(rows: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let mut sums = vec![0.0f64; width];
    for row in rows.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    let count = (rows.len() / width).max(1) as f64;
    let mean: Vec<f32> = sums.iter().map(|sum| (sum / count) as f32).collect();
    (rows.chunks_exact(width).flat_map(|row| difference(row, &mean)).collect(), mean)
}

fn difference(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
