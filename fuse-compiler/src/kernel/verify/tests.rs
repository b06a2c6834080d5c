use super::*;

/// Verifies statements with a divergent `local`, a uniform `group`, a buffer `x` and a workgroup array.
fn verified(build: impl for<'k> FnOnce(&'k Arena, &mut Block<'k>)) -> Result<(), String> {
    let arena = Arena::default();
    let mut main = Block::new();
    build(&arena, &mut main);
    let global = |name: &str, ty, uniform| Global { name: name.to_owned(), ty, uniform };
    let array = arena.array(Ty::F32, None);
    let globals = vec![
        global("local", Ty::U32, false),
        global("group", Ty::U32, true),
        global("x", array, true),
        global("shared", arena.array(Ty::U32, Some(4)), false),
    ];
    let function = Function {
        name: "wait".to_owned(),
        parameters: vec![("n".to_owned(), Ty::U32)],
        result: None,
        body: Block::of(|b| b.when(arena.name("n", Ty::U32).gt(1), Block::workgroup_barrier)),
    };
    Module { arena: &arena, globals, functions: vec![&function], main: &main }.verify()
}

fn local(arena: &Arena) -> Val<'_> {
    arena.name("local", Ty::U32)
}

fn group(arena: &Arena) -> Val<'_> {
    arena.name("group", Ty::U32)
}

#[test]
fn types_must_fit() {
    let fails = |build: for<'k> fn(&'k Arena, &mut Block<'k>)| verified(build).unwrap_err();
    assert!(
        fails(|arena, b| {
            b.bind("y", local(arena) + arena.f32(1.0));
        })
        .contains("types do not fit")
    );
    assert!(fails(|arena, b| b.when(local(arena), |_| {})).contains("the condition"));
    assert!(
        fails(|arena, b| {
            b.bind("y", local(arena).at(0));
        })
        .contains("types do not fit")
    );
    assert!(fails(|arena, b| b.run(arena.call("wait", &[], Ty::Void))).contains("does not fit `wait`"));
    assert!(
        fails(|arena, b| {
            b.bind("y", arena.name("x", Ty::U32));
        })
        .contains("but used as")
    );
    assert!(
        verified(|arena, b| {
            b.bind("y", local(arena).convert(Scalar::F32) * arena.f32(2.0));
        })
        .is_ok()
    );
}

#[test]
fn names_are_defined_before_they_are_used() {
    let inside = verified(|arena, b| {
        b.scope(|b| {
            b.bind("y", local(arena));
        });
        b.bind("z", arena.name("y", Ty::U32));
    });
    assert!(inside.unwrap_err().contains("`y` is used before"));
    assert!(
        verified(|arena, b| {
            b.bind("z", arena.name("y", Ty::U32));
        })
        .is_err()
    );
}

#[test]
fn barriers_need_uniform_control_flow() {
    let fails = |build: for<'k> fn(&'k Arena, &mut Block<'k>)| {
        let error = verified(build).unwrap_err();
        assert!(error.contains("a barrier in control flow that is not uniform"), "{error}");
    };
    fails(|arena, b| b.when(local(arena).eq(0), Block::workgroup_barrier));
    fails(|arena, b| {
        b.return_if(local(arena).eq(0));
        b.workgroup_barrier();
    });
    fails(|arena, b| b.range("i", arena.u32(0), local(arena), 1, |b, _| b.storage_barrier()));
    fails(|arena, b| b.run(arena.call("wait", &[local(arena)], Ty::Void)));
    // Divergent at a loop's end, so in its next round, too.
    fails(|arena, b| {
        let n = b.var("n", arena.u32(0));
        b.range("i", arena.u32(0), arena.u32(4), 1, |b, _| {
            b.when(n.eq(0), Block::workgroup_barrier);
            b.set(n, local(arena));
        });
    });
    // Divergent by one branch.
    fails(|arena, b| {
        let n = b.var("n", arena.u32(0));
        b.when(group(arena).eq(0), |b| b.set(n, local(arena)));
        b.when(n.eq(0), Block::workgroup_barrier);
    });
    fails(|arena, b| {
        let shared = arena.name("shared", arena.array(Ty::U32, Some(4)));
        b.when(shared.at(0).eq(0), Block::workgroup_barrier);
    });
}

#[test]
fn uniform_control_flow_may_have_barriers() {
    let outcome = verified(|arena, b| {
        let shared = arena.name("shared", arena.array(Ty::U32, Some(4)));
        let x = arena.name("x", arena.array(Ty::F32, None));
        b.return_if(group(arena).ge(7));
        b.when(local(arena).eq(0), |b| b.set(shared.at(0), group(arena)));
        b.when(x.at(group(arena)).gt(arena.f32(0.0)), Block::workgroup_barrier);
        // Uniform again after a uniform assignment.
        let n = b.var("n", local(arena));
        b.set(n, shared.at(0).uniform_load());
        b.range("i", arena.u32(0), n, 1, |b, _| b.workgroup_barrier());
        b.run(arena.call("wait", &[group(arena)], Ty::Void));
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn names_hide_no_functions() {
    for name in ["round", "step", "wait"] {
        let fault = verified(|arena, b| {
            b.bind(name, arena.u32(0));
        });
        assert_eq!(fault, Err(format!("`{name}` hides a function")));
        let fault = verified(|arena, b| b.range(name, arena.u32(0), arena.u32(3), 1, |_, _| {}));
        assert_eq!(fault, Err(format!("`{name}` hides a function")));
    }
}
