//! Forces between spheres, eight pairs at a time.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use super::block::Block;
use super::contacts::{Chunk, Kept};
use super::rows::{Push, Row};
use super::rules::Rules;
use barchan_simd::Simd;

use super::simd::{Columns, LANES, Lane, MASS, MATERIAL, RADIUS, SPIN, VELOCITY, gather, vectorized};
use super::walls::Solids;
use crate::laws::effective;

vectorized! {
    /// Adds what acts on the spheres of a chunk to `pushes`, which are theirs; `rows` are all.
    pub(crate) fn push_chunk(chunk: &mut Chunk, rows: &[Row], pushes: &mut [Push], rules: &Rules, solids: &Solids<'_>) = push_all
}

#[inline(always)]
fn push_all<S: Simd>(
    simd: S,
    chunk: &mut Chunk,
    rows: &[Row],
    pushes: &mut [Push],
    rules: &Rules,
    solids: &Solids<'_>,
) {
    chunk.deepest = 0.0;
    chunk.kept.clear();
    push_pairs(simd, chunk, rows, pushes, rules);
    chunk.push_walls(rows, pushes, rules, solids);
    chunk.deepest_yet = chunk.deepest_yet.max(chunk.deepest);
}

#[inline(always)]
fn push_pairs<S: Simd>(simd: S, chunk: &mut Chunk, rows: &[Row], pushes: &mut [Push], rules: &Rules) {
    assert!(pushes.len() == chunk.len && rows.len() == chunk.pairs.padding as usize + 1);
    let (start, chunk_pairs) = (chunk.start, &mut chunk.pairs);
    let mut block = Block::new();
    if let [only] = rules.pairs.as_slice() {
        (0..LANES).for_each(|l| block.pair(l, only));
    }
    let mut deepest = [0.0f64; LANES];
    let pairs = chunk_pairs
        .own
        .chunks_exact(LANES)
        .zip(chunk_pairs.other.chunks_exact(LANES));
    for (k, ((own, other), history)) in pairs.zip(chunk_pairs.history.chunks_exact_mut(LANES)).enumerate() {
        let own: &[u16; LANES] = own.try_into().expect("a whole block");
        let spheres = own.map(|k| start as u32 + u32::from(k));
        let other: &[u32; LANES] = other.try_into().expect("a whole block");
        let (a, b) = (gather(simd, rows, &spheres), gather(simd, rows, other));
        let mut arms = [[0.0; LANES]; 2];
        if !meet(
            &mut block,
            &a,
            &b,
            &mut arms,
            &mut deepest,
            &rules.periods,
            rules.bridge,
        ) {
            if !rules.is_trial {
                history.fill([0.0; 4]);
                if rules.rolls {
                    chunk_pairs.rolled[k * LANES..][..LANES].fill([0.0; 4]);
                }
                if rules.is_adaptive {
                    chunk_pairs.speeds[k * LANES..][..LANES].fill([[0.0; 4]; 2]);
                }
            }
            continue;
        }
        if let Some(shares) = chunk_pairs.shares.get(k * LANES..(k + 1) * LANES) {
            (0..LANES).for_each(|l| block.mass[l] *= shares[l]);
        }
        if rules.pairs.len() > 1 {
            for l in 0..LANES {
                let pairing = a[MATERIAL][l] as usize * rules.materials + b[MATERIAL][l] as usize;
                block.pair(l, &rules.pairs[pairing]);
            }
        }
        for l in 0..LANES {
            block.recall(l, &history[l]);
        }
        if rules.rolls {
            let rolled = &chunk_pairs.rolled[k * LANES..][..LANES];
            (0..LANES).for_each(|l| block.recall_rolling(l, &rolled[l]));
        }
        if rules.is_adaptive {
            let speeds = &chunk_pairs.speeds[k * LANES..][..LANES];
            (0..LANES).for_each(|l| block.run_ahead(l, rules.before, &speeds[l]));
        }
        block.solve(rules);
        if !rules.is_trial {
            for l in 0..LANES {
                history[l] = block.memory(l);
            }
            if rules.rolls {
                let rolled = &mut chunk_pairs.rolled[k * LANES..][..LANES];
                (0..LANES).for_each(|l| rolled[l] = block.rolling_memory(l));
            }
            if rules.is_adaptive {
                let speeds = &mut chunk_pairs.speeds[k * LANES..][..LANES];
                (0..LANES).for_each(|l| speeds[l] = block.speeds(l));
            }
        }
        let mut torque = [[0.0; LANES]; 3];
        let (n, f) = (&block.normal, &block.force);
        for l in 0..LANES {
            torque[0][l] = n[1][l] * f[2][l] - n[2][l] * f[1][l];
            torque[1][l] = n[2][l] * f[0][l] - n[0][l] * f[2][l];
            torque[2][l] = n[0][l] * f[1][l] - n[1][l] * f[0][l];
        }
        for l in 0..LANES {
            if !block.acts(l) {
                continue;
            }
            let force = [f[0][l], f[1][l], f[2][l]];
            let moment = match rules.rolls {
                true => [block.moment[0][l], block.moment[1][l], block.moment[2][l]],
                false => [0.0; 3],
            };
            let on = |arm: f64, sign: f64| -> [f64; 3] {
                std::array::from_fn(|axis| arm * torque[axis][l] + sign * moment[axis])
            };
            // A pair across two chunks is in both.
            if rules.keeps_contacts && spheres[l] < other[l] {
                let normal = [n[0][l], n[1][l], n[2][l]];
                chunk.kept.push(Kept {
                    sphere: spheres[l],
                    other: other[l],
                    is_body: false,
                    point: std::array::from_fn(|axis| a[axis][l] + arms[0][l] * normal[axis]),
                    normal,
                    overlap: block.overlap[l],
                    force,
                });
            }
            pushes[own[l] as usize].add(force, on(arms[0][l], 1.0));
            if let Some(push) = pushes.get_mut((other[l] as usize).wrapping_sub(start)) {
                push.subtract(force, on(arms[1][l], -1.0));
            }
        }
    }
    chunk.deepest = deepest.iter().copied().fold(0.0, f64::max);
}

/// Ways from eight spheres to eight others [m], the nearest along axes that close upon themselves after `periods` [m].
#[inline(always)]
pub(crate) fn ways(a: &Columns, b: &Columns, periods: &[f64; 3]) -> [Lane; 3] {
    let mut way = [[0.0; LANES]; 3];
    for axis in 0..3 {
        for l in 0..LANES {
            way[axis][l] = b[axis][l] - a[axis][l];
        }
        let period = periods[axis];
        if period > 0.0 {
            for l in 0..LANES {
                let nearest = way[axis][l] - period * (way[axis][l] / period).round();
                // Nobody is far away, and stays there.
                way[axis][l] = if way[axis][l].abs() < 1e20 {
                    nearest
                } else {
                    way[axis][l]
                };
            }
        }
    }
    way
}

/// Computes the geometry of eight pairs, [Bell05] section 3: normal, overlap, velocity at the common
/// point, reduced mass and radius. Returns false if none is in contact, or could be bridged by `bridge` of the reduced
/// radius [-]. `arms` are the distances of the common point from both centers [m].
#[inline(always)]
fn meet(
    block: &mut Block,
    a: &Columns,
    b: &Columns,
    arms: &mut [[f64; LANES]; 2],
    deepest: &mut [f64; LANES],
    periods: &[f64; 3],
    bridge: f64,
) -> bool {
    let way = ways(a, b, periods);
    let mut touches = false;
    for l in 0..LANES {
        let length = (way[0][l] * way[0][l] + way[1][l] * way[1][l] + way[2][l] * way[2][l]).sqrt();
        let inverse = 1.0 / length.max(f64::MIN_POSITIVE);
        for axis in 0..3 {
            block.normal[axis][l] = way[axis][l] * inverse;
        }
        let sum = a[RADIUS][l] + b[RADIUS][l];
        block.overlap[l] = sum - length;
        deepest[l] = deepest[l].max(2.0 * block.overlap[l] / sum);
        arms[0][l] = a[RADIUS][l] - 0.5 * block.overlap[l];
        arms[1][l] = b[RADIUS][l] - 0.5 * block.overlap[l];
        block.mass[l] = effective::reduced(a[MASS][l], b[MASS][l]);
        block.radius[l] = effective::reduced(a[RADIUS][l], b[RADIUS][l]);
        touches |= block.overlap[l] > -bridge * block.radius[l];
    }
    if !touches {
        return false;
    }
    for l in 0..LANES {
        let n = [block.normal[0][l], block.normal[1][l], block.normal[2][l]];
        // Both surfaces move by ω × arm: with arms along the normal, one product for both.
        let s = [
            a[SPIN][l] * arms[0][l] + b[SPIN][l] * arms[1][l],
            a[SPIN + 1][l] * arms[0][l] + b[SPIN + 1][l] * arms[1][l],
            a[SPIN + 2][l] * arms[0][l] + b[SPIN + 2][l] * arms[1][l],
        ];
        let turn = [
            s[1] * n[2] - s[2] * n[1],
            s[2] * n[0] - s[0] * n[2],
            s[0] * n[1] - s[1] * n[0],
        ];
        for axis in 0..3 {
            block.velocity[axis][l] = a[VELOCITY + axis][l] - b[VELOCITY + axis][l] + turn[axis];
            block.spin[axis][l] = a[SPIN + axis][l] - b[SPIN + axis][l];
        }
    }
    true
}
