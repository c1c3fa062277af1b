//! Appending to a list a vector at a time.

use crate::PACKING;

/// Appends selected numbers to a list. A whole vector is written each time, of which the selected ones stay.
#[derive(Debug)]
pub struct Appender<'a> {
    out: &'a mut Vec<u32>,
    len: usize,
}

impl<'a> Appender<'a> {
    /// Appends to `out`, where about `expected` numbers follow: more cost an allocation.
    #[inline(always)]
    pub fn new(out: &'a mut Vec<u32>, expected: usize) -> Self {
        out.reserve(expected);
        let len = out.len();
        Self { out, len }
    }

    /// Writes `values`, of which the first `count` stay.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, values: &[u32; N], count: usize) {
        if self.out.capacity() - self.len < N {
            self.grow();
        }
        // SAFETY: the capacity is that of the list, and has room for all values after those that stay.
        unsafe {
            self.out
                .as_mut_ptr()
                .add(self.len)
                .cast::<[u32; N]>()
                .write_unaligned(*values)
        };
        self.len += count.min(N);
    }

    /// Appends those of eight `values` whose bit is set.
    #[inline(always)]
    pub fn select(&mut self, values: &[u32; 8], bits: u32) {
        let lanes = PACKING[bits as usize & 0xff].to_le_bytes();
        self.push(&lanes.map(|l| values[usize::from(l) & 7]), bits.count_ones() as usize);
    }

    #[cold]
    fn grow(&mut self) {
        self.finish();
        self.out.reserve(64);
    }

    #[inline(always)]
    fn finish(&mut self) {
        // SAFETY: every number before was written, within the capacity.
        unsafe { self.out.set_len(self.len) };
    }
}

impl Drop for Appender<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_appended_in_order_however_many() {
        let mut out = vec![7];
        let mut appender = Appender::new(&mut out, 0);
        for k in 0..100 {
            appender.push(&[k, 1000, 2000], 1);
        }
        appender.select(&[10, 11, 12, 13, 14, 15, 16, 17], 0b1010_0001);
        appender.push(&[1, 2], 0);
        drop(appender);
        let expected: Vec<u32> = [7].into_iter().chain(0..100).chain([10, 15, 17]).collect();
        assert_eq!(out, expected);
    }
}
