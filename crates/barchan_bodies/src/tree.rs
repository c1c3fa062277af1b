//! Serializable values as trees, which show the private fields of rapier's state.

use std::fmt::{self, Display};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Name of the enumeration of shapes, which are large and compared as bytes.
const SHAPES: &str = "TypedShape";

/// A value as serde sees it. Newtypes and present options are what they hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    /// An absent option, a unit, a text or a shape.
    Nothing,
    /// An integer, in two's complement, a truth value or the number of a variant without fields.
    Whole(u128),
    /// A real number.
    Real(f64),
    /// Elements of a sequence, a tuple or a map, whose keys and values take turns.
    List(Vec<Tree>),
    /// Fields of a structure.
    Record(Vec<(&'static str, Tree)>),
    /// A variant with fields.
    Variant(&'static str, Box<Tree>),
}

impl Tree {
    /// Converts a value.
    pub(crate) fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, NoTree> {
        value.serialize(Planter)
    }

    /// Returns a field of a structure or of a variant.
    pub(crate) fn get(&self, name: &str) -> Result<&Self, NoTree> {
        let fields = match self {
            Self::Record(fields) => fields.as_slice(),
            Self::Variant(_, inner) => return inner.get(name),
            _ => &[],
        };
        let field = fields.iter().find(|(field, _)| *field == name);
        field
            .map(|(_, value)| value)
            .ok_or_else(|| NoTree(format!("no `{name}`")))
    }

    /// Returns the elements of a list.
    pub(crate) fn list(&self) -> Result<&[Self], NoTree> {
        match self {
            Self::List(elements) => Ok(elements),
            _ => Err(NoTree("no list".to_owned())),
        }
    }

    /// Returns the elements of a list of `N`.
    pub(crate) fn tuple<const N: usize>(&self) -> Result<&[Self; N], NoTree> {
        self.list()?.try_into().map_err(|_| NoTree(format!("not {N} elements")))
    }

    /// Returns an integer.
    pub(crate) fn whole(&self) -> Result<usize, NoTree> {
        match self {
            Self::Whole(value) => usize::try_from(*value).map_err(|_| NoTree(format!("the number {value}"))),
            _ => Err(NoTree("no integer".to_owned())),
        }
    }

    /// Returns true if all real numbers in it are finite.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Nothing | Self::Whole(_) => true,
            Self::Real(value) => value.is_finite(),
            Self::List(elements) => elements.iter().all(Self::is_finite),
            Self::Record(fields) => fields.iter().all(|(_, value)| value.is_finite()),
            Self::Variant(_, inner) => inner.is_finite(),
        }
    }
}

/// A value that is no tree.
#[derive(Debug)]
pub(crate) struct NoTree(pub(crate) String);

impl Display for NoTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoTree {}

impl Error for NoTree {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Converts values to trees.
struct Planter;

impl Serializer for Planter {
    type Ok = Tree;
    type Error = NoTree;
    type SerializeSeq = Branch;
    type SerializeTuple = Branch;
    type SerializeTupleStruct = Branch;
    type SerializeTupleVariant = Branch;
    type SerializeMap = Branch;
    type SerializeStruct = Branch;
    type SerializeStructVariant = Branch;

    // Else flags would be texts.
    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.into()))
    }

    fn serialize_u8(self, value: u8) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.into()))
    }

    fn serialize_u64(self, value: u64) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.into()))
    }

    fn serialize_u128(self, value: u128) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value))
    }

    fn serialize_char(self, value: char) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.into()))
    }

    fn serialize_i8(self, value: i8) -> Result<Tree, NoTree> {
        self.serialize_i128(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Tree, NoTree> {
        self.serialize_i128(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Tree, NoTree> {
        self.serialize_i128(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Tree, NoTree> {
        self.serialize_i128(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(value.cast_unsigned()))
    }

    fn serialize_f32(self, value: f32) -> Result<Tree, NoTree> {
        Ok(Tree::Real(value.into()))
    }

    fn serialize_f64(self, value: f64) -> Result<Tree, NoTree> {
        Ok(Tree::Real(value))
    }

    fn serialize_str(self, _: &str) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }

    fn serialize_none(self) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Tree, NoTree> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }

    fn serialize_unit_variant(self, _: &'static str, number: u32, _: &'static str) -> Result<Tree, NoTree> {
        Ok(Tree::Whole(number.into()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Tree, NoTree> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Tree, NoTree> {
        if name == SHAPES {
            return Ok(Tree::Nothing);
        }
        Ok(Tree::Variant(variant, Box::new(value.serialize(self)?)))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Branch, NoTree> {
        Ok(Branch::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Branch, NoTree> {
        Ok(Branch::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Branch, NoTree> {
        Ok(Branch::default())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Branch, NoTree> {
        Ok(Branch::of(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Branch, NoTree> {
        Ok(Branch::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Branch, NoTree> {
        Ok(Branch::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Branch, NoTree> {
        Ok(Branch::of(variant))
    }
}

/// A list or record that grows.
#[derive(Default)]
struct Branch {
    variant: Option<&'static str>,
    elements: Vec<Tree>,
    fields: Vec<(&'static str, Tree)>,
}

impl Branch {
    fn of(variant: &'static str) -> Self {
        Self {
            variant: Some(variant),
            ..Self::default()
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.elements.push(Tree::of(value)?);
        Ok(())
    }

    fn put<T: Serialize + ?Sized>(&mut self, field: &'static str, value: &T) -> Result<(), NoTree> {
        self.fields.push((field, Tree::of(value)?));
        Ok(())
    }

    fn done(self) -> Result<Tree, NoTree> {
        let tree = if self.fields.is_empty() {
            Tree::List(self.elements)
        } else {
            Tree::Record(self.fields)
        };
        Ok(match self.variant {
            None => tree,
            Some(variant) => Tree::Variant(variant, Box::new(tree)),
        })
    }
}

impl SerializeSeq for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}

impl SerializeTuple for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}

impl SerializeTupleStruct for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}

impl SerializeTupleVariant for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}

impl SerializeStruct for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, field: &'static str, value: &T) -> Result<(), NoTree> {
        self.put(field, value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}

impl SerializeStructVariant for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, field: &'static str, value: &T) -> Result<(), NoTree> {
        self.put(field, value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}

impl SerializeMap for Branch {
    type Ok = Tree;
    type Error = NoTree;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoTree> {
        self.push(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, NoTree> {
        self.done()
    }
}
