//! Enums whose variants have names in scene files.

/// Declares an enum together with the words that scene files use for its variants.
///
/// There is one list: a variant without a word, or a word without a variant, does not compile.
///
/// ```
/// barchan_world::words! {
///     /// Direction of a turn.
///     pub enum Turning {
///         /// To the left.
///         Left = "left",
///         /// To the right.
///         Right = "right",
///     }
/// }
/// assert_eq!(Turning::WORDS, ["left", "right"]);
/// assert_eq!(Turning::from_word("right"), Some(Turning::Right));
/// assert_eq!(Turning::from_word("up"), None);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$attribute:meta])* $visible:vis enum $name:ident {
        $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name {
            $($(#[$of_variant])* $variant,)+
        }

        impl $name {
            /// Every variant.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Word of each variant in scene files, in the order of [`ALL`](Self::ALL).
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Word in scene files.
            pub const fn word(self) -> &'static str {
                Self::WORDS[self as usize]
            }

            /// Returns the variant that scene files call `word`.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|variant| variant.word() == word)
            }
        }

        impl $crate::spec::FromSetting for $name {
            fn from_setting(setting: Option<&$crate::spec::Setting>) -> Option<Self> {
                match setting? {
                    $crate::spec::Setting::Word(word) => Self::from_word(word),
                    _ => None,
                }
            }
        }
    };
}
