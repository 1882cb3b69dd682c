//! The weekly CO2 record of Mauna Loa, 1958 to 2001, and a covariance for it.

use std::f64::consts::PI;

const RECORD: &str = include_str!("data/mauna_loa_co2.csv");
/// Variance of the noise in one observation, ppm²: Rasmussen and Williams found 0.19² in monthly means, which average
/// four of the weekly ones.
pub const NOISE: f64 = 4.0 * 0.19 * 0.19;
const YEARS_A_WEEK: f64 = 7.0 / 365.25;

#[derive(Clone, Copy)]
pub struct Observation {
    /// Weeks since the first observation of the record.
    pub week: usize,
    pub ppm: f64,
}

/// The observations, oldest first; weeks without a measurement are left out.
pub fn record() -> Vec<Observation> {
    let weeks = RECORD.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let ppm = weeks.map(|line| line.split_once(',').and_then(|(_, ppm)| ppm.parse().ok()));
    ppm.enumerate().filter_map(|(week, ppm)| ppm.map(|ppm| Observation { week, ppm })).collect()
}

/// Covariance of the CO2 concentration at two times `weeks` apart, ppm²: rising trend, decaying seasonal cycle, medium-term
/// irregularities, correlated noise. Form and parameters of Rasmussen and Williams, *Gaussian Processes for Machine
/// Learning* (2006), section 5.4.3.
pub fn kernel(weeks: usize) -> f64 {
    let years = weeks as f64 * YEARS_A_WEEK;
    let square = years * years;
    let gauss =
        |amplitude: f64, length: f64| amplitude * amplitude * (-0.5 * square / (length * length)).exp();
    let trend = gauss(66.0, 67.0);
    let season = gauss(2.4, 90.0) * (-2.0 * ((PI * years).sin() / 1.3).powi(2)).exp();
    let medium = 0.66 * 0.66 * (1.0 + square / (2.0 * 0.78 * 1.2 * 1.2)).powf(-0.78);
    let short = gauss(0.18, 1.6 / 12.0);
    trend + season + medium + short
}
