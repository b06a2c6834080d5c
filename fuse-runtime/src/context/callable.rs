//! Launchable functions: those of the program, and those made at run time.
//!
//! # Invariant
//! Plans and pipelines do not keep a made function alive: they are dropped when a launch is planned after it is gone.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ops::Deref,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use fuse_artifact::{Function, Text};

use crate::context::lock::lock;

/// A function made at run time.
#[derive(Debug)]
pub struct MadeFunction {
    /// Above 0 and never reused.
    id: u64,
    function: Function,
}

/// A launchable function.
#[derive(Clone, Debug)]
pub enum Callable {
    /// A function of the program.
    Program(&'static Function),
    /// A function made at run time.
    Made(Arc<MadeFunction>),
}

impl Callable {
    /// Wraps a function made at run time.
    pub fn made(function: Function) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self::Made(Arc::new(MadeFunction { id: NEXT.fetch_add(1, Ordering::Relaxed), function }))
    }

    /// Number of a made function; 0 for the program's.
    pub(crate) fn id(&self) -> u64 {
        match self {
            Self::Program(_) => 0,
            Self::Made(made) => made.id,
        }
    }

    pub(crate) fn downgrade(&self) -> WeakCallable {
        match self {
            Self::Program(function) => WeakCallable::Program(function),
            Self::Made(made) => WeakCallable::Made(Arc::downgrade(made)),
        }
    }
}

impl From<&'static Function> for Callable {
    fn from(function: &'static Function) -> Self {
        Self::Program(function)
    }
}

impl Deref for Callable {
    type Target = Function;

    fn deref(&self) -> &Function {
        match self {
            Self::Program(function) => function,
            Self::Made(made) => &made.function,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum WeakCallable {
    Program(&'static Function),
    Made(Weak<MadeFunction>),
}

impl WeakCallable {
    pub(crate) fn upgrade(&self) -> Option<Callable> {
        match self {
            Self::Program(function) => Some(Callable::Program(function)),
            Self::Made(made) => made.upgrade().map(Callable::Made),
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Made(made) if made.strong_count() == 0)
    }

    /// A made function's memory is not reused while a plan names it.
    pub(crate) fn is(&self, other: &Callable) -> bool {
        match (self, other) {
            (Self::Program(function), Callable::Program(other)) => std::ptr::eq(*function, *other),
            (Self::Made(made), Callable::Made(other)) => std::ptr::eq(made.as_ptr(), Arc::as_ptr(other)),
            _ => false,
        }
    }
}

/// Distinct names of made functions stay until the process ends.
pub(crate) fn lasting(name: &Text) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    match name {
        Cow::Borrowed(name) => name,
        Cow::Owned(name) => {
            let mut names = lock(&NAMES);
            if let Some(known) = names.get(name.as_str()) {
                return known;
            }
            let name: &'static str = Box::leak(name.clone().into_boxed_str());
            names.insert(name);
            name
        }
    }
}
