//! One line of progress, fitted to the width of a terminal.

/// Smallest and largest width of the bar without its brackets [columns].
const BAR: [usize; 2] = [8, 30];

/// Parts of a line, the most important first.
#[derive(Default)]
pub struct Line {
    /// Work in progress: "frame 3/60".
    pub head: String,
    /// Time left [s].
    pub left: Option<f64>,
    /// Completed share, 0 to 1, shown as a bar.
    pub share: Option<f64>,
    /// Details, the longest version first.
    pub details: Vec<String>,
}

impl Line {
    /// Returns the line in at most `width` columns; drops details first, then the bar, then the time left.
    pub fn fit(&self, width: usize) -> String {
        let bars = [self.share.is_some(), false];
        let lefts = [self.left, None];
        let details = || self.details.iter().map(String::as_str).chain([""]);
        let versions = lefts.iter().flat_map(|left| {
            bars.iter()
                .flat_map(move |bar| details().map(move |detail| (*left, *bar, detail)))
        });
        for (left, has_bar, detail) in versions {
            // Details without a bar would take its place.
            if self.share.is_some() && !has_bar && !detail.is_empty() {
                continue;
            }
            let mut after = left.map_or(String::new(), |left| format!("{} left", duration(left)));
            if !detail.is_empty() {
                let comma = if after.is_empty() { "" } else { ", " };
                after = format!("{after}{comma}{detail}");
            }
            let text = columns(&self.head) + if after.is_empty() { 0 } else { 2 + columns(&after) };
            let bar_room = width.saturating_sub(text + usize::from(after.is_empty()));
            match has_bar {
                true if bar_room >= BAR[0] => {
                    let bar = bar(self.share.unwrap_or(0.0), bar_room.min(BAR[1]));
                    return format!("{} {bar} {after}", self.head).trim_end().to_owned();
                }
                false if text <= width => return joined(&self.head, &after),
                _ => {}
            }
        }
        let kept: String = self.head.chars().take(width.saturating_sub(1)).collect();
        format!("{kept}{}", if width > 0 { "…" } else { "" })
    }

    /// Returns the line for a file, without a bar.
    pub fn plain(&self) -> String {
        let left = self.left.map(|left| format!("{} left", duration(left)));
        let after: Vec<String> = left.into_iter().chain(self.details.first().cloned()).collect();
        joined(&self.head, &after.join(", "))
    }
}

fn joined(head: &str, after: &str) -> String {
    match after {
        "" => head.to_owned(),
        _ => format!("{head}, {after}"),
    }
}

/// Returns the number of columns of a text without wide characters.
fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Returns a bar of `room` columns, brackets included.
fn bar(share: f64, room: usize) -> String {
    let inside = room.saturating_sub(2);
    let done = ((share.clamp(0.0, 1.0) * inside as f64) as usize).min(inside);
    let tip = if done < inside { ">" } else { "" };
    let rest = inside - done - tip.len();
    format!("[{}{tip}{}]", "=".repeat(done), " ".repeat(rest))
}

/// Formats a duration with two units at most: "45s", "3m20s", "1h05m", "2d03h".
pub fn duration(seconds: f64) -> String {
    let all = seconds.max(0.0).ceil() as u64;
    let [minute, hour, day] = [60, 3600, 86_400];
    match all {
        s if s < minute => format!("{s}s"),
        s if s < hour => format!("{}m{:02}s", s / minute, s % minute),
        s if s < day => format!("{}h{:02}m", s / hour, s % hour / minute),
        s => format!("{}d{:02}h", s / day, s % day / hour),
    }
}

/// Formats a count in at most five columns: 9999, 10.0k, 460k, 1.25M.
pub fn compact(count: usize) -> String {
    if count < 10_000 {
        return count.to_string();
    }
    let mut value = count as f64;
    let mut unit = "";
    for next in ["k", "M", "G", "T"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1e3, next);
    }
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Line {
        Line {
            head: "frame 1080/1080".to_owned(),
            left: Some(83.0),
            share: Some(0.5),
            details: vec![
                "10.0k guides 31 ms, 460k grains 120 ms".to_owned(),
                "10.0k guides, 460k grains".to_owned(),
            ],
        }
    }

    #[test]
    fn a_line_fits_any_width_and_keeps_the_frame_and_the_time_left() {
        for width in 0..200 {
            let line = frames().fit(width);
            assert!(columns(&line) <= width, "{line:?} in {width}");
            assert_eq!(line.contains("frame 1080/1080"), width >= 15, "{line:?} in {width}");
            assert_eq!(line.contains("1m23s left"), width >= 27, "{line:?} in {width}");
        }
        assert_eq!(
            frames().fit(77),
            "frame 1080/1080 [====>   ] 1m23s left, 10.0k guides 31 ms, 460k grains 120 ms"
        );
        assert_eq!(frames().fit(40), "frame 1080/1080 [=====>     ] 1m23s left");
        assert_eq!(frames().fit(30), "frame 1080/1080, 1m23s left");
        assert_eq!(frames().fit(9), "frame 10…");
    }

    #[test]
    fn plain_lines_have_everything_but_the_bar() {
        assert_eq!(
            frames().plain(),
            "frame 1080/1080, 1m23s left, 10.0k guides 31 ms, 460k grains 120 ms"
        );
    }

    #[test]
    fn durations_and_counts_are_short() {
        let durations = [
            (0.0, "0s"),
            (59.5, "1m00s"),
            (200.0, "3m20s"),
            (3900.0, "1h05m"),
            (183_600.0, "2d03h"),
        ];
        for (seconds, text) in durations {
            assert_eq!(duration(seconds), text);
        }
        let counts = [
            (9_999, "9999"),
            (10_000, "10.0k"),
            (460_123, "460k"),
            (999_700, "1.00M"),
            (1_250_000, "1.25M"),
        ];
        for (count, text) in counts {
            assert_eq!(compact(count), text);
        }
        assert!(compact(usize::MAX).len() < 12);
    }
}
