//! One episode as a picture: cumulative impact over simulated time in three worlds.

use crate::eval::outcome::Assessment;
use maud::{Markup, html};
use std::fmt::Write;

/// The picture, and the part of it in which curves are drawn.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 196.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 348.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 166.0;

/// How values become places.
struct Scale {
    end_s: f64,
    top: f64,
}

impl Scale {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (seconds / self.end_s.max(1.0)).clamp(0.0, 1.0)
    }

    fn y(&self, user_minutes: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (user_minutes / self.top).clamp(0.0, 1.0)
    }

    /// The places of a curve's points.
    fn line(&self, points: &[i64], every_s: u32) -> String {
        let mut line = String::new();
        for (at, milli) in points.iter().enumerate() {
            let seconds = (at as f64 * f64::from(every_s)).min(self.end_s);
            let (x, y) = (self.x(seconds), self.y(*milli as f64 / 1000.0));
            let _ = write!(line, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { " L" });
        }
        line
    }
}

/// Steps of 1, 2 or 5 times a power of ten, of which `span` has about `wanted`.
fn step(span: f64, wanted: f64) -> f64 {
    let mut power = 1e-3;
    while power * 10.0 < span / wanted {
        power *= 10.0;
    }
    let fits = [1.0, 2.0, 5.0, 10.0].into_iter().find(|by| by * power >= span / wanted);
    fits.unwrap_or(10.0) * power
}

/// A number without needless zeros.
fn short(value: f64) -> String {
    match value {
        value if value >= 10_000.0 => format!("{:.0}k", value / 1000.0),
        value if value >= 1000.0 => format!("{:.1}k", value / 1000.0).replace(".0k", "k"),
        value if value >= 10.0 || value == value.trunc() => format!("{value:.0}"),
        value => format!("{value:.3}").trim_end_matches('0').to_string(),
    }
}

/// The picture of an episode.
pub(super) fn chart(assessment: &Assessment, label: &str) -> Markup {
    let curves = &assessment.curves;
    let all = [&curves.noop, &curves.reference, &curves.agent];
    let most = all.iter().flat_map(|curve| curve.iter()).max().copied().unwrap_or(0);
    let end_s = f64::from(curves.end_s);
    let rise = step((most as f64 / 1000.0).max(1.0), 4.0);
    let top = ((most as f64 / 1000.0) / rise).ceil().max(1.0) * rise;
    let scale = Scale { end_s, top };
    let minutes = step(end_s / 60.0, 6.0).max(1.0);
    let marks = |step: f64, to: f64| {
        let count = (to / step + 1e-9).floor().max(0.0) as usize;
        (0..=count).map(move |mark| mark as f64 * step)
    };
    let done = scale.x(f64::from(assessment.seconds));
    let horizon = scale.x(f64::from(curves.horizon_s));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(label) {
            rect.tail x=(place(horizon)) y=(place(TOP)) width=(place(RIGHT - horizon))
                height=(place(BOTTOM - TOP)) {}
            @for value in marks(rise, top) {
                line.grid x1=(place(LEFT)) x2=(place(RIGHT))
                    y1=(place(scale.y(value))) y2=(place(scale.y(value))) {}
                text x=(place(LEFT - 6.0)) y=(place(scale.y(value) + 3.5)) text-anchor="end" {
                    (short(value))
                }
            }
            @for value in marks(minutes, end_s / 60.0) {
                text x=(place(scale.x(value * 60.0))) y=(place(BOTTOM + 14.0))
                    text-anchor="middle" { (short(value)) }
            }
            text.unit x=(place(RIGHT)) y=(place(HEIGHT - 3.0)) text-anchor="end" {
                "minutes after the page"
            }
            text.unit x="2" y="10" { "user-minutes lost" }
            line.done x1=(place(done)) x2=(place(done)) y1=(place(TOP)) y2=(place(BOTTOM)) {}
            path.agent d=(scale.line(&curves.agent, curves.every_s)) {}
            path.noop d=(scale.line(&curves.noop, curves.every_s)) {}
            path.reference d=(scale.line(&curves.reference, curves.every_s)) {}
        }
    }
}

fn place(at: f64) -> String {
    format!("{at:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_numbers_short() {
        for (span, expected) in [(10.0, 5.0), (0.02, 0.005), (900.0, 500.0), (1234.5, 500.0)] {
            let step = step(span, 4.0);
            assert!((step - expected).abs() < 1e-9, "{span}: {step}");
        }
        let numbers = [0.0, 0.25, 0.005, 5.0, 12.5, 1000.0, 1500.0, 25_000.0];
        let shown: Vec<_> = numbers.map(short).to_vec();
        assert_eq!(shown, ["0", "0.25", "0.005", "5", "12", "1k", "1.5k", "25k"]);
    }
}
