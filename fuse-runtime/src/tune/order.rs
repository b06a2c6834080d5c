//! Insertion sort of short lists: each use of the standard library's sorts adds two compressed kilobytes to a page.

pub(crate) fn sort_by<T>(items: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && is_before(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Distinct elements in ascending order.
pub(crate) fn distinct<T: PartialOrd>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = vec![];
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    sort_by(&mut found, |a, b| a < b);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_elements_keep_their_order() {
        let mut items = [(2, 'a'), (1, 'b'), (2, 'c'), (0, 'd'), (1, 'e')];
        sort_by(&mut items, |a, b| a.0 < b.0);
        assert_eq!(items, [(0, 'd'), (1, 'b'), (1, 'e'), (2, 'a'), (2, 'c')]);
        sort_by(&mut items[..0], |a, b| a < b);
    }

    #[test]
    fn distinct_elements_are_in_order() {
        assert_eq!(distinct(["outer", "inner", "outer"].into_iter()), ["inner", "outer"]);
        assert_eq!(distinct([0; 0].into_iter()), [0; 0]);
    }
}
