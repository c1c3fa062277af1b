//! Tables that compact the selected lanes of a vector to its front.

/// For each set of eight lanes, the numbers of its lanes, in order, one per byte: what a permutation takes that packs them.
pub static PACKING: [u64; 256] = packings();

const fn packings() -> [u64; 256] {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut at) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                table[set] |= lane << (8 * at);
                at += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
}
