//! Measuring visits for browsers on other machines: a list for `drive.py` of `cargo xtask web bundle`.

use fuse_bench_results::line::{ALONE, ONNX, OURS, TENSORFLOW};
use serde_json::{Value, json};

pub(super) const FIRST_ROUNDS: usize = 5;
/// Names on pages, and in results.
pub(super) const FIRST: [(&str, &str); 4] = [("alone", ALONE), ("fuse", OURS), ("tfjs", TENSORFLOW), ("ort", ONNX)];

/// Each round begins with another.
pub(super) fn turns(rounds: usize) -> impl Iterator<Item = usize> {
    (0..rounds).flat_map(|round| (0..FIRST.len()).map(move |turn| (round + turn) % FIRST.len()))
}

/// First results take turns, each in a new browser.
pub(super) fn measurements() -> Vec<Value> {
    let mut visits = vec![
        visit("compare", "bench/compare.html?large", 3600),
        visit("launches", "bench/launches.html", 300),
        visit("minilm", "bench/minilm.html", 900),
        visit("packing", "bench/packing.html", 300),
        visit("eight bits", "bench/eight_bits.html", 300),
        visit("tune", "bench/tune.html", 900),
    ];
    for at in turns(FIRST_ROUNDS) {
        let (library, _) = FIRST[at];
        visits.push(visit(&format!("first {library}"), &format!("bench/first.html?library={library}"), 300));
    }
    for (name, more) in [("specializations", ""), ("held out", "&held_out"), ("f16", "&f16")] {
        visits.push(visit(name, &format!("bench/specializations.html?specializations&large{more}"), 3600));
    }
    visits
}

fn visit(name: &str, page: &str, seconds: u32) -> Value {
    json!({ "name": name, "page": page, "seconds": seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::root;

    #[test]
    fn pages_exist_and_every_way_is_visited_as_often() {
        let visits = measurements();
        for (library, _) in FIRST {
            let of = |visit: &&Value| visit["name"] == format!("first {library}");
            assert_eq!(visits.iter().filter(of).count(), FIRST_ROUNDS);
        }
        let pages = visits.iter().filter_map(|visit| visit["page"].as_str()?.strip_prefix("bench/")?.split('?').next());
        assert!(pages.into_iter().all(|page| root().join("benches/web_rivals/page").join(page).is_file()));
    }
}
