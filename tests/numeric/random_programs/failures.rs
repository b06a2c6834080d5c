//! Earlier failures, tried first: those of the repository and of this machine. A failing run writes its program below
//! `target`.

use std::{any::Any, fmt};

use fuse_test_support::{checkout, scratch};
use proptest::test_runner::{FailurePersistence, FileFailurePersistence, PersistedSeed};

/// Files of a form of programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Failures {
    added: &'static str,
    found: &'static str,
}

impl Failures {
    pub(crate) fn of(file: &str) -> Self {
        let added = checkout().join("tests/numeric/random_programs").join(file);
        let found = scratch("random_programs").join(file);
        // proptest needs static paths.
        let [added, found] = [added, found].map(|path| &*path.display().to_string().leak());
        Self { added, found }
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, found } = self;
        write!(
            f,
            "the next runs on this machine try this program first: {found} holds it; \
             remove that file to forget it, or move the line to {added} to keep it for everyone"
        )
    }
}

impl FailurePersistence for Failures {
    fn load_persisted_failures2(&self, source: Option<&'static str>) -> Vec<PersistedSeed> {
        let files = [self.added, self.found].map(FileFailurePersistence::Direct);
        files.iter().flat_map(|file| file.load_persisted_failures2(source)).collect()
    }

    fn save_persisted_failure2(&mut self, source: Option<&'static str>, seed: PersistedSeed, shrunk: &dyn fmt::Debug) {
        FileFailurePersistence::Direct(self.found).save_persisted_failure2(source, seed, shrunk);
    }

    fn box_clone(&self) -> Box<dyn FailurePersistence> {
        Box::new(*self)
    }

    fn eq(&self, other: &dyn FailurePersistence) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn a_failure_is_kept_outside_of_the_repository() {
    use std::fs;

    use proptest::{
        prelude::any,
        test_runner::{Config, RngSeed, TestCaseError, TestRunner},
    };

    let folder = scratch("failures_of_a_test");
    let path = |name: &str| &*folder.join(name).display().to_string().leak();
    let failures = Failures { added: path("added.txt"), found: path("found.txt") };
    for file in [failures.added, failures.found] {
        let _ = fs::remove_file(file);
    }
    let run = |seed: u64, fails: bool| {
        let config = Config {
            rng_seed: RngSeed::Fixed(seed),
            cases: 1,
            failure_persistence: Some(Box::new(failures)),
            max_shrink_iters: 0,
            ..Config::default()
        };
        let drawn = std::cell::RefCell::new(vec![]);
        let check = |x: u64| {
            drawn.borrow_mut().push(x);
            if fails { Err(TestCaseError::fail("wanted")) } else { Ok(()) }
        };
        assert_eq!(TestRunner::new(config).run(&any::<u64>(), check).is_err(), fails);
        drawn.into_inner()
    };
    let failed = run(1, true);
    assert!(!fs::exists(failures.added).unwrap() && fs::exists(failures.found).unwrap());
    assert_eq!(run(2, false)[0], failed[0], "tried first");
    fs::rename(failures.found, failures.added).unwrap();
    assert_eq!(run(3, false)[0], failed[0], "also when a person has added it");
    let message = failures.to_string();
    assert!(message.contains(failures.added) && message.contains(failures.found), "{message}");
}
