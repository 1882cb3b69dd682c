//! An engine that is chosen at run time is the engine that was chosen.

use crate::support::problem::{Kind, Problem, uniform};
use crate::support::real::{Real, bits};
use cholupdate::{AnyEngine, Cholesky, Cpu, Engine, EngineKind, EngineSpec, Error, Safeguard};

#[test]
fn names_are_read_as_they_are_written() {
    for (text, kind) in [
        ("cpu", EngineKind::Cpu),
        ("hybrid", EngineKind::Hybrid { device: 0 }),
        ("hybrid:3", EngineKind::Hybrid { device: 3 }),
        ("cuda", EngineKind::Cuda { device: 0 }),
        ("cuda:12", EngineKind::Cuda { device: 12 }),
        ("cuda:0-3", EngineKind::Distributed { first: 0, last: 3 }),
        ("cuda:2-2", EngineKind::Distributed { first: 2, last: 2 }),
        ("opencl", EngineKind::OpenCl { device: 0 }),
        ("opencl:2", EngineKind::OpenCl { device: 2 }),
    ] {
        assert_eq!(text.parse(), Ok(kind));
        assert_eq!(kind.to_string(), text);
    }
    for text in [
        "", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:1:2", "opencl:", "gpu", "cuda 1", "cuda:3-1", "cuda:0-",
    ] {
        let error = text.parse::<EngineKind>().unwrap_err();
        assert_eq!(error.argument(), Some("engine"), "{text:?}: {error}");
    }
    for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun, Safeguard::None] {
        assert_eq!(safeguard.to_string().parse(), Ok(safeguard));
    }
    assert_eq!("shadow".parse::<Safeguard>().unwrap_err().argument(), Some("safeguard"));
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let cuda = EngineSpec { kind: EngineKind::Cuda { device: 0 }, ..EngineSpec::default() };
    let refused = |spec: EngineSpec| AnyEngine::new(&spec).unwrap_err().argument();
    assert_eq!(refused(EngineSpec { threads: Some(2), ..cuda }), Some("threads"));
    assert_eq!(refused(EngineSpec { safeguard: Safeguard::DryRun, ..cuda }), Some("safeguard"));
    assert_eq!(AnyEngine::new(&EngineSpec::default()).unwrap().spec(), EngineSpec::default());
}

/// Every verb on a factor of either, with the same results, bit for bit.
fn compare<T: Real, E: Engine<T>>(named: &AnyEngine, engine: E) {
    let n = 70;
    let problem = Problem::<T>::feasible(n, 5, Kind::Mixed, 0.3, 9);
    let mut any = Cholesky::from_factor_in(&problem.l, named.clone()).unwrap();
    let mut known = Cholesky::from_factor_in(&problem.l, engine).unwrap();
    let rng = &mut crate::support::problem::rng(3);
    let rhs = uniform(n, 2, rng);
    let rhs = cholupdate::faer::Mat::from_fn(n, 2, |i, j| T::of(rhs[(i, j)]));
    macro_rules! both {
        (|$f:ident| $call:expr) => {
            assert_eq!(
                {
                    let $f = &mut any;
                    $call
                },
                {
                    let $f = &mut known;
                    $call
                }
            )
        };
    }
    both!(|f| f.modify(&problem.v, &problem.weights).map_err(|error| error.to_string()));
    both!(|f| f.can_downdate(&problem.v));
    both!(|f| f.modify_scaled(T::of(0.5), &problem.v, &[T::ONE; 5]));
    both!(|f| f.submit(&problem.v, &[T::ONE; 5]).unwrap().wait());
    both!(|f| f.append(&vec![T::of(0.01); n], &[T::of(4.0)]));
    both!(|f| f.shift(3, 40));
    both!(|f| f.shift(40, 3));
    both!(|f| f.remove(&[n]));
    both!(|f| f
        .replace(5, &cholupdate::faer::Mat::from_fn(n, 1, |i, _| T::of(if i == 5 { 9.0 } else { 0.02 }))));
    both!(|f| f.reserve(30));
    both!(|f| f.capacity());
    both!(|f| bits(f.solve(&rhs).unwrap().as_ref()));
    both!(|f| bits(f.multiply(&rhs).unwrap().as_ref()));
    both!(|f| f.log_det());
    both!(|f| f.condition());
    both!(|f| f.error_estimate());
    both!(|f| bits(f.to_factor().unwrap().as_ref()));
    let far = cholupdate::faer::Mat::from_fn(n, 1, |_, _| T::of(1e3));
    both!(|f| f.downdate(&far));
    both!(|f| bits(f.to_factor().unwrap().as_ref()));
    let extended = |f: &Cholesky<T, AnyEngine>| {
        f.extension(&vec![T::of(0.01); n], &[T::of(4.0)]).map(|e| e.into_parts())
    };
    let (s, corner) = extended(&any).unwrap();
    let again = cholupdate::Extension::from_borrowed_parts(&any, s.as_ref(), corner.as_ref()).unwrap();
    assert_eq!(again.log_det(), known.extension(&vec![T::of(0.01); n], &[T::of(4.0)]).unwrap().log_det());
}

#[test]
fn the_cpu_engine_is_the_same_by_name() {
    let spec = EngineSpec { threads: Some(2), safeguard: Safeguard::DryRun, ..EngineSpec::default() };
    let named = AnyEngine::new(&spec).unwrap();
    compare::<f64, _>(&named, Cpu::threads(2).with_safeguard(Safeguard::DryRun));
    compare::<f32, _>(&named, Cpu::threads(2).with_safeguard(Safeguard::DryRun));
}

/// In a process of its own: devices that an engine was named for are kept until it ends, with their modules in device memory, which
/// other tests count.
#[cfg(feature = "cuda")]
#[test]
fn the_engines_on_a_gpu_are_the_same_by_name() {
    let test = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "any::engines_on_a_gpu", "--ignored"])
        .output()
        .unwrap();
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "the_engines_on_a_gpu_are_the_same_by_name runs it, in a process of its own"]
fn engines_on_a_gpu() {
    use crate::support::cuda::{device, turn};
    use cholupdate::cuda::{Device, Distributed, Hybrid, Resident, Tuning};
    let _turn = turn();
    let Some(device) = device() else { return };
    let named = |kind| AnyEngine::new(&EngineSpec { kind, ..EngineSpec::default() }).unwrap();
    let hybrid = Hybrid::new(&device, Tuning::for_device(&device)).unwrap();
    compare::<f64, _>(&named(EngineKind::Hybrid { device: 0 }), hybrid);
    let cuda = named(EngineKind::Cuda { device: 0 });
    compare::<f64, _>(&cuda, Resident::new(&device));
    compare::<f32, _>(&cuda, Resident::new(&device));
    let devices: Vec<_> = std::iter::once(device.clone()).chain(Device::new(1).ok()).collect();
    let several = named(EngineKind::Distributed { first: 0, last: devices.len() - 1 });
    compare::<f64, _>(&several, Distributed::new(&devices).unwrap());
    let l = Problem::<f64>::feasible(9, 1, Kind::Up, 0.3, 9).l;
    let there = Cholesky::from_factor_in(&l, cuda).unwrap();
    let copy = there.to_factor_on_device().unwrap().unwrap().to_host().unwrap();
    assert_eq!(bits(copy.as_ref()), bits(there.to_factor().unwrap().as_ref()));
    let here = Cholesky::from_factor_in(&l, named(EngineKind::Cpu)).unwrap();
    assert!(here.to_factor_on_device().unwrap().is_none() && here.reconstruct_on_device().unwrap().is_none());
}

#[cfg(feature = "opencl")]
#[test]
fn the_engine_on_opencl_is_the_same_by_name() {
    use cholupdate::opencl::Hybrid;
    let Some(device) = crate::support::opencl::devices().into_iter().next() else { return };
    for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
        let spec = EngineSpec { kind: EngineKind::OpenCl { device: 0 }, safeguard, ..EngineSpec::default() };
        let named = AnyEngine::new(&spec).unwrap();
        compare::<f64, _>(&named, Hybrid::on(&device).with_safeguard(safeguard));
        compare::<f32, _>(&named, Hybrid::on(&device).with_safeguard(safeguard));
    }
}

#[test]
fn errors_name_their_arguments() {
    let factor = Cholesky::from_factor(&[[1.0]].concat()).unwrap();
    let error = factor.solve(&[1.0, 2.0]).unwrap_err();
    assert_eq!(error.argument(), Some("rhs"));
    assert!(error.with_argument("b").to_string().starts_with("`b`: the number of rows"));
    let lost = Error::Poisoned;
    assert_eq!((lost.argument(), lost.clone().with_argument("b")), (None, lost));
}
