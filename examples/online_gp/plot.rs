//! The forecast and the years before it, as SVG.

use crate::mauna_loa::Observation;
use crate::{BAND, Expected, YEAR};
use cholupdate::faer::Mat;

pub fn plot(record: &[Observation], future: &[Expected], sampled: &[usize], samples: &Mat<f64>) -> String {
    // The record begins on 29 March 1958.
    let year = |week: usize| 1958.24 + week as f64 * 7.0 / 365.25;
    let (first, last) = (future[0].0 - 5 * YEAR, future[future.len() - 1].0);
    let x = |at: f64| 50.0 + 60.0 * (at - year(first));
    let y = |ppm: f64| 400.0 - 14.0 * (ppm - 352.0);
    let line = |points: &mut dyn Iterator<Item = (usize, f64)>| -> String {
        points.map(|(week, ppm)| format!("{:.1},{:.1} ", x(year(week)), y(ppm))).collect()
    };
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' width='680' height='440' font-family='sans-serif' \
         font-size='13'>\n<rect width='680' height='440' fill='white'/>\n\
         <text x='50' y='24'>CO2 at Mauna Loa, ppm: measured (black), forecast and 95 % (blue), \
         samples (orange)</text>\n",
    );
    for ppm in (355..=375).step_by(5) {
        let y = y(f64::from(ppm));
        svg += &format!("<path d='M50 {y}H660' stroke='#ddd'/><text x='18' y='{}'>{ppm}</text>\n", y + 4.0);
    }
    for tick in (year(first).ceil() as u32..=year(last) as u32).step_by(2) {
        let at = x(f64::from(tick));
        svg += &format!("<path d='M{at:.1} 40V405' stroke='#ddd'/>");
        svg += &format!("<text x='{:.1}' y='422'>{tick}</text>\n", at - 16.0);
    }
    let edge = |side: f64| future.iter().map(move |&(week, mean, s)| (week, mean + side * BAND * s));
    let band = line(&mut edge(1.0).chain(edge(-1.0).rev()));
    svg += &format!("<polygon points='{band}' fill='#4363d8' fill-opacity='0.25'/>\n");
    let mut curve = |points: String, color: &str| {
        svg += &format!("<polyline points='{points}' fill='none' stroke='{color}'/>\n");
    };
    for sample in samples.col_iter() {
        curve(line(&mut sampled.iter().copied().zip(sample.iter().copied())), "#f58231");
    }
    curve(line(&mut future.iter().map(|&(week, mean, _)| (week, mean))), "#4363d8");
    let shown = record.iter().filter(|o| o.week >= first);
    curve(line(&mut shown.map(|o| (o.week, o.ppm))), "black");
    svg + "</svg>\n"
}
