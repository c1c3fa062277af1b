//! Appending to a list a vector at a time.

/// Appends selected numbers to a list. A whole vector is written each time, of which the selected ones stay.
///
/// Fields are copies of those of the list, so that loops keep them in registers.
#[derive(Debug)]
pub struct Appender<'a> {
    out: &'a mut Vec<u32>,
    start: *mut u32,
    capacity: usize,
    len: usize,
}

impl<'a> Appender<'a> {
    /// Appends to `out`, where about `expected` numbers follow: more cost an allocation.
    #[inline(always)]
    pub fn new(out: &'a mut Vec<u32>, expected: usize) -> Self {
        out.reserve(expected);
        let (start, capacity, len) = (out.as_mut_ptr(), out.capacity(), out.len());
        Self {
            out,
            start,
            capacity,
            len,
        }
    }

    /// Writes `values`, of which the first `count` stay.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, values: [u32; N], count: usize) {
        if self.capacity - self.len < N {
            (self.start, self.capacity) = grow(self.out, self.len, N);
        }
        // SAFETY: the list has room for all values after those that stay.
        let end = unsafe { self.start.add(self.len) };
        // SAFETY: as above.
        unsafe { end.cast::<[u32; N]>().write_unaligned(values) };
        self.len += count.min(N);
    }
}

/// Makes room for `more` numbers after the first `len`, all of which were written.
#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u32>, len: usize, more: usize) -> (*mut u32, usize) {
    // SAFETY: every number before was written, within the capacity.
    unsafe { out.set_len(len) };
    out.reserve(more);
    (out.as_mut_ptr(), out.capacity())
}

impl Drop for Appender<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: every number before was written, within the capacity.
        unsafe { self.out.set_len(self.len) };
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
            appender.push([k, 1000, 2000], 1);
        }
        appender.push([10, 15, 17, 0], 3);
        appender.push([1, 2], 0);
        drop(appender);
        let expected: Vec<u32> = [7].into_iter().chain(0..100).chain([10, 15, 17]).collect();
        assert_eq!(out, expected);
    }
}
