//! The constants that modules export, and the detection of a difference.

use super::device;
use crate::cuda::ptx::{FACTOR, SWEEP, SWEEP_WIDE};
use crate::error::Error;

#[test]
fn host_and_kernels_must_agree() {
    let Some((_turn, device)) = device() else { return };
    let module = device.module(SWEEP.on(device.compute_capability())).unwrap();
    let layout = module.layout("sweep").unwrap();
    layout.check(&[("PANEL_COLS", 64), ("RANK_BLOCK", 16)]).unwrap();
    let refused = |expected, names: [&str; 2]| {
        let error = layout.check(&[("PANEL_COLS", 64), expected]).unwrap_err();
        let Error::Device { message, .. } = &error else { panic!("{error:?}") };
        assert!(names.iter().all(|name| message.contains(name)), "{message}");
    };
    refused(("RANK_BLOCK", 17), ["sweep_layout", "RANK_BLOCK = 16"]);
    refused(("NO_SUCH_ENTRY", 1), ["sweep_layout", "NO_SUCH_ENTRY"]);
    assert!(matches!(
        device.module(FACTOR.on(device.compute_capability())).unwrap().layout("nothing"),
        Err(Error::Device { .. })
    ));
}

/// As derived in docs/accuracy.md.
#[test]
fn thresholds_are_those_of_the_documentation() {
    let Some((_turn, device)) = device() else { return };
    let wide = (device.compute_capability() >= (9, 0)).then_some(("sweep_wide_thresholds", &SWEEP_WIDE));
    let thresholds: Vec<_> = core::iter::once(("sweep_thresholds", SWEEP.on(device.compute_capability())))
        .chain(wide)
        .map(|(symbol, ptx)| device.module(ptx).unwrap().exports::<f64>(symbol.into()).unwrap())
        .collect();
    for (name, value) in [
        ("MAX_GRAM_PLUS", 7.0),
        ("MAX_GRAM_MINUS", 0.75),
        ("MAX_GRAM_PLUS_ONE_PANEL", 1.0),
        ("MAX_GRAM_MINUS_ONE_PANEL", 0.5),
        ("MAX_P_SQUARE", 16.0),
        ("MAX_INVERSE", 8.0),
        ("MAX_INVERSE_ONE_PANEL", 2.0),
        ("MAX_INVERSE_LOSS", 16.0),
    ] {
        for thresholds in &thresholds {
            assert_eq!(thresholds.value(name).unwrap(), value, "{name}");
        }
    }
}
