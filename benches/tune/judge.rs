//! Losses of choices against the best variant, per class and over all.

use std::{collections::BTreeMap, fmt::Write as _};

use fuse_gpu::CUT_OFF;

/// Accepted mean and worst loss of a table's choices.
const BAR: [f64; 2] = [0.05, 0.15];

/// Times relative to the best, by class.
#[derive(Default)]
pub(crate) struct Losses {
    classes: BTreeMap<String, Vec<Loss>>,
}

struct Loss {
    case: String,
    /// At least 1.
    relative: [f64; 2],
}

impl Losses {
    /// Unknown times count as [`CUT_OFF`].
    pub(crate) fn add(&mut self, class: &str, case: &str, relative: [Option<f64>; 2]) {
        let relative = relative.map(|relative| relative.unwrap_or(CUT_OFF));
        self.classes.entry(class.to_owned()).or_default().push(Loss { case: case.to_owned(), relative });
    }

    /// Gain of a table, at the sizes it was made from.
    pub(crate) fn gains(&self) -> String {
        let mut text = "times of what the cost model chooses, relative to the best:\n".to_owned();
        self.lines(&mut text, 0);
        text
    }

    /// Loss of the table, beside that of the cost model.
    pub(crate) fn judgement(&self) -> String {
        let mut text = "the table's choices, relative to the best:\n".to_owned();
        self.lines(&mut text, 0);
        text += "\nthe cost model's choices, relative to the best:\n";
        self.lines(&mut text, 1);
        let (mean, worst) = summary(self.classes.values().flatten(), 0);
        let held = mean - 1.0 <= BAR[0] && worst.is_none_or(|worst| worst.relative[0] - 1.0 <= BAR[1]);
        let [mean, worst] = BAR.map(|bar| bar * 100.0);
        let verdict = if held { "held" } else { "not held" };
        let _ = write!(text, "\nbar: {mean:.0} % on average, {worst:.0} % at worst: {verdict}");
        text
    }

    fn lines(&self, text: &mut String, which: usize) {
        let width = self.classes.keys().map(|class| class.chars().count()).max().unwrap_or(0).max(3);
        let rows = self.classes.iter().map(|(class, losses)| (&**class, losses.iter().collect::<Vec<_>>()));
        let all = ("all", self.classes.values().flatten().collect::<Vec<_>>());
        for (class, losses) in rows.chain([all]) {
            let (mean, worst) = summary(losses.iter().copied(), which);
            let (worst, case) = worst.map_or((1.0, ""), |worst| (worst.relative[which], &*worst.case));
            let _ =
                writeln!(text, "{class:width$}  {:4} cases  mean {mean:.3}  worst {worst:.3}  {case}", losses.len());
        }
    }
}

/// Mean and worst.
fn summary<'a>(losses: impl Iterator<Item = &'a Loss>, which: usize) -> (f64, Option<&'a Loss>) {
    let losses: Vec<&Loss> = losses.collect();
    let sum: f64 = losses.iter().map(|loss| loss.relative[which]).sum();
    let worst = losses.iter().copied().max_by(|a, b| a.relative[which].total_cmp(&b.relative[which]));
    (if losses.is_empty() { 1.0 } else { sum / losses.len() as f64 }, worst)
}
