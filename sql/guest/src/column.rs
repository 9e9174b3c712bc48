//! Types of columns that cross into a module, each under its name in SQL.

use arrow_schema::DataType;

/// A type; its number is what the module sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// A byte, 0 or 1.
    Boolean = 1,
    /// 16 bits.
    SmallInt = 2,
    /// 32 bits.
    Int = 3,
    /// 64 bits.
    BigInt = 4,
    /// 32 bits.
    Real = 5,
    /// 64 bits.
    Double = 6,
    /// UTF-8: offsets of 32 bits, one more than rows, and bytes.
    Varchar = 7,
}

impl ColumnType {
    /// All of them.
    pub const ALL: [ColumnType; 7] = [
        ColumnType::Boolean,
        ColumnType::SmallInt,
        ColumnType::Int,
        ColumnType::BigInt,
        ColumnType::Real,
        ColumnType::Double,
        ColumnType::Varchar,
    ];

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::Boolean => "boolean",
            ColumnType::SmallInt => "smallint",
            ColumnType::Int => "int",
            ColumnType::BigInt => "bigint",
            ColumnType::Real => "real",
            ColumnType::Double => "double",
            ColumnType::Varchar => "varchar",
        }
    }

    /// By its name, or another that SQL has for it.
    pub fn parse(name: &str) -> Option<ColumnType> {
        let name = name.to_ascii_lowercase();
        let usual = match name.as_str() {
            "bool" => "boolean",
            "integer" => "int",
            "float" => "real",
            "text" | "string" => "varchar",
            other => other,
        };
        ColumnType::ALL.into_iter().find(|ty| ty.name() == usual)
    }

    /// Arrow's.
    pub fn arrow(self) -> DataType {
        match self {
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::SmallInt => DataType::Int16,
            ColumnType::Int => DataType::Int32,
            ColumnType::BigInt => DataType::Int64,
            ColumnType::Real => DataType::Float32,
            ColumnType::Double => DataType::Float64,
            ColumnType::Varchar => DataType::Utf8,
        }
    }

    /// The one for a type of Arrow's: also where the same values are held in another way.
    pub fn of(ty: &DataType) -> Option<ColumnType> {
        match ty {
            DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnType::Varchar),
            other => ColumnType::ALL
                .into_iter()
                .find(|own| own.arrow() == *other),
        }
    }

    /// Bytes of a value; none for those that have no fixed width.
    pub fn width(self) -> Option<usize> {
        match self {
            ColumnType::Boolean => Some(1),
            ColumnType::SmallInt => Some(2),
            ColumnType::Int | ColumnType::Real => Some(4),
            ColumnType::BigInt | ColumnType::Double => Some(8),
            ColumnType::Varchar => None,
        }
    }
}

/// All names, for whoever has to choose.
pub fn names() -> String {
    ColumnType::ALL.map(ColumnType::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_found_by_its_name_and_by_arrows() {
        for ty in ColumnType::ALL {
            assert_eq!(ColumnType::parse(ty.name()), Some(ty));
            assert_eq!(ColumnType::of(&ty.arrow()), Some(ty));
        }
        assert_eq!(ColumnType::parse("TEXT"), Some(ColumnType::Varchar));
        assert_eq!(ColumnType::parse("decimal"), None);
        assert_eq!(ColumnType::of(&DataType::Date32), None);
    }
}
