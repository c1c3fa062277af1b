//! Appending to a list a vector at a time.

/// Appends selected numbers to a list. A whole vector is written each time, of which the selected ones stay.
///
/// The room is reserved once: a call that makes more would force loops to keep their vectors in memory.
#[derive(Debug)]
pub struct Appender<'a> {
    out: &'a mut Vec<u32>,
    start: *mut u32,
    capacity: usize,
    len: usize,
}

impl<'a> Appender<'a> {
    /// Appends to `out`, where up to `room` numbers are written.
    #[inline(always)]
    pub fn new(out: &'a mut Vec<u32>, room: usize) -> Self {
        out.reserve(room);
        let (start, capacity, len) = (out.as_mut_ptr(), out.capacity(), out.len());
        Self {
            out,
            start,
            capacity,
            len,
        }
    }

    /// Writes `values`, of which the first `count` stay.
    ///
    /// # Panics
    /// Panics if there is no room for all values.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, values: [u32; N], count: usize) {
        assert!(self.capacity - self.len >= N, "no room for {N} numbers");
        // SAFETY: the list has room for all values after those that stay.
        let end = unsafe { self.start.add(self.len) };
        // SAFETY: as above.
        unsafe { end.cast::<[u32; N]>().write_unaligned(values) };
        self.len += count.min(N);
    }
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
    fn numbers_are_appended_in_order() {
        let mut out = vec![7];
        let mut appender = Appender::new(&mut out, 105);
        for k in 0..100 {
            appender.push([k, 1000, 2000], 1);
        }
        appender.push([10, 15, 17, 0], 3);
        appender.push([1, 2], 0);
        drop(appender);
        let expected: Vec<u32> = [7].into_iter().chain(0..100).chain([10, 15, 17]).collect();
        assert_eq!(out, expected);
    }

    #[test]
    #[should_panic(expected = "no room")]
    fn a_vector_beyond_the_room_is_refused() {
        let mut out = Vec::new();
        let mut appender = Appender::new(&mut out, 8);
        (0..1000).for_each(|_| appender.push([0; 8], 8));
    }
}
