//! Simple kriging with observations that come and go: `mpirun -n 4 target/release/examples/kriging [observations]`.
//!
//! The covariance of n observations is distributed over the processes, each of which computes its own rows. New observations are
//! appended; the last ones can be removed again; any other one goes when its error variance becomes so large that it says nothing, which
//! is an update by a multiple of a unit vector. After each step the predictions are compared with those of a factor that ScaLAPACK
//! computes anew.

use cholupdate_mpi::cholupdate::faer::{Col, Mat};
use cholupdate_mpi::scalapack::{Grid, has_scalapack};
use cholupdate_mpi::{Cyclic, Distributed, Error, Rows, ScalapackError, Settings};
use mpi::collective::SystemOperation;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::CommunicatorCollectives;
use std::time::Instant;

/// Variance of the errors of an observation, and of one that has gone.
const ERROR: f64 = 0.01;
const GONE: f64 = 1e6;

/// A field at places of the unit square.
struct Observations {
    places: Vec<[f64; 2]>,
    values: Vec<f64>,
    variances: Vec<f64>,
}

impl Observations {
    fn new(count: usize) -> Self {
        let mut all = Self { places: Vec::new(), values: Vec::new(), variances: Vec::new() };
        all.come(count);
        all
    }

    fn come(&mut self, count: usize) {
        for i in self.places.len()..self.places.len() + count {
            // A sequence that fills the square evenly (Roberts, 2018).
            let place =
                [(0.754_877_666_246_69 * i as f64).fract(), (0.569_840_290_998_05 * i as f64).fract()];
            self.places.push(place);
            self.values
                .push((6.0 * place[0]).sin() + (4.0 * place[1]).cos() + 0.05 * (31.0 * i as f64).sin());
            self.variances.push(ERROR);
        }
    }

    fn go_last(&mut self, count: usize) {
        let left = self.places.len() - count;
        self.places.truncate(left);
        self.values.truncate(left);
        self.variances.truncate(left);
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        between(self.places[i], self.places[j]) + if i == j { self.variances[i] } else { 0.0 }
    }

    /// The rows of the covariance that a process has.
    fn rows(&self, cyclic: &Cyclic, columns: core::ops::Range<usize>) -> Mat<f64> {
        Mat::from_fn(cyclic.rows(), columns.len(), |place, j| {
            self.covariance(cyclic.row(place), columns.start + j)
        })
    }
}

/// The covariance of the field between two places.
fn between(a: [f64; 2], b: [f64; 2]) -> f64 {
    let distance = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
    (-distance / 0.3).exp()
}

/// Predictions at some places, on every process.
fn predictions(
    world: &SimpleCommunicator,
    factor: &Distributed<f64>,
    observed: &Observations,
) -> Result<Vec<f64>, Error> {
    let cyclic = factor.cyclic();
    let mut weights = Mat::from_fn(cyclic.rows(), 1, |place, _| observed.values[cyclic.row(place)]);
    factor.solve_in_place(weights.as_mut())?;
    let at = |s: usize| [0.1 + 0.2 * s as f64, 0.9 - 0.17 * s as f64];
    let own = Col::from_fn(5, |s| {
        (0..cyclic.rows()).map(|p| weights[(p, 0)] * between(at(s), observed.places[cyclic.row(p)])).sum()
    });
    let own: Vec<f64> = own.iter().copied().collect();
    let mut all = vec![0.0; own.len()];
    world.all_reduce_into(&own[..], &mut all[..], SystemOperation::sum());
    Ok(all)
}

/// A factor that ScaLAPACK computes of the covariance as it is now.
fn again(
    world: &SimpleCommunicator,
    settings: Settings,
    observed: &Observations,
) -> Result<Distributed<f64>, ScalapackError> {
    let order = observed.places.len();
    if !has_scalapack() {
        let rows = observed.rows(&cholupdate_mpi::rows_of(world, order, settings), 0..order);
        return Ok(Distributed::new(world, settings, order, rows.as_ref())?);
    }
    let ranks = world.size() as usize;
    let rows = (1..=ranks).filter(|rows| ranks.is_multiple_of(*rows) && rows * rows <= ranks).max();
    let rows = rows.unwrap_or(1);
    let grid = Grid::new(world, (rows, ranks / rows))?;
    let part = grid.local(order, 64)?;
    let mut a: Vec<f64> = part
        .columns()
        .iter()
        .flat_map(|&j| part.rows().iter().map(move |&i| observed.covariance(i, j)))
        .collect();
    grid.factorize(&mut a, &part)?;
    Distributed::from_scalapack(world, settings, (order, true), part.descriptor(), &a)
}

fn main() -> Result<(), ScalapackError> {
    let (universe, _) =
        mpi::initialize_with_threading(mpi::Threading::Funneled).expect("MPI is initialized once");
    let world = universe.world();
    let say = |line: String| {
        if world.rank() == 0 {
            println!("{line}");
        }
    };
    let count =
        std::env::args().nth(1).map_or(1000, |count| count.parse().expect("a number of observations"));
    let settings = Settings { threads: Some(1), block: 64, ..Settings::default() };
    let mut observed = Observations::new(count);
    let rows = observed.rows(&cholupdate_mpi::rows_of(&world, count, settings), 0..count);
    let mut factor = Distributed::new(&world, settings, count, rows.as_ref())?;
    let peer = if has_scalapack() { "ScaLAPACK" } else { "a new factor (no ScaLAPACK)" };
    say(format!("{count} observations on {} processes; compared with {peer}", world.size()));

    for step in 0..6 {
        let start = Instant::now();
        let what = match step % 3 {
            0 => {
                let (old, come) = (observed.places.len(), 20);
                observed.come(come);
                let cross = observed.rows(&factor.cyclic(), old..old + come);
                let corner = Mat::from_fn(come, come, |i, j| observed.covariance(old + i, old + j));
                factor.append(Rows::Mine(cross.as_ref()), corner.as_ref())?;
                "20 come"
            }
            1 => {
                // Every process has these few columns whole.
                let gone: Vec<_> = (0..10).map(|i| (37 * i + 11 * step) % observed.places.len()).collect();
                let entry = |i: usize, r: usize| if i == gone[r] { GONE.sqrt() } else { 0.0 };
                let v = Mat::from_fn(observed.places.len(), gone.len(), entry);
                factor.update(Rows::All(v.as_ref()))?;
                gone.iter().for_each(|&i| observed.variances[i] += GONE);
                "10 go"
            }
            _ => {
                factor.remove_last(5)?;
                observed.go_last(5);
                "the last 5 go"
            }
        };
        let ours = start.elapsed();
        let start = Instant::now();
        let peer = again(&world, settings, &observed)?;
        let anew = start.elapsed();
        let found = predictions(&world, &factor, &observed)?;
        let expected = predictions(&world, &peer, &observed)?;
        let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "the predictions differ by {off:e}");
        say(format!(
            "{what:>14}: {:8.2} ms, anew {:8.2} ms; log det {:10.4}, predictions differ by {off:.0e}",
            1e3 * ours.as_secs_f64(),
            1e3 * anew.as_secs_f64(),
            factor.log_det()?,
        ));
    }
    Ok(())
}
