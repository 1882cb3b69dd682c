//! Updates on one thread, for an emulator that counts their instructions: `benches/instructions.sh`.
//!
//! `CHOLUPDATE_BENCH_N`, `_K`: one order and one rank. `CHOLUPDATE_BENCH_UPDATES`: how many updates; the difference between two
//! numbers of them does not count what comes before and after. `CHOLUPDATE_ISA`: the instruction set.

use cholupdate::{Cholesky, Cpu};
use cholupdate_bench::problem::Problem;

fn main() {
    let number = |name: &str, default: usize| {
        let given = std::env::var(format!("CHOLUPDATE_BENCH_{name}"));
        given.map_or(default, |given| given.parse().expect("a number"))
    };
    let (n, k, updates) = (number("N", 64), number("K", 1), number("UPDATES", 1));
    let problem = Problem::<f64>::from_factor(n);
    let v = problem.v(k);
    let mut factor = Cholesky::from_factor_in(&problem.l, Cpu::sequential()).expect("a factor");
    for _ in 0..updates {
        factor.update(&v).expect("an update");
    }
    println!(
        "n = {n}, k = {k}, {updates} updates: log det A = {}",
        factor.log_det().expect("a regular factor")
    );
}
