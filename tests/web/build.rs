//! Generates JSON of the WebNN interface from its IDL, for the mock in `tests/window/webnn`.

use std::{env, fs, path::Path};

use serde_json::{Map, Value, json};
use weedle::{
    Definition, Parse,
    argument::{Argument, ArgumentList},
    common::Default,
    dictionary::DictionaryMember,
    interface::InterfaceMember,
    literal::{DefaultValue, FloatLit, IntegerLit, OctLit},
    types::{
        FloatingPointType, IntegerType, LongLongType, LongType, NonAnyType, ReturnType, SingleType, Type,
        UnionMemberType,
    },
};

fn main() {
    println!("cargo::rerun-if-changed=webnn.idl");
    let text = fs::read_to_string("webnn.idl").expect("the IDL is beside this script");
    // weedle2 5 cannot parse attributes of nested types (integers are in range, or an error) and big integers (unused).
    let text = text.replace("[EnforceRange] ", "").replace("(bigint or unrestricted double)", "unrestricted double");
    let (rest, definitions) = weedle::Definitions::parse(&text).expect("the IDL is well-formed");
    assert_eq!(rest, "", "all of the IDL is understood");
    let interface = serde_json::to_string(&collected(&definitions)).expect("plain data");
    let folder = env::var("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&folder).join("webnn.json"), interface).expect("cargo's folder can be written to");
}

fn collected(definitions: &[Definition<'_>]) -> Value {
    let (mut interfaces, mut dictionaries, mut enums, mut typedefs) = (Map::new(), Map::new(), Map::new(), Map::new());
    for definition in definitions {
        match definition {
            Definition::Interface(of) => add_interface(&mut interfaces, of.identifier.0, &of.members.body),
            Definition::PartialInterface(of) => add_interface(&mut interfaces, of.identifier.0, &of.members.body),
            Definition::Dictionary(of) => {
                let inherits = of.inheritance.map(|inheritance| inheritance.identifier.0);
                add_dictionary(&mut dictionaries, of.identifier.0, &of.members.body);
                dictionaries[of.identifier.0]["inherits"] = json!(inherits);
            }
            Definition::PartialDictionary(of) => add_dictionary(&mut dictionaries, of.identifier.0, &of.members.body),
            Definition::Enum(of) => {
                let values: Vec<&str> = of.values.body.list.iter().map(|variant| variant.value.0).collect();
                enums.insert(of.identifier.0.to_owned(), json!(values));
            }
            Definition::Typedef(of) => drop(typedefs.insert(of.identifier.0.to_owned(), ty(&of.type_.type_))),
            // The mock installs itself where pages look for it.
            Definition::InterfaceMixin(_) | Definition::IncludesStatement(_) => {}
            other => panic!("WebNN had no such definition when this was written: {other:?}"),
        }
    }
    json!({ "interfaces": interfaces, "dictionaries": dictionaries, "enums": enums, "typedefs": typedefs })
}

fn add_interface(interfaces: &mut Map<String, Value>, name: &str, members: &[InterfaceMember<'_>]) {
    let empty = || json!({ "constructors": [], "operations": {}, "attributes": [] });
    let interface = interfaces.entry(name).or_insert_with(empty);
    for member in members {
        match member {
            InterfaceMember::Constructor(of) => push(&mut interface["constructors"], arguments(&of.args.body)),
            InterfaceMember::Attribute(of) => push(&mut interface["attributes"], json!(of.identifier.0)),
            InterfaceMember::Operation(of) => {
                let name = of.identifier.expect("operations have names").0;
                let promises = matches!(
                    &of.return_type,
                    ReturnType::Type(Type::Single(SingleType::NonAny(NonAnyType::Promise(_))))
                );
                let overloads = &mut interface["operations"][name];
                if overloads.is_null() {
                    *overloads = json!({ "promises": promises, "overloads": [] });
                }
                push(&mut overloads["overloads"], arguments(&of.args.body));
            }
            other => panic!("WebNN had no such member when this was written: {other:?}"),
        }
    }
}

fn add_dictionary(dictionaries: &mut Map<String, Value>, name: &str, members: &[DictionaryMember<'_>]) {
    let dictionary = dictionaries.entry(name).or_insert_with(|| json!({ "inherits": null, "members": {} }));
    for member in members {
        dictionary["members"][member.identifier.0] = json!({ "type": ty(&member.type_), "required": member.required.is_some(), "default": default(&member.default) });
    }
}

fn push(list: &mut Value, value: Value) {
    list.as_array_mut().expect("a list").push(value);
}

fn arguments(list: &ArgumentList<'_>) -> Value {
    let argument = |argument: &Argument<'_>| match argument {
        Argument::Single(of) => json!({
            "name": of.identifier.0,
            "type": ty(&of.type_.type_),
            "optional": of.optional.is_some(),
            "default": default(&of.default),
        }),
        Argument::Variadic(_) => panic!("WebNN had no variadic operations when this was written"),
    };
    list.list.iter().map(argument).collect()
}

/// In a list, because a default may be `null`; `null` if there is none.
fn default(default: &Option<Default<'_>>) -> Value {
    let Some(default) = default else { return Value::Null };
    let value = match &default.value {
        DefaultValue::Boolean(value) => json!(value.0),
        DefaultValue::EmptyArray(_) => json!([]),
        DefaultValue::EmptyDictionary(_) => json!({}),
        DefaultValue::Null(_) => Value::Null,
        DefaultValue::String(value) => json!(value.0),
        DefaultValue::Float(FloatLit::Value(value)) => number(value.0),
        DefaultValue::Integer(IntegerLit::Dec(value)) => number(value.0),
        // Zero is an octal literal.
        DefaultValue::Integer(IntegerLit::Oct(OctLit("0"))) => number("0"),
        other => panic!("WebNN had no such default when this was written: {other:?}"),
    };
    json!([value])
}

fn number(literal: &str) -> Value {
    json!(literal.parse::<f64>().expect("decimal digits"))
}

fn ty(ty: &Type<'_>) -> Value {
    match ty {
        Type::Single(SingleType::NonAny(ty)) => single(ty),
        Type::Single(SingleType::Any(_)) => json!({ "kind": "any" }),
        Type::Union(union) => {
            let members = union.type_.body.list.iter().map(|member| match member {
                UnionMemberType::Single(member) => single(&member.type_),
                UnionMemberType::Union(_) => panic!("WebNN had no nested unions when this was written"),
            });
            json!({ "kind": "union", "of": members.collect::<Vec<_>>() })
        }
    }
}

fn single(of: &NonAnyType<'_>) -> Value {
    let [min, max] = [-(2f64.powi(31)), 2f64.powi(32) - 1.0];
    match of {
        NonAnyType::Integer(of) => {
            let [min, max] = match of.type_ {
                IntegerType::LongLong(LongLongType { unsigned, .. }) => {
                    [if unsigned.is_some() { 0.0 } else { 1.0 - 2f64.powi(53) }, 2f64.powi(53) - 1.0]
                }
                IntegerType::Long(LongType { unsigned: Some(_), .. }) => [0.0, max],
                IntegerType::Long(_) | IntegerType::Short(_) => [min, -min - 1.0],
            };
            json!({ "kind": "integer", "min": min, "max": max })
        }
        NonAnyType::FloatingPoint(of) => {
            let unrestricted = match of.type_ {
                FloatingPointType::Float(of) => of.unrestricted,
                FloatingPointType::Double(of) => of.unrestricted,
            };
            json!({ "kind": "float", "finite": unrestricted.is_none() })
        }
        NonAnyType::Boolean(_) => json!({ "kind": "boolean" }),
        NonAnyType::DOMString(_) | NonAnyType::USVString(_) => json!({ "kind": "string" }),
        NonAnyType::Sequence(of) => json!({ "kind": "sequence", "of": ty(&of.type_.generics.body) }),
        NonAnyType::FrozenArrayType(of) => json!({ "kind": "sequence", "of": ty(&of.type_.generics.body) }),
        NonAnyType::RecordType(of) => json!({ "kind": "record", "of": ty(&of.type_.generics.body.2) }),
        NonAnyType::Identifier(of) => json!({ "kind": "named", "name": of.type_.0 }),
        other => panic!("WebNN had no such type when this was written: {other:?}"),
    }
}
