//! The report: a progress line per case, and the document with every table.

use std::{collections::BTreeMap, fmt::Write as _};

use fuse_minilm_model::encoder::{HIDDEN, WIDTH};
use fuse_quantize::Packing;

use super::{measure::Outcome, round::Memory};

pub(crate) struct About {
    pub(crate) adapter: String,
    /// Evaluation and held-out sentences.
    pub(crate) evaluation: [usize; 2],
    /// Sentences, texts with clauses, texts of random words, and all tokens.
    pub(crate) calibration: [usize; 4],
    /// Largest difference of host and device embeddings.
    pub(crate) host_distance: f32,
    /// Mean and worst cosine of each width's best case by the kernels, evaluation and held-out.
    pub(crate) on_device: BTreeMap<Packing, [(f64, f64); 2]>,
}

/// Least mean cosine, to embeddings of `f32` weights, that a width's best scheme must reach.
pub(crate) fn bar(packing: Packing) -> f64 {
    match packing {
        Packing::Q8 => 0.995,
        Packing::Q4 => 0.98,
        Packing::Q3 => 0.95,
        Packing::Q2 => 0.90,
        Packing::Q1 => 0.80,
    }
}

pub(crate) fn line(outcome: &Outcome) -> String {
    format!(
        "{:<64} weights {:.4}  layer {:.4}  cosine {:.4}, worst {:.4}",
        outcome.case.name(),
        outcome.weight_error,
        outcome.output_error,
        outcome.mean,
        outcome.worst
    )
}

pub(crate) fn document(about: &About, outcomes: &[Outcome]) -> String {
    let mut text = head(about);
    text += "## The best scheme of each width\n\n";
    text += "| bits | scheme | codes | mean cosine | worst | held out: mean | worst | asked for | reached | weights saved | scales |\n";
    text += "|---:|---|---|---:|---:|---:|---:|---:|---|---:|---:|\n";
    let of = |packing| outcomes.iter().filter(move |outcome| outcome.case.packing == packing);
    for packing in Packing::ALL {
        let best = of(packing).filter(|outcome| outcome.table.is_none()).max_by(|a, b| a.mean.total_cmp(&b.mean));
        let (Some(best), Some(&[(mean, worst), (held_mean, held_worst)])) = (best, about.on_device.get(&packing))
        else {
            continue;
        };
        let reached = if held_mean >= bar(packing) { "yes" } else { "**no**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {mean:.4} | {worst:.4} | {held_mean:.4} | {held_worst:.4} | {} | {reached} | {} | {} |",
            packing.bits(),
            best.case.scheme_name(),
            best.case.method_name(),
            bar(packing),
            saved(best.memory),
            share(best.memory),
        );
    }
    text += "\nAll numbers of this table are of embeddings that the kernels computed. Schemes were chosen by the first two columns of \
             cosines, *reached* is about the held-out mean.\n";
    text += "\n![1 minus the mean cosine over bit widths](quantization.svg)\n\n";
    text += MEANING;
    for packing in Packing::ALL {
        let _ = write!(text, "\n## {} bits\n\n", packing.bits());
        text += "| scheme | codes | error of weights | error of the layer | mean cosine | worst | scales |\n";
        text += "|---|---|---:|---:|---:|---:|---:|\n";
        for outcome in of(packing).filter(|outcome| outcome.table.is_none()) {
            let _ = writeln!(
                text,
                "| {} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {} |",
                outcome.case.scheme_name(),
                outcome.case.method_name(),
                outcome.weight_error,
                outcome.output_error,
                outcome.mean,
                outcome.worst,
                share(outcome.memory),
            );
        }
    }
    text + &tables(outcomes) + STEPS
}

fn head(about: &About) -> String {
    let About {
        adapter,
        evaluation: [evaluation, held_out],
        calibration: [sentences, texts, random, tokens],
        host_distance,
        ..
    } = about;
    format!(
        "# What quantization costs\n\n\
         Written by `cargo run --release --example quantize_report -- --out docs` (adapter: {adapter}).\n\n\
         The model is all-MiniLM-L6-v2. The weights of its 36 linear layers are quantized, `[outputs, inputs]` packed along the \
         inputs: for each of 6 encoder layers four matrices of {WIDTH} × {WIDTH}, and two of {HIDDEN} × {WIDTH} and \
         {WIDTH} × {HIDDEN}. Where it is not said, biases, layer norms and the table of word embeddings stay as they are. \
         Embeddings are compared on {evaluation} sentences \
         (`examples/data/quantize_evaluation.txt`) with those of the weights in `f32`. The calibration knows \
         {sentences} other sentences (`examples/data/quantize_calibration.txt`), whole and in clauses: {texts} texts; and \
         {random} texts of random words; {tokens} \
         tokens in all. An encoder on the host computes embeddings; they differ from those of the kernels by at most {host_distance:.1e} \
         in any number; of the best schemes, the kernels compute them. \
         Scheme, amount of damping and kind of calibration texts were chosen by the {evaluation} sentences; {held_out} others \
         (`examples/data/quantize_held_out.txt`) were looked at only for the table below.\n\n"
    )
}

const MEANING: &str = include_str!("meaning.md");

/// Steps to the best results, and options not tried.
const STEPS: &str = include_str!("steps.md");

fn tables(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "\n## With the table of word embeddings\n\n\
         The table, 30522 × 384, is rounded with the scheme of the linear layers, without calibration. Memory is that of table and \
         linear layers together.\n\n\
         | bits | scheme | codes | mean cosine | worst | bytes in f32 | bytes of codes | bytes of scales | saved in all |\n\
         |---:|---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for outcome in outcomes {
        let Some(table) = outcome.table else { continue };
        let linear = outcome.memory;
        let [single, weights, scales] =
            [linear.single + table.single, linear.weights + table.weights, linear.scales + table.scales];
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.4} | {:.4} | {single} | {weights} | {scales} | {:.1} % |",
            outcome.case.packing.bits(),
            outcome.case.scheme_name(),
            outcome.case.method_name(),
            outcome.mean,
            outcome.worst,
            100.0 * (1.0 - (weights + scales) as f64 / single as f64),
        );
    }
    text
}

fn saved(memory: Memory) -> String {
    format!("{:.2} %", 100.0 * (1.0 - memory.weights as f64 / memory.single as f64))
}

/// Scales and offsets relative to weights.
fn share(memory: Memory) -> String {
    format!("{:.2} %", 100.0 * memory.scales as f64 / memory.single as f64)
}
