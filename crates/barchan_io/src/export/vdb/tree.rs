//! Sparse grids in OpenVDB files, version 224: trees of 32³ × 16³ × 8³ voxels, of which only active ones are stored.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::bytes;
use crate::WriteError;
use crate::atomic::StagedFile;

/// Voxels per edge of a leaf, and of the nodes above it.
pub const LEAF: i32 = 1 << 3;
const LOWER: i32 = 1 << 7;
const UPPER: i32 = 1 << 12;
/// Voxels per leaf.
pub const LEAF_VOXELS: usize = (LEAF * LEAF * LEAF) as usize;

/// A leaf: its first voxel, and one value per voxel; x changes slowest.
pub struct Leaf<T> {
    pub origin: [i32; 3],
    pub is_active: Box<[bool; LEAF_VOXELS]>,
    pub values: Vec<T>,
}

/// A value of voxels. The background is zero.
pub trait Value: bytemuck::Zeroable + bytemuck::NoUninit {
    /// Type of the tree in files.
    const TREE: &'static str;
}

impl Value for f32 {
    const TREE: &'static str = "Tree_float_5_4_3";
}

impl Value for [f32; 3] {
    const TREE: &'static str = "Tree_vec3s_5_4_3";
}

/// A VDB file that is being written.
pub struct VdbFile {
    file: StagedFile,
    /// Edge of a voxel.
    voxel: f64,
}

impl VdbFile {
    pub fn create(path: &Path, grids: u32, voxel: f64) -> Result<Self, WriteError> {
        let mut file = StagedFile::create(path)?;
        file.put(&0x5644_4220u64.to_le_bytes())?;
        // Versions of the file and of the library, and that grids carry their offsets.
        for number in [224u32, 10, 0] {
            file.put(&number.to_le_bytes())?;
        }
        file.put(&[1])?;
        file.put(b"00000000-0000-4000-8000-000000000000")?;
        // No metadata of the file.
        file.put(&0u32.to_le_bytes())?;
        file.put(&grids.to_le_bytes())?;
        Ok(Self { file, voxel })
    }

    fn text(&mut self, text: &str) -> Result<(), WriteError> {
        self.file.put(&(text.len() as u32).to_le_bytes())?;
        self.file.put(text.as_bytes()).map(|_| ())
    }

    /// Writes a grid. `leaves` are in any order, each origin once.
    pub fn grid<T: Value>(&mut self, name: &str, class: &str, leaves: &[Leaf<T>]) -> Result<(), WriteError> {
        self.text(name)?;
        self.text(T::TREE)?;
        // Not an instance of another grid.
        self.text("")?;
        let offsets = self.file.put(&[0; 24])?;
        let start = self.file.length();
        // Compression: inactive values are left out.
        self.file.put(&2u32.to_le_bytes())?;
        let metadata = [("class", class), ("name", name)];
        self.file.put(&(metadata.len() as u32).to_le_bytes())?;
        for (key, value) in metadata {
            self.text(key)?;
            self.text("string")?;
            self.text(value)?;
        }
        self.text("UniformScaleMap")?;
        let h = self.voxel;
        for number in [h, h, 1.0 / h, 1.0 / (h * h), 0.5 / h] {
            self.file.put(bytes(&[number; 3]))?;
        }
        let values = self.topology(leaves)?;
        for &leaf in &values {
            let leaf = &leaves[leaf];
            self.file.put(&mask(&leaf.is_active[..]))?;
            // Inactive values are the background.
            self.file.put(&[0])?;
            let active = leaf.values.iter().zip(&leaf.is_active[..]);
            let active: Vec<T> = active.filter(|(_, is_active)| **is_active).map(|(v, _)| *v).collect();
            self.file.put(bytes(&active))?;
        }
        let end = self.file.length();
        let buffers = end - values.iter().map(|&leaf| leaves[leaf].stored()).sum::<u64>();
        self.file.patch(offsets, bytes(&[start, buffers, end]))
    }

    /// Writes the nodes above the leaves and the masks of the leaves; returns the order of the leaves.
    fn topology<T: Value>(&mut self, leaves: &[Leaf<T>]) -> Result<Vec<usize>, WriteError> {
        // Children lie in the order of their offsets in the parent.
        let mut tree: BTreeMap<[i32; 3], BTreeMap<usize, BTreeMap<usize, usize>>> = BTreeMap::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let upper = tree
                .entry(leaf.origin.map(|x| x.div_euclid(UPPER) * UPPER))
                .or_default();
            let lower = upper.entry(offset(leaf.origin, UPPER, LOWER)).or_default();
            lower.insert(offset(leaf.origin, LOWER, LEAF), k);
        }
        self.file.put(&1u32.to_le_bytes())?;
        self.file.put(bytes(&[T::zeroed()]))?;
        // No tiles at the root.
        self.file.put(&0u32.to_le_bytes())?;
        self.file.put(&(tree.len() as u32).to_le_bytes())?;
        let mut order = Vec::with_capacity(leaves.len());
        for (origin, upper) in &tree {
            self.file.put(bytes(origin))?;
            self.node(UPPER / LOWER, upper.keys())?;
            for lower in upper.values() {
                self.node(LOWER / LEAF, lower.keys())?;
                for &leaf in lower.values() {
                    self.file.put(&mask(&leaves[leaf].is_active[..]))?;
                    order.push(leaf);
                }
            }
        }
        Ok(order)
    }

    /// Writes the masks of an inner node: which children exist, and which tiles are active: none.
    fn node<'a>(&mut self, side: i32, children: impl Iterator<Item = &'a usize>) -> Result<(), WriteError> {
        let mut has_child = vec![false; side.pow(3) as usize];
        children.for_each(|&child| has_child[child] = true);
        self.file.put(&mask(&has_child))?;
        self.file.put(&vec![0; has_child.len() / 8])?;
        self.file.put(&[0]).map(|_| ())
    }

    pub fn finish(self) -> Result<(), WriteError> {
        self.file.finish()
    }
}

impl<T: Value> Leaf<T> {
    /// Returns the bytes of its values in the file.
    fn stored(&self) -> u64 {
        let active = self.is_active.iter().filter(|is_active| **is_active).count();
        (LEAF_VOXELS / 8 + 1 + active * size_of::<T>()) as u64
    }
}

/// Returns the offset of the child of edge `child` that contains voxel `at`, in its parent of edge `parent`.
fn offset(at: [i32; 3], parent: i32, child: i32) -> usize {
    let [x, y, z] = at.map(|x| x.rem_euclid(parent) / child);
    let side = parent / child;
    ((x * side + y) * side + z) as usize
}

fn mask(bits: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    bits.chunks(8).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_z_first_and_are_right_below_zero() {
        assert_eq!(offset([0, 0, 8], LOWER, LEAF), 1);
        assert_eq!(offset([8, 8, 0], LOWER, LEAF), 16 * 16 + 16);
        assert_eq!(offset([-8, -8, -8], LOWER, LEAF), 4095);
    }

    #[test]
    fn masks_begin_with_the_lowest_bit() {
        let bits: Vec<bool> = (0..16).map(|k| k == 0 || k == 9).collect();
        assert_eq!(mask(&bits), [1, 2]);
    }
}
