//! Each rule of compatibility, on two small descriptor sets built by hand.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto, OneofDescriptorProto,
    ServiceDescriptorProto, descriptor_proto, enum_descriptor_proto,
};

use super::compat::breaks;

fn field(name: &str, number: i32, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        r#type: Some(kind.into()),
        label: Some(Label::Optional.into()),
        ..FieldDescriptorProto::default()
    }
}

fn value(name: &str, number: i32) -> EnumValueDescriptorProto {
    EnumValueDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        ..EnumValueDescriptorProto::default()
    }
}

fn method(name: &str, output: &str) -> MethodDescriptorProto {
    MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(".m.Ask".to_owned()),
        output_type: Some(output.to_owned()),
        ..MethodDescriptorProto::default()
    }
}

/// One file with message `m.Ask`, enum `m.Mood` and service `m.Desk`.
fn file() -> FileDescriptorProto {
    let fields = vec![field("name", 1, Type::String), field("count", 2, Type::Uint32)];
    FileDescriptorProto {
        name: Some("m.proto".to_owned()),
        package: Some("m".to_owned()),
        message_type: vec![DescriptorProto {
            name: Some("Ask".to_owned()),
            field: fields,
            ..DescriptorProto::default()
        }],
        enum_type: vec![EnumDescriptorProto {
            name: Some("Mood".to_owned()),
            value: vec![value("CALM", 0), value("BUSY", 1)],
            ..EnumDescriptorProto::default()
        }],
        service: vec![ServiceDescriptorProto {
            name: Some("Desk".to_owned()),
            method: vec![method("Read", ".m.Ask"), method("Write", ".m.Ask")],
            ..ServiceDescriptorProto::default()
        }],
        ..FileDescriptorProto::default()
    }
}

/// The sentences about the step from [`file`] to an edited copy of it.
fn after(edit: impl FnOnce(&mut FileDescriptorProto)) -> Vec<String> {
    let mut new = file();
    edit(&mut new);
    breaks(&set(file()), &set(new))
}

fn set(file: FileDescriptorProto) -> FileDescriptorSet {
    FileDescriptorSet { file: vec![file] }
}

fn reserve(message: &mut DescriptorProto, number: i32) {
    message
        .reserved_range
        .push(descriptor_proto::ReservedRange { start: Some(number), end: Some(number + 1) });
}

#[test]
fn additions_are_fine() {
    let sentences = after(|file| {
        file.message_type[0].field.push(field("more", 3, Type::Bool));
        file.message_type.push(DescriptorProto::default());
        file.enum_type[0].value.push(value("TIRED", 2));
        file.service[0].method.push(method("List", ".m.Ask"));
    });
    assert!(sentences.is_empty(), "{sentences:?}");
}

#[test]
fn a_number_with_another_name_is_found() {
    let sentences = after(|file| file.message_type[0].field[1].name = Some("total".to_owned()));
    assert_eq!(sentences, ["message m.Ask: number 2 belonged to field count and is used by total"]);
}

#[test]
fn another_type_is_found() {
    let sentences = after(|file| file.message_type[0].field[1] = field("count", 2, Type::Uint64));
    assert_eq!(sentences, ["message m.Ask: field count = 2 was `uint32` and is now `uint64`"]);
    let sentences = after(|file| {
        file.message_type[0].field[1].label = Some(Label::Repeated.into());
    });
    assert_eq!(
        sentences,
        ["message m.Ask: field count = 2 was `uint32` and is now `repeated uint32`"]
    );
}

#[test]
fn a_field_that_moves_into_a_oneof_is_found() {
    let sentences = after(|file| {
        let message = &mut file.message_type[0];
        message.oneof_decl.push(OneofDescriptorProto {
            name: Some("kind".to_owned()),
            ..OneofDescriptorProto::default()
        });
        message.field[1].oneof_index = Some(0);
    });
    assert_eq!(
        sentences,
        ["message m.Ask: field count = 2 was `uint32` and is now `uint32 in oneof kind`"]
    );
}

#[test]
fn a_removed_field_needs_its_number_reserved() {
    let sentences = after(|file| {
        file.message_type[0].field.pop();
        reserve(&mut file.message_type[0], 3);
    });
    assert_eq!(sentences, ["message m.Ask: field count = 2 was removed without `reserved 2;`"]);
    let sentences = after(|file| {
        file.message_type[0].field.pop();
        reserve(&mut file.message_type[0], 2);
    });
    assert!(sentences.is_empty(), "{sentences:?}");
}

#[test]
fn a_reserved_number_stays_reserved() {
    let mut old = file();
    reserve(&mut old.message_type[0], 3);
    let mut new = file();
    new.message_type[0].field.push(field("back", 3, Type::Bool));
    assert_eq!(
        breaks(&set(old), &set(new)),
        ["message m.Ask: number 3 was reserved and is used again by field back"]
    );
}

#[test]
fn a_removed_enum_value_needs_its_number_reserved() {
    let sentences = after(|file| {
        file.enum_type[0].value.pop();
    });
    assert_eq!(sentences, ["enum m.Mood: value BUSY = 1 was removed without `reserved 1;`"]);
    let sentences = after(|file| {
        file.enum_type[0].value.pop();
        file.enum_type[0]
            .reserved_range
            .push(enum_descriptor_proto::EnumReservedRange { start: Some(1), end: Some(1) });
    });
    assert!(sentences.is_empty(), "{sentences:?}");
}

#[test]
fn a_renamed_enum_value_is_found() {
    let sentences = after(|file| file.enum_type[0].value[1].name = Some("HECTIC".to_owned()));
    assert_eq!(sentences, ["enum m.Mood: number 1 belonged to value BUSY and is used by HECTIC"]);
}

#[test]
fn a_removed_rpc_is_found() {
    let sentences = after(|file| {
        file.service[0].method.pop();
    });
    assert_eq!(sentences, ["service m.Desk: rpc Write was removed"]);
}

#[test]
fn another_signature_is_found() {
    let sentences = after(|file| file.service[0].method[0] = method("Read", ".m.Other"));
    assert_eq!(
        sentences,
        ["service m.Desk: rpc Read was `m.Ask -> m.Ask` and is now `m.Ask -> m.Other`"]
    );
    let sentences = after(|file| file.service[0].method[0].server_streaming = Some(true));
    assert_eq!(
        sentences,
        ["service m.Desk: rpc Read was `m.Ask -> m.Ask` and is now `m.Ask -> stream of m.Ask`"]
    );
}

#[test]
fn removed_messages_enums_and_services_are_found() {
    let sentences = after(|file| {
        file.message_type.clear();
        file.enum_type.clear();
        file.service.clear();
    });
    assert_eq!(
        sentences,
        ["message m.Ask was removed", "enum m.Mood was removed", "service m.Desk was removed"]
    );
}

#[test]
fn nested_messages_are_compared() {
    let nested = DescriptorProto {
        name: Some("Part".to_owned()),
        field: vec![field("size", 1, Type::Uint32)],
        ..DescriptorProto::default()
    };
    let mut old = file();
    old.message_type[0].nested_type.push(nested);
    let mut new = old.clone();
    new.message_type[0].nested_type[0].field.clear();
    assert_eq!(
        breaks(&set(old), &set(new)),
        ["message m.Ask.Part: field size = 1 was removed without `reserved 1;`"]
    );
}
