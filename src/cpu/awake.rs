//! Threads that stay awake from one call to the next.

use super::engine::Cpu;
use crate::host::share::at_most_the_pool;
use crate::host::workers::Scope;

/// Keeps the threads of the CPU engine awake until it is dropped: see [`Cpu::keep_awake`].
#[must_use = "the threads may sleep again as soon as this is dropped"]
#[derive(Debug)]
pub struct Awake {
    _scope: Scope,
}

impl Cpu {
    /// Keeps the threads of this engine awake, and for calls of this thread, until the returned value is dropped.
    ///
    /// To wake a thread takes longer than many a modification. After a call the threads therefore stay awake for 50 microseconds
    /// and then sleep, and a call that comes later has to wake them. Where a loop modifies a factor again and again with other
    /// work in between, this saves the waking: on 16 threads of a Xeon some 30 to 140 microseconds a call, and threads are used
    /// for smaller factors. Results do not depend on it.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Cpu, Error, faer::Mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let engine = Cpu::default();
    /// let mut factor = Cholesky::new_in(&Mat::<f64>::identity(500, 500), engine)?;
    /// let _awake = engine.keep_awake(); // until the end of the block; `let _ =` would end it at once
    /// for step in 0..20 {
    ///     let v = vec![1.0 / f64::from(1 + step); 500];
    ///     factor.update(&v)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// As many threads as the engine may use run without a pause: they wait actively, and leave a core only to other threads that
    /// want to run. A program that is done with its modifications for the moment is to drop this; without it an idle program
    /// uses no processor time.
    ///
    /// # Threads and processes
    /// The library starts its threads once in a process, and one thread of the program at a time can have them awake for itself.
    /// If another one has them when this is called, nothing is kept awake, and the calls of this thread use the current rayon
    /// pool. So do calls of other threads while this exists. A scope inside another one of the same thread changes only the
    /// number of threads, if it has more; they sleep when the last one ends, in any order.
    ///
    /// In a task of a rayon pool this keeps as many threads awake as the pool has, in addition to those of the pool. In the child
    /// of a `fork` it keeps nothing awake, unless it is called in a pool that the child has built itself; a scope that was open at
    /// the fork has no effect in the child. [`Cpu::sequential`] has no threads to be kept awake.
    pub fn keep_awake(&self) -> Awake {
        Awake { _scope: Scope::new(at_most_the_pool(self.threads.count())) }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Cholesky, Cpu, Error, Modification, Weights, interruptible};
    use core::sync::atomic::{AtomicUsize, Ordering};
    use faer::Mat;
    use std::sync::{Arc, Mutex};

    /// Orders and ranks for which a sweep uses several threads.
    const SHAPES: [(usize, usize); 2] = [(500, 1), (780, 9)];

    fn v(n: usize, k: usize) -> Mat<f64> {
        Mat::from_fn(n, k, |i, r| ((7 * i + 5 * r) % 13) as f64 / 13.0 - 0.4)
    }

    /// An update, a downdate and a solve.
    fn work(n: usize, k: usize, engine: Cpu) -> (Mat<f64>, Modification, Mat<f64>) {
        let a = Mat::from_fn(n, n, |i, j| if i == j { n as f64 } else { 1.0 / (1 + i + j) as f64 });
        let mut factor = Cholesky::new_in(&a, engine).unwrap();
        factor.update(&v(n, k)).unwrap();
        let report = factor.modify(&v(n, k), Weights::Minus).unwrap();
        (factor.to_factor().unwrap(), report, factor.solve(&v(n, 2)).unwrap())
    }

    #[test]
    fn in_a_scope_the_bits_are_the_same() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        for (n, k) in SHAPES {
            let expected = work(n, k, Cpu::sequential());
            for threads in [1, 2, 8] {
                let engine = Cpu::threads(threads);
                let _awake = engine.keep_awake();
                let inner = Cpu::threads(3).keep_awake();
                drop(inner);
                assert!(work(n, k, engine) == expected, "n = {n}, k = {k}, {threads} threads");
                pool.install(|| {
                    assert!(work(n, k, engine) == expected, "in a pool, beside the scope of another thread");
                    let _awake = engine.keep_awake();
                    assert!(work(n, k, engine) == expected, "in a pool, in a scope");
                });
            }
        }
    }

    #[test]
    fn callers_at_the_same_time_have_the_same_bits() {
        let (n, k) = SHAPES[1];
        let expected = work(n, k, Cpu::sequential());
        std::thread::scope(|scope| {
            for keeps in [true, true, false] {
                let expected = &expected;
                scope.spawn(move || {
                    let _awake = keeps.then(|| Cpu::threads(8).keep_awake());
                    for threads in [8, 2] {
                        assert!(work(n, k, Cpu::threads(threads)) == *expected);
                    }
                });
            }
        });
    }

    /// What a call asks may call the library again, while its threads wait for the answer. They are those of the library or,
    /// where another thread has these, those of rayon.
    #[test]
    fn a_question_may_be_answered_with_another_call() {
        let ((n, k), engine) = (SHAPES[1], Cpu::threads(8));
        let expected = work(500, 1, Cpu::sequential());
        let a = Mat::<f64>::identity(n, n) * n as f64;
        let answered = || {
            let mut factor = Cholesky::new_in(&a, engine).unwrap();
            let before = factor.to_factor().unwrap();
            let (asked, answers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
            let (count, to) = (asked.clone(), answers.clone());
            let stop = move || {
                let nth = count.fetch_add(1, Ordering::Relaxed);
                if nth == 5 {
                    let _awake = engine.keep_awake();
                    to.lock().unwrap().push(work(500, 1, engine));
                }
                nth == 12
            };
            let stopped = interruptible(stop, || factor.modify(&v(n, k), Weights::Minus));
            assert_eq!(stopped, Err(Error::Interrupted));
            assert_eq!(asked.load(Ordering::Relaxed), 13);
            assert!(*answers.lock().unwrap() == [expected.clone()]);
            assert!(factor.to_factor().unwrap() == before);
        };
        for in_a_scope in [false, true] {
            let _awake = in_a_scope.then(|| engine.keep_awake());
            answered();
            std::thread::scope(|scope| scope.spawn(answered).join().unwrap());
        }
    }
}
