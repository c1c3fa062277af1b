//! A row at a glance: the band, the expected and the measured value.

use crate::row::Row;

const WIDTH: f64 = 170.0;
const HEIGHT: f64 = 22.0;

/// Draws the band as a bar across the middle half, and a mark at the measured value, at the rim if beyond.
pub(super) fn gauge(row: &Row) -> String {
    let band = &row.band;
    let half = band.half_width();
    if !half.is_finite() || half <= 0.0 || !row.measured.is_finite() {
        return String::new();
    }
    let low = band
        .low
        .unwrap_or(band.expected - if band.low.is_none() { half } else { 0.0 });
    let high = band.high.unwrap_or(band.expected + half);
    let x = |value: f64| {
        let s = (value - low) / (high - low);
        (WIDTH * (0.25 + 0.5 * s)).clamp(5.0, WIDTH - 5.0)
    };
    let middle = 0.5 * HEIGHT;
    let class = row.verdict_class();
    // A missing end fades out.
    let fade = |end: Option<f64>, at: f64, width: f64| match end {
        Some(_) => String::new(),
        None => format!(
            r#"<rect class="band open" x="{at:.1}" y="{:.1}" width="{width:.1}" height="8"/>"#,
            middle - 4.0
        ),
    };
    let (from, to) = (x(low), x(high));
    let mut svg = format!(r#"<svg class="gauge" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">"#);
    svg += &format!(
        r#"<line class="axis" x1="2" x2="{:.1}" y1="{middle}" y2="{middle}"/>"#,
        WIDTH - 2.0
    );
    svg += &fade(band.low, 2.0, from - 2.0);
    svg += &fade(band.high, to, WIDTH - 2.0 - to);
    svg += &format!(
        r#"<rect class="band" x="{from:.1}" y="{:.1}" width="{:.1}" height="8"/>"#,
        middle - 4.0,
        to - from
    );
    let expected = x(band.expected);
    svg += &format!(
        r#"<line class="law" x1="{expected:.1}" x2="{expected:.1}" y1="3" y2="{:.1}"/>"#,
        HEIGHT - 3.0
    );
    if row.spread > 0.0 {
        let (a, b) = (x(row.measured - 2.0 * row.spread), x(row.measured + 2.0 * row.spread));
        svg += &format!(r#"<line class="error {class}" x1="{a:.1}" x2="{b:.1}" y1="{middle}" y2="{middle}"/>"#);
    }
    svg += &format!(
        r#"<circle class="point {class}" cx="{:.1}" cy="{middle}" r="4"/></svg>"#,
        x(row.measured)
    );
    svg
}
