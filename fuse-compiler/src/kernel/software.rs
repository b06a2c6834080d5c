//! Cooperative matrices in software, for tests (feature `verify`), so that every adapter runs them.
//!
//! Each invocation of a subgroup of 32 holds its accumulator elements in a private array, and reads operands where
//! matrices would be loaded. Only matrix operations and shuffles are replaced.

use std::collections::HashMap;

use super::{Arena, Block, Expr, MatrixPlace, Order, Scalar, Statement, Ty, Val};

const SUBGROUP: u32 = 32;

const MOST_INVOCATIONS: u32 = 1024;

/// A variable to declare: its address space, name and type.
pub type Variable = (&'static str, &'static str, Ty);

/// Replaces matrices of this size in a shader's functions, the last being its entry point. Returns variables to
/// declare.
pub fn replace_matrices<'k>(arena: &'k Arena, size: u32, bodies: &mut [&mut Block<'k>]) -> Vec<Variable> {
    let mut sums = vec![];
    bodies.iter_mut().for_each(|body| accumulators(body, &mut sums));
    let each = size * size / SUBGROUP;
    let floats = |count| arena.array(Ty::F32, Some(count));
    let variables = [
        ("private", "matrix_sums", floats(each * sums.len() as u32)),
        ("private", "matrix_lane", Ty::U32),
        ("workgroup", "exchanged", floats(MOST_INVOCATIONS)),
    ];
    let [all, lane, exchanged] = variables.map(|(_, name, ty)| arena.name(name, ty));
    let mut pass =
        Replace { arena, size, each, names: sums, all, lane, exchanged, loaded: HashMap::new(), products: vec![] };
    let last = bodies.len() - 1;
    for (number, body) in bodies.iter_mut().enumerate() {
        let old = std::mem::take(*body);
        **body = Block::of(|b| {
            if number == last {
                let local = arena.name("local", Ty::U32);
                b.bind("subgroup", local / SUBGROUP);
                let own = b.bind("subgroup_lane", local % SUBGROUP);
                b.set(lane, own);
            }
            pass.block(b, &old);
            pass.multiply(b);
        });
    }
    variables.into()
}

fn accumulators(block: &mut Block<'_>, found: &mut Vec<String>) {
    for statement in &mut block.statements {
        match statement {
            Statement::Var(name, Ty::Matrix { .. }, _) if !found.contains(name) => found.push(name.clone()),
            _ => statement.blocks_mut().into_iter().for_each(|block| accumulators(block, found)),
        }
    }
}

/// A multiplication whose operands are in memory.
struct Product<'k> {
    sum: u32,
    lhs: MatrixPlace<Val<'k>>,
    rhs: MatrixPlace<Val<'k>>,
}

struct Replace<'k> {
    arena: &'k Arena,
    size: u32,
    /// Accumulator elements per invocation.
    each: u32,
    names: Vec<String>,
    /// Accumulator elements, index of the invocation in its subgroup, and an array for shuffles.
    all: Val<'k>,
    lane: Val<'k>,
    exchanged: Val<'k>,
    /// Places of loaded operands, by name.
    loaded: HashMap<String, MatrixPlace<Val<'k>>>,
    /// Consecutive multiplications, in one loop: software adapters compile long shaders slowly.
    products: Vec<Product<'k>>,
}

impl<'k> Replace<'k> {
    fn block(&mut self, b: &mut Block<'k>, old: &Block<'k>) {
        old.statements.iter().for_each(|statement| self.statement(b, statement));
    }

    fn statement(&mut self, b: &mut Block<'k>, statement: &Statement<'k>) {
        match statement {
            // Inside a loop, each iteration resets the accumulator.
            Statement::Var(name, Ty::Matrix { .. }, _) => {
                let sum = self.sum(name);
                b.range("e", self.arena.u32(0), self.each, 1, |b, e| {
                    b.set(self.all.at(e + sum), self.arena.f32(0.0));
                });
            }
            Statement::Let(name, value) => match self.expr(value.id()) {
                Expr::MatrixLoad(place) => _ = self.loaded.insert(name.clone(), self.place(place)),
                Expr::Call(function, arguments) if function == "subgroupShuffleXor" => {
                    let [value, distance] = [0, 1].map(|i| self.arena.value(arguments[i]));
                    let local = self.arena.name("local", Ty::U32);
                    b.set(self.exchanged.at(local), value);
                    b.workgroup_barrier();
                    b.bind(name.clone(), self.exchanged.at(local ^ distance));
                    b.workgroup_barrier();
                }
                _ => b.statements.push(statement.clone()),
            },
            Statement::Set(sum, value) => match (self.expr(sum.id()), self.expr(value.id())) {
                (Expr::Name(_), Expr::MatrixMultiplyAdd([lhs, rhs, sum])) => {
                    let [lhs, rhs] = [lhs, rhs].map(|factor| self.loaded[&self.name(factor)]);
                    self.products.push(Product { sum: self.sum(&self.name(sum)), lhs, rhs });
                }
                (Expr::Name(name), Expr::MatrixLoad(place)) => {
                    self.multiply(b);
                    let (sum, place) = (self.sum(&name), self.place(place));
                    self.each_element(b, |this, b, [e, row, column]| {
                        b.set(this.all.at(e + sum), this.element(place, [row, column]));
                    });
                }
                _ => b.statements.push(statement.clone()),
            },
            Statement::Call(call) => match self.expr(call.id()) {
                Expr::MatrixStore(matrix, place) => {
                    self.multiply(b);
                    let (sum, place) = (self.sum(&self.name(matrix)), self.place(place));
                    self.each_element(b, |this, b, [e, row, column]| {
                        b.set(this.element(place, [row, column]), this.all.at(e + sum));
                    });
                }
                _ => b.statements.push(statement.clone()),
            },
            Statement::WorkgroupBarrier => {
                self.multiply(b);
                b.workgroup_barrier();
            }
            // Operands are in memory, so products of several scopes follow each other.
            Statement::Scope(block) => {
                let block = Block::of(|b| self.block(b, block));
                b.statements.push(Statement::Scope(block));
            }
            _ => {
                let mut statement = statement.clone();
                for block in statement.blocks_mut() {
                    let old = std::mem::take(block);
                    self.multiply(b);
                    *block = Block::of(|b| {
                        self.block(b, &old);
                        self.multiply(b);
                    });
                }
                b.statements.push(statement);
            }
        }
    }

    fn expr(&self, id: u32) -> Expr {
        self.arena.expr(id, Clone::clone)
    }

    fn name(&self, id: u32) -> String {
        match self.expr(id) {
            Expr::Name(name) => name,
            other => unreachable!("a matrix has a name, not {other:?}"),
        }
    }

    fn place(&self, place: MatrixPlace<u32>) -> MatrixPlace<Val<'k>> {
        let [array, index, stride] = [place.array, place.index, place.stride].map(|id| self.arena.value(id));
        MatrixPlace { array, index, stride, order: place.order }
    }

    /// Index of an accumulator's first element.
    fn sum(&self, name: &str) -> u32 {
        let number = self.names.iter().position(|known| known == name).expect("accumulators are declared");
        number as u32 * self.each
    }

    /// An element of a matrix in an array of vectors of four.
    fn element(&self, place: MatrixPlace<Val<'k>>, [row, column]: [Val<'k>; 2]) -> Val<'k> {
        let (line, within) = match place.order {
            Order::RowMajor => (row, column),
            Order::ColumnMajor => (column, row),
        };
        let at = (place.index + line * place.stride) * 4 + within;
        place.array.at(at / 4).at(at % 4)
    }

    fn each_element(&self, b: &mut Block<'k>, body: impl FnOnce(&Self, &mut Block<'k>, [Val<'k>; 3])) {
        b.range("e", self.arena.u32(0), self.each, 1, |b, e| {
            let i = b.bind("i", e * SUBGROUP + self.lane);
            body(self, b, [e, i / self.size, i % self.size]);
        });
    }

    fn multiply(&mut self, b: &mut Block<'k>) {
        let products = std::mem::take(&mut self.products);
        let of = |product: &Product<'k>| [product.lhs, product.rhs].map(|place| place.array.to_string());
        let mut arrays: Vec<[String; 2]> = products.iter().map(of).collect();
        arrays.sort_unstable();
        arrays.dedup();
        for arrays in arrays {
            let products: Vec<&Product<'k>> = products.iter().filter(|product| of(product) == arrays).collect();
            b.scope(|b| self.multiply_arrays(b, &products));
        }
    }

    fn multiply_arrays(&self, b: &mut Block<'k>, products: &[&Product<'k>]) {
        let (arena, count) = (self.arena, products.len() as u32);
        let table = |b: &mut Block<'k>, name: &str, value: &dyn Fn(&Product<'k>) -> Val<'k>| {
            let values: Vec<Val<'k>> = products.iter().map(|product| value(product)).collect();
            b.var(name, arena.construct(arena.array(Ty::U32, Some(count)), &values))
        };
        let lefts = table(b, "lefts", &|product| product.lhs.index);
        let rights = table(b, "rights", &|product| product.rhs.index);
        let sums = table(b, "sums", &|product| arena.u32(product.sum));
        b.range("m", arena.u32(0), count, 1, |b, m| {
            let places = [(products[0].lhs, lefts), (products[0].rhs, rights)];
            let [lhs, rhs] = places.map(|(place, indices)| MatrixPlace { index: indices.at(m), ..place });
            self.each_element(b, |this, b, [e, row, column]| {
                let sum = b.var("of_products", arena.f32(0.0));
                b.range("k", arena.u32(0), this.size, 1, |b, k| {
                    let [left, right] = [(lhs, [row, k]), (rhs, [k, column])]
                        .map(|(place, at)| this.element(place, at).convert(Scalar::F32));
                    b.set(sum, sum + left * right);
                });
                let total = this.all.at(sums.at(m) + e);
                b.set(total, total + sum);
            });
        });
    }
}
