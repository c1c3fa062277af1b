//! Maps numbers to colors.

/// A sequence of colors from low to high with a perceptible order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMap {
    /// Violet over green to yellow; perceptually uniform, also in grayscale.
    #[default]
    Viridis,
    /// Black over red to yellow.
    Inferno,
    /// A rainbow that is nearly perceptually uniform.
    Turbo,
    /// Black to white.
    Grey,
}

/// Every map with its name and its sRGB colors at even steps.
const MAPS: [(ColorMap, &str, &[u32]); 4] = [
    (
        ColorMap::Viridis,
        "viridis",
        &[
            0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725,
        ],
    ),
    (
        ColorMap::Inferno,
        "inferno",
        &[
            0x000004, 0x1b0c41, 0x4a0c6b, 0x781c6d, 0xa52c60, 0xcf4446, 0xed6925, 0xfb9b06, 0xf7d13d, 0xfcffa4,
        ],
    ),
    (
        ColorMap::Turbo,
        "turbo",
        &[
            0x30123b, 0x4145ab, 0x4675ed, 0x39a2fc, 0x1bcfd4, 0x24eca6, 0x61fc6c, 0xa4fc3b, 0xd1e834, 0xf3c63a,
            0xfe9b2d, 0xf36315, 0xd93806, 0xb11901, 0x7a0402,
        ],
    ),
    (ColorMap::Grey, "grey", &[0x000000, 0xffffff]),
];

impl ColorMap {
    /// Returns every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MAPS.iter().map(|map| map.1)
    }

    /// Returns the map of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        MAPS.iter().find(|map| map.1 == name).map(|map| map.0)
    }

    /// Returns the sRGB color of a number in [0, 1]. Numbers outside are clamped, NaN is gray.
    pub fn color(self, value: f32) -> [u8; 3] {
        if value.is_nan() {
            return [128; 3];
        }
        let stops = MAPS[self as usize].2;
        let at = value.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
        let first = (at as usize).min(stops.len() - 2);
        let part = at - first as f32;
        let channel = |k: usize, shift: u32| (stops[k] >> shift & 0xFF) as f32;
        [16, 8, 0].map(|shift| {
            let (low, high) = (channel(first, shift), channel(first + 1, shift));
            (low + part * (high - low) + 0.5) as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_map_is_found_by_its_name_and_ends_in_its_own_colors() {
        for (map, name, stops) in MAPS {
            assert_eq!(ColorMap::of_name(name), Some(map));
            let bytes = |color: u32| [16, 8, 0].map(|shift| (color >> shift) as u8);
            assert_eq!(map.color(-1.0), bytes(stops[0]));
            assert_eq!(map.color(1e9), bytes(stops[stops.len() - 1]));
        }
        assert_eq!(ColorMap::Grey.color(0.5), [128; 3]);
    }

    #[test]
    fn maps_for_orders_grow_brighter() {
        for map in [ColorMap::Viridis, ColorMap::Inferno, ColorMap::Grey] {
            let brightness = |k: i32| {
                let [r, g, b] = map.color(k as f32 / 64.0).map(f32::from);
                0.2126 * r + 0.7152 * g + 0.0722 * b
            };
            assert!((0..64).all(|k| brightness(k) < brightness(k + 1)), "{map:?}");
        }
    }
}
