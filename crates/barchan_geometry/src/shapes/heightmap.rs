use glam::{DVec2, DVec3};

use super::error::{all_positive, allow, positive};
use super::{ShapeError, unit};
use crate::{Aabb, Shape, TriMesh};

/// Terrain: a grid of heights as a surface, solid below it down to a flat base.
///
/// The grid is centered on the origin in x and y. Heights begin at z = 0, the base lies a thickness below. Between four
/// samples the surface is two triangles, split from the smallest x and y to the largest, and the distance to it is
/// exact: a pyramid of smallest and largest heights leads to the nearest triangles. It takes 6.7 bytes per sample: 7 MB
/// for 1024 x 1024.
#[derive(Clone, Debug)]
pub struct Heightmap {
    /// Heights as fractions of `height`, row by row from the smallest y, each from the smallest x.
    samples: Vec<f32>,
    columns: usize,
    rows: usize,
    size: DVec2,
    /// Side lengths [m] of a cell.
    cell: DVec2,
    height: f64,
    thickness: f64,
    levels: Vec<Level>,
}

/// Smallest and largest samples of square blocks of cells, each side twice that of the previous level; the first is two
/// cells.
#[derive(Clone, Debug)]
struct Level {
    columns: usize,
    ranges: Vec<[f32; 2]>,
}

/// The nearest point of the surface so far.
struct Nearest {
    p: DVec3,
    square: f64,
    point: DVec3,
    /// Outward normal of its face, of any length.
    face: DVec3,
}

impl Nearest {
    fn offer(&mut self, point: DVec3, face: DVec3) {
        let square = self.p.distance_squared(point);
        if square < self.square {
            (self.square, self.point, self.face) = (square, point, face);
        }
    }
}

/// A square block of cells, to be searched.
#[derive(Clone, Copy)]
struct Block {
    level: usize,
    column: usize,
    row: usize,
    /// Square of the smallest distance [m²] to its box.
    square: f64,
}

/// Largest number of samples: their memory stays below half a gigabyte.
const MAX_SAMPLES: usize = 1 << 26;

impl Heightmap {
    /// Creates terrain of `size` [m] in x and y from `samples` [-], 0 to 1 for heights of 0 to `height` [m], in rows of
    /// `columns` along x, the first at the smallest y. The outermost samples lie on the border. The base is `thickness`
    /// [m] below zero.
    pub fn new(
        samples: Vec<f32>,
        columns: usize,
        size: DVec2,
        height: f64,
        thickness: f64,
    ) -> Result<Self, ShapeError> {
        let size = all_positive("size", size.extend(1.0))?.truncate();
        let height = positive("height", height)?;
        let thickness = positive("thickness", thickness)?;
        let rows = samples.len().checked_div(columns).unwrap_or(0);
        check_size(columns, rows)?;
        if rows * columns != samples.len() {
            let (what, value) = ("samples", samples.len() as f64);
            allow(what, value, false, format_args!("a multiple of {columns}, the columns"))?;
        }
        for &sample in &samples {
            allow("samples", f64::from(sample), (0.0..=1.0).contains(&sample), "0 to 1")?;
        }
        let mut map = Self {
            samples,
            columns,
            rows,
            size,
            cell: size / DVec2::new((columns - 1) as f64, (rows - 1) as f64),
            height,
            thickness,
            levels: Vec::new(),
        };
        map.build_levels();
        Ok(map)
    }

    /// Returns the surface of the solid as triangles: watertight, two per cell, with a flat base and four walls.
    pub fn to_mesh(&self) -> TriMesh {
        let (columns, rows) = (self.columns, self.rows);
        let mut vertices: Vec<_> = (0..rows)
            .flat_map(|row| (0..columns).map(move |column| (column, row)))
            .map(|(column, row)| self.vertex(column, row))
            .collect();
        let top = |column: usize, row: usize| (row * columns + column) as u32;
        let mut triangles = Vec::with_capacity(2 * (columns + 1) * (rows + 1) + columns + rows);
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let (a, b) = (top(column, row), top(column + 1, row));
                let (c, d) = (top(column + 1, row + 1), top(column, row + 1));
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        // The border, counter-clockwise seen from above; each of its vertices is above one of the base.
        let south = (0..columns - 1).map(|column| top(column, 0));
        let east = (0..rows - 1).map(|row| top(columns - 1, row));
        let north = (1..columns).rev().map(|column| top(column, rows - 1));
        let west = (1..rows).rev().map(|row| top(0, row));
        let border: Vec<u32> = south.chain(east).chain(north).chain(west).collect();
        let below = |k: usize| (columns * rows + k) as u32;
        let middle = below(border.len());
        for (k, &a) in border.iter().enumerate() {
            let next = (k + 1) % border.len();
            vertices.push(vertices[a as usize].with_z(-self.thickness));
            triangles.extend([[a, below(k), below(next)], [a, below(next), border[next]]]);
            triangles.push([middle, below(next), below(k)]);
        }
        vertices.push(DVec3::new(0.0, 0.0, -self.thickness));
        TriMesh { vertices, triangles }
    }

    fn build_levels(&mut self) {
        let (mut columns, mut rows) = (self.columns - 1, self.rows - 1);
        while columns > 1 || rows > 1 {
            let (wide, deep) = (columns.div_ceil(2), rows.div_ceil(2));
            let range = |block: usize| {
                let (column, row) = (2 * (block % wide), 2 * (block / wide));
                let mut range = [f32::INFINITY, f32::NEG_INFINITY];
                for r in row..(row + 2).min(rows) {
                    for c in column..(column + 2).min(columns) {
                        let [low, high] = self.range(self.levels.len(), c, r);
                        range = [range[0].min(low), range[1].max(high)];
                    }
                }
                range
            };
            let ranges = (0..wide * deep).map(range).collect();
            self.levels.push(Level { columns: wide, ranges });
            (columns, rows) = (wide, deep);
        }
    }

    /// Returns the smallest and largest sample of a block; blocks of level 0 are cells.
    fn range(&self, level: usize, column: usize, row: usize) -> [f32; 2] {
        if level > 0 {
            let level = &self.levels[level - 1];
            return level.ranges[row * level.columns + column];
        }
        let first = row * self.columns + column;
        let [a, b] = [self.samples[first], self.samples[first + 1]];
        let [c, d] = [
            self.samples[first + self.columns],
            self.samples[first + self.columns + 1],
        ];
        [a.min(b).min(c).min(d), a.max(b).max(c).max(d)]
    }

    /// Returns the position [m] of a grid point in x and y; rounding does not put the last one beyond the border.
    fn place(&self, column: usize, row: usize) -> DVec2 {
        let half = 0.5 * self.size;
        (self.cell * DVec2::new(column as f64, row as f64) - half).min(half)
    }

    fn vertex(&self, column: usize, row: usize) -> DVec3 {
        let sample = self.samples[row * self.columns + column];
        self.place(column, row).extend(self.height * f64::from(sample))
    }

    /// Returns the cell below or above `p`, or the nearest one.
    fn cell_of(&self, p: DVec2) -> (usize, usize) {
        let q = (p + 0.5 * self.size) / self.cell;
        // A cast to an integer saturates, so distant points map to the border.
        let index = |x: f64, cells: usize| (x as usize).min(cells - 1);
        (index(q.x, self.columns - 1), index(q.y, self.rows - 1))
    }

    /// Returns the height [m] of the surface at `p`, which lies on the grid.
    fn height_at(&self, p: DVec2) -> f64 {
        let (column, row) = self.cell_of(p);
        let [a, b, c, d] = self.corners(column, row);
        let q = (p - a.truncate()) / self.cell;
        if q.x >= q.y {
            a.z + q.x * (b.z - a.z) + q.y * (c.z - b.z)
        } else {
            a.z + q.y * (d.z - a.z) + q.x * (c.z - d.z)
        }
    }

    /// Returns the corners [m] of a cell, counter-clockwise from the smallest x and y.
    fn corners(&self, column: usize, row: usize) -> [DVec3; 4] {
        let (from, to) = (self.place(column, row), self.place(column + 1, row + 1));
        let z = |c: usize, r: usize| self.height * f64::from(self.samples[r * self.columns + c]);
        [
            DVec3::new(from.x, from.y, z(column, row)),
            DVec3::new(to.x, from.y, z(column + 1, row)),
            DVec3::new(to.x, to.y, z(column + 1, row + 1)),
            DVec3::new(from.x, to.y, z(column, row + 1)),
        ]
    }

    fn nearest(&self, p: DVec3) -> Nearest {
        let half = 0.5 * self.size;
        let inner = p.truncate().clamp(-half, half);
        let base = inner.extend(-self.thickness);
        let mut nearest = Nearest {
            p,
            square: p.distance_squared(base),
            point: base,
            face: DVec3::NEG_Z,
        };
        self.offer_walls(&mut nearest);
        // The surface right above or below is a good first guess; its cell is searched again with its neighbors.
        let (column, row) = self.cell_of(inner);
        self.offer_cell(&mut nearest, column, row);
        self.search(&mut nearest);
        nearest
    }

    /// Offers the walls: a wall is nearest right in front of it. Elsewhere its edges are: those above and below belong
    /// to the surface and the base too, those at the corners do not.
    fn offer_walls(&self, nearest: &mut Nearest) {
        let half = 0.5 * self.size;
        let p = nearest.p;
        for side in [-1.0, 1.0] {
            for (foot, face) in [
                (DVec2::new(side * half.x, p.y), side * DVec3::X),
                (DVec2::new(p.x, side * half.y), side * DVec3::Y),
            ] {
                let beside = foot.abs().cmple(half).all();
                if beside && p.z >= -self.thickness && p.z <= self.height_at(foot) {
                    nearest.offer(foot.extend(p.z), face);
                }
            }
            for (foot, face) in [
                (side * half, side * DVec3::X),
                (DVec2::new(side, -side) * half, side * DVec3::X),
            ] {
                let z = p.z.clamp(-self.thickness, self.height_at(foot));
                nearest.offer(foot.extend(z), face);
            }
        }
    }

    fn offer_cell(&self, nearest: &mut Nearest, column: usize, row: usize) {
        let [a, b, c, d] = self.corners(column, row);
        for triangle in [[a, b, c], [a, c, d]] {
            let face = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
            nearest.offer(nearest_of_triangle(nearest.p, triangle), face);
        }
    }

    /// Searches the surface for a point nearer than the nearest so far, near blocks first.
    fn search(&self, nearest: &mut Nearest) {
        let mut blocks = Vec::with_capacity(4 * self.levels.len() + 1);
        blocks.push(self.block(nearest.p, self.levels.len(), 0, 0));
        while let Some(block) = blocks.pop() {
            if block.square >= nearest.square {
                continue;
            }
            if block.level == 0 {
                self.offer_cell(nearest, block.column, block.row);
                continue;
            }
            let level = block.level - 1;
            let (columns, rows) = self.blocks(level);
            let first = blocks.len();
            for row in 2 * block.row..(2 * block.row + 2).min(rows) {
                for column in 2 * block.column..(2 * block.column + 2).min(columns) {
                    blocks.push(self.block(nearest.p, level, column, row));
                }
            }
            blocks[first..].sort_by(|a, b| b.square.total_cmp(&a.square));
        }
    }

    /// Returns the number of blocks of a level along x and y.
    fn blocks(&self, level: usize) -> (usize, usize) {
        let side = 1 << level;
        ((self.columns - 1).div_ceil(side), (self.rows - 1).div_ceil(side))
    }

    fn block(&self, p: DVec3, level: usize, column: usize, row: usize) -> Block {
        let end = |k: usize, last: usize| ((k + 1) << level).min(last);
        let [low, high] = self
            .range(level, column, row)
            .map(|sample| self.height * f64::from(sample));
        let from = self.place(column << level, row << level).extend(low);
        let to = self
            .place(end(column, self.columns - 1), end(row, self.rows - 1))
            .extend(high);
        let square = p.distance_squared(p.clamp(from, to));
        Block {
            level,
            column,
            row,
            square,
        }
    }

    fn contains(&self, p: DVec3) -> bool {
        let on_grid = p.truncate().abs().cmple(0.5 * self.size).all();
        on_grid && p.z > -self.thickness && p.z < self.height_at(p.truncate())
    }
}

/// Checks that a grid is large enough to have a cell and small enough for memory.
pub(super) fn check_size(columns: usize, rows: usize) -> Result<(), ShapeError> {
    let samples = columns.checked_mul(rows);
    if columns < 2 || rows < 2 || samples.is_none_or(|samples| samples > MAX_SAMPLES) {
        let most = MAX_SAMPLES;
        return Err(ShapeError::ImageSize { columns, rows, most });
    }
    Ok(())
}

/// Returns the point of a triangle nearest to `p`: [Ericson05] section 5.1.5, by the regions of its corners, edges and
/// face.
fn nearest_of_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let (ap, bp, cp) = (p - a, p - b, p - c);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let beyond_ab = d1 * d4 - d3 * d2;
    if beyond_ab <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + d1 / (d1 - d3) * ab;
    }
    let beyond_ac = d5 * d2 - d1 * d6;
    if beyond_ac <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + d2 / (d2 - d6) * ac;
    }
    let beyond_bc = d3 * d6 - d5 * d4;
    if beyond_bc <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b);
    }
    a + (beyond_ac * ab + beyond_ab * ac) / (beyond_ab + beyond_ac + beyond_bc)
}

impl Shape for Heightmap {
    fn distance(&self, p: DVec3) -> f64 {
        let length = self.nearest(p).square.sqrt();
        if self.contains(p) { -length } else { length }
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let nearest = self.nearest(p);
        let offset = if self.contains(p) {
            nearest.point - p
        } else {
            p - nearest.point
        };
        // Close to the surface the offset is mostly rounding.
        let clear = offset.length() > 1e-9 * self.size.max_element().max(self.height);
        unit(if clear { offset } else { nearest.face }).unwrap_or(DVec3::Z)
    }

    fn bounds(&self) -> Aabb {
        let half = 0.5 * self.size;
        let [_, highest] = self.range(self.levels.len(), 0, 0);
        Aabb::new(
            (-half).extend(-self.thickness),
            half.extend(self.height * f64::from(highest)),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::Stream;

    fn hills(columns: usize, rows: usize) -> Heightmap {
        let mut stream = Stream::new(3, (columns * rows) as u64);
        let samples = (0..columns * rows).map(|_| stream.unit() as f32).collect();
        Heightmap::new(samples, columns, DVec2::new(2.0, 3.0), 0.8, 0.3).unwrap()
    }

    /// Returns points on and around the terrain.
    fn places() -> impl Iterator<Item = DVec3> {
        let mut stream = Stream::new(11, 0);
        (0..400).map(move |_| (stream.unit_cube() - 0.5) * DVec3::new(5.0, 6.0, 4.0))
    }

    #[test]
    fn the_distance_is_that_to_the_nearest_of_all_triangles() {
        for (columns, rows) in [(2, 2), (2, 9), (7, 5), (17, 16)] {
            let map = hills(columns, rows);
            let mesh = map.to_mesh();
            for p in places() {
                let to_triangle = |t| p.distance(nearest_of_triangle(p, mesh.corners(t)));
                let brute = (0..mesh.triangles.len()).map(to_triangle).fold(f64::INFINITY, f64::min);
                assert!(
                    (map.distance(p).abs() - brute).abs() < 1e-12,
                    "{columns} x {rows} at {p}"
                );
            }
        }
    }

    #[test]
    fn the_mesh_is_watertight_and_encloses_the_volume_of_the_ground() {
        let map = hills(6, 9);
        let mesh = map.to_mesh();
        let mut edges = BTreeMap::new();
        let mut volume = 0.0;
        for (t, [a, b, c]) in mesh.triangles.iter().copied().enumerate() {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry((from.min(to), from.max(to))).or_insert(0) += if from < to { 1 } else { -1 };
            }
            let [a, b, c] = mesh.corners(t);
            volume += a.dot(b.cross(c)) / 6.0;
        }
        assert!(edges.values().all(|&sum| sum == 0));
        let mut expected = 2.0 * 3.0 * 0.3;
        for row in 0..8 {
            for column in 0..5 {
                let [a, b, c, d] = map.corners(column, row).map(|v| v.z);
                expected += (2.0 * a + b + 2.0 * c + d) / 6.0 * (2.0 / 5.0) * (3.0 / 8.0);
            }
        }
        assert!((volume - expected).abs() < 1e-12, "{volume} {expected}");
    }

    #[test]
    fn flat_ground_is_a_box() {
        let map = Heightmap::new(vec![1.0; 12], 4, DVec2::new(2.0, 3.0), 0.5, 0.25).unwrap();
        let cuboid = super::super::Cuboid::new(DVec3::new(2.0, 3.0, 0.75)).unwrap();
        for p in places() {
            let expected = cuboid.distance(p - 0.125 * DVec3::Z);
            assert!((map.distance(p) - expected).abs() < 1e-14, "{p}");
        }
        assert_eq!(
            map.bounds(),
            Aabb::new(DVec3::new(-1.0, -1.5, -0.25), DVec3::new(1.0, 1.5, 0.5))
        );
    }

    #[test]
    fn impossible_grounds_are_refused() {
        let make = |samples: &[f32], columns, height, thickness| {
            Heightmap::new(samples.to_vec(), columns, DVec2::ONE, height, thickness).map_err(|e| e.to_string())
        };
        assert!(make(&[0.0; 4], 2, 1.0, 1.0).is_ok());
        assert!(make(&[0.0; 4], 4, 1.0, 1.0).unwrap_err().contains("at least 2 x 2"));
        assert!(make(&[0.0; 4], 0, 1.0, 1.0).unwrap_err().contains("at least 2 x 2"));
        assert!(make(&[0.0; 5], 2, 1.0, 1.0).unwrap_err().contains("multiple of 2"));
        assert!(make(&[0.0, 0.0, 0.0, 1.5], 2, 1.0, 1.0).unwrap_err().contains("0 to 1"));
        assert!(make(&[0.0; 4], 2, 0.0, 1.0).unwrap_err().contains("height"));
        assert!(make(&[0.0; 4], 2, 1.0, 0.0).unwrap_err().contains("thickness"));
    }
}
