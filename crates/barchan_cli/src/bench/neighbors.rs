//! Neighbor lists of a jittered lattice, rebuilt in reused structures.

use std::time::Instant;

use barchan::neighbors::{Grid, Lists, jittered_lattice};
use serde_json::json;

use super::Printer;
use crate::memory;

const SPACING: f32 = 0.01;
const JITTER: f32 = 0.4;
const RADIUS: f32 = 0.02;
const ROUNDS: usize = 15;

/// Times of other libraries for a million points on a machine of the same kind, lists included [ms].
const PEERS: [(&str, f64); 2] = [("CompactNSearch", 753.0), ("TreeNSearch", 143.0)];

pub fn run(printer: &mut Printer) {
    for count in [100_000, 1_000_000] {
        memory::reset_peak();
        let points = jittered_lattice(count, SPACING, JITTER, 1);
        let (mut grid, mut lists) = (Grid::new(), Lists::new());
        let mut times: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                grid.build(&points, RADIUS).expect("finite points");
                lists.find(&grid);
                1e3 * start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let median = times[ROUNDS / 2];
        let mut row = json!({
            "name": "neighbors",
            "threads": rayon::current_num_threads(),
            "points": count,
            "neighbors_each": lists.pair_count() as f64 / count as f64,
            "median_ms": median,
            "best_ms": times[0],
            "points_per_s": count as f64 / (1e-3 * median),
            "peak_bytes": memory::peak(),
        });
        if count == 1_000_000 {
            for (peer, milliseconds) in PEERS {
                row[format!("peer_{peer}_ms")] = json!(milliseconds);
            }
        }
        printer.row(&row);
    }
}
