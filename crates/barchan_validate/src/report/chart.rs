//! Plots a law with its band, and the measured values.

use std::fmt::Write;

use super::html::escape;
use super::short;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
/// Left, right, top, bottom.
const MARGIN: [f64; 4] = [58.0, 14.0, 14.0, 44.0];

/// A measured value.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
    /// Half the length of its error bar.
    pub error: f64,
    pub pass: Option<bool>,
}

/// A plot.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// x, law, lower and upper end of the band; NaN where the band is open.
    pub law: Vec<[f64; 4]>,
    pub points: Vec<Point>,
}

/// Maps values to the plot.
struct Scale {
    x: [f64; 2],
    y: [f64; 2],
}

impl Scale {
    fn map(&self, x: f64, y: f64) -> (f64, f64) {
        let [left, right, top, bottom] = MARGIN;
        let s = (x - self.x[0]) / (self.x[1] - self.x[0]);
        let t = ((y - self.y[0]) / (self.y[1] - self.y[0])).clamp(0.0, 1.0);
        (
            left + s * (WIDTH - left - right),
            HEIGHT - bottom - t * (HEIGHT - top - bottom),
        )
    }
}

impl Chart {
    /// Returns a standalone SVG file with its colors.
    pub fn svg(&self) -> String {
        let scale = self.scale();
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}"><style>{STYLE}</style>"#,
            escape(&self.title)
        );
        self.draw_axes(&scale, &mut svg);
        self.draw_law(&scale, &mut svg);
        for point in &self.points {
            let (x, y) = scale.map(point.x, point.y);
            let class = match point.pass {
                Some(true) => "pass",
                Some(false) => "miss",
                None => "open",
            };
            if point.error > 0.0 {
                let (_, low) = scale.map(point.x, point.y - point.error);
                let (_, high) = scale.map(point.x, point.y + point.error);
                let _ = write!(
                    svg,
                    r#"<line class="bar {class}" x1="{x:.1}" x2="{x:.1}" y1="{low:.1}" y2="{high:.1}"/>"#
                );
            }
            let _ = write!(
                svg,
                r#"<circle class="dot {class}" cx="{x:.1}" cy="{y:.1}" r="5"><title>{} at {}</title></circle>"#,
                short(point.y),
                short(point.x)
            );
        }
        svg + "</svg>"
    }

    fn scale(&self) -> Scale {
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            let finite = values.filter(|v| v.is_finite());
            finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)])
        };
        let x = ends(&mut self.law.iter().map(|l| l[0]).chain(self.points.iter().map(|p| p.x)));
        let laws = self.law.iter().flat_map(|l| [l[1], l[2], l[3]]);
        let dots = self.points.iter().flat_map(|p| [p.y - p.error, p.y + p.error]);
        let [low, high] = ends(&mut laws.chain(dots));
        let room = 0.08 * (high - low).max(1e-12);
        // The axis starts at zero if no value lies below it.
        let floor = if low >= 0.0 && low < 0.4 * high {
            0.0
        } else {
            low - room
        };
        Scale {
            x,
            y: [floor, high + room],
        }
    }

    fn draw_axes(&self, scale: &Scale, svg: &mut String) {
        let [left, right, top, bottom] = MARGIN;
        for y in ticks(scale.y) {
            let (_, at) = scale.map(scale.x[0], y);
            let _ = write!(
                svg,
                r#"<line class="grid" x1="{left}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}"/><text class="tick" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                WIDTH - right,
                left - 7.0,
                at + 4.0,
                short(y)
            );
        }
        for x in ticks(scale.x) {
            let (at, _) = scale.map(x, scale.y[0]);
            let _ = write!(
                svg,
                r#"<text class="tick" x="{at:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                HEIGHT - bottom + 17.0,
                short(x)
            );
        }
        let (middle_x, middle_y) = (0.5 * (left + WIDTH - right), 0.5 * (top + HEIGHT - bottom));
        let _ = write!(
            svg,
            r#"<text class="label" x="{middle_x:.1}" y="{:.1}" text-anchor="middle">{}</text><text class="label" transform="translate(14 {middle_y:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
            HEIGHT - 8.0,
            escape(&self.x_label),
            escape(&self.y_label)
        );
    }

    fn draw_law(&self, scale: &Scale, svg: &mut String) {
        let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
            let positions = points.map(|(x, y)| scale.map(x, y));
            positions
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let or = |y: f64, end: f64| if y.is_finite() { y } else { end };
        let mut lows = self.law.iter().map(|l| (l[0], or(l[2], scale.y[0])));
        let mut highs = self.law.iter().rev().map(|l| (l[0], or(l[3], scale.y[1])));
        let band = format!("{} {}", path(&mut lows), path(&mut highs));
        let law = path(&mut self.law.iter().map(|l| (l[0], l[1])));
        let _ = write!(
            svg,
            r#"<polygon class="range" points="{band}"/><polyline class="curve" points="{law}"/>"#
        );
    }
}

/// Returns four to nine round values between two ends.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let raw = (high - low) / 5.0;
    let unit = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|k| k * unit)
        .into_iter()
        .find(|step| *step >= raw)
        .unwrap_or(unit);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

const STYLE: &str = ".chart{font:12px system-ui,sans-serif}.chart .grid{stroke:#8883;stroke-width:1}\
.chart .tick{fill:#888;font-size:11px}.chart .label{fill:#888}.chart .range{fill:#d9a44133}\
.chart .curve{fill:none;stroke:#c08a2b;stroke-width:2}.chart .dot{stroke:#fff;stroke-width:1.2}\
.chart .bar{stroke-width:1.8}.chart .dot.pass{fill:#2e8b57}.chart .dot.miss{fill:#c8452f}.chart .dot.open{fill:#888}\
.chart .bar.pass{stroke:#2e8b57}.chart .bar.miss{stroke:#c8452f}.chart .bar.open{stroke:#888}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_lie_within() {
        assert_eq!(ticks([0.0, 10.0]), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let few = ticks([17.3, 38.1]);
        assert_eq!(few, [20.0, 25.0, 30.0, 35.0]);
        assert!(ticks([0.0011, 0.0019]).len() > 3);
    }

    #[test]
    fn points_lie_on_the_law_where_they_agree_with_it() {
        let chart = Chart {
            title: "t".to_owned(),
            x_label: "x < 1".to_owned(),
            y_label: "y".to_owned(),
            law: vec![[0.0, 0.0, -1.0, 1.0], [10.0, 20.0, 19.0, f64::NAN]],
            points: vec![Point {
                x: 5.0,
                y: 10.0,
                error: 1.0,
                pass: Some(true),
            }],
        };
        let scale = chart.scale();
        let (a, b) = (scale.map(0.0, 0.0), scale.map(10.0, 20.0));
        let dot = scale.map(5.0, 10.0);
        assert!((dot.0 - 0.5 * (a.0 + b.0)).abs() < 1e-9 && (dot.1 - 0.5 * (a.1 + b.1)).abs() < 1e-9);
        let svg = chart.svg();
        assert!(svg.contains("x &lt; 1") && !svg.contains("NaN"), "{svg}");
    }
}
