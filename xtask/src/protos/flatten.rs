//! A descriptor set as flat tables by full name, which is the form that versions are compared in.

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, ServiceDescriptorProto,
};

/// All messages, enums and services of a set.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) messages: BTreeMap<String, Members>,
    pub(super) enums: BTreeMap<String, Members>,
    /// Methods by name, as their signature in words.
    pub(super) services: BTreeMap<String, BTreeMap<String, String>>,
}

/// Numbered members of a message or an enum.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// By number: name and, for a field, its type in words.
    pub(super) members: BTreeMap<i32, (String, String)>,
    /// Reserved ranges, both ends included.
    reserved: Vec<(i32, i32)>,
}

impl Members {
    pub(super) fn is_reserved(&self, number: i32) -> bool {
        self.reserved.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }
}

impl Tables {
    /// Flattens `set`, leaving out the well-known files that every set carries along.
    pub(super) fn of(set: &FileDescriptorSet) -> Self {
        let mut tables = Self::default();
        for file in set.file.iter().filter(|file| !file.package().starts_with("google.")) {
            tables.add_file(file);
        }
        tables
    }

    fn add_file(&mut self, file: &FileDescriptorProto) {
        let package = file.package();
        for message in &file.message_type {
            self.add_message(package, message);
        }
        for one in &file.enum_type {
            self.add_enum(package, one);
        }
        for service in &file.service {
            self.add_service(package, service);
        }
    }

    fn add_message(&mut self, scope: &str, message: &DescriptorProto) {
        let name = join(scope, message.name());
        for nested in &message.nested_type {
            self.add_message(&name, nested);
        }
        for one in &message.enum_type {
            self.add_enum(&name, one);
        }
        let members = message.field.iter().map(|field| {
            (field.number(), (field.name().to_owned(), type_in_words(message, field)))
        });
        // The end of a message's range is exclusive, that of an enum's range is not.
        let reserved = message.reserved_range.iter().map(|range| (range.start(), range.end() - 1));
        let members = Members { members: members.collect(), reserved: reserved.collect() };
        self.messages.insert(name, members);
    }

    fn add_enum(&mut self, scope: &str, one: &EnumDescriptorProto) {
        let values = one.value.iter();
        let members =
            values.map(|value| (value.number(), (value.name().to_owned(), String::new())));
        let reserved = one.reserved_range.iter().map(|range| (range.start(), range.end()));
        let members = Members { members: members.collect(), reserved: reserved.collect() };
        self.enums.insert(join(scope, one.name()), members);
    }

    fn add_service(&mut self, package: &str, service: &ServiceDescriptorProto) {
        let methods = service.method.iter().map(|method| {
            let stream = |on| if on { "stream of " } else { "" };
            let signature = format!(
                "{}{} -> {}{}",
                stream(method.client_streaming()),
                method.input_type().trim_start_matches('.'),
                stream(method.server_streaming()),
                method.output_type().trim_start_matches('.'),
            );
            (method.name().to_owned(), signature)
        });
        self.services.insert(join(package, service.name()), methods.collect());
    }
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

/// Everything about a field that its reader on the wire or in code depends on.
fn type_in_words(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let repeated = if field.label() == Label::Repeated { "repeated " } else { "" };
    let optional = if field.proto3_optional() { "optional " } else { "" };
    let scalar = match field.r#type() {
        Type::Message | Type::Enum | Type::Group => {
            field.type_name().trim_start_matches('.').to_owned()
        }
        other => other.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    };
    let group = match field.oneof_index {
        Some(index) if !field.proto3_optional() => {
            let oneof = usize::try_from(index).ok().and_then(|at| message.oneof_decl.get(at));
            format!(" in oneof {}", oneof.map_or("?", |oneof| oneof.name()))
        }
        _ => String::new(),
    };
    format!("{repeated}{optional}{scalar}{group}")
}
