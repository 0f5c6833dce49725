//! The messages of all services as JSON, by the JSON mapping of protocol buffers.

use crate::failure::Failure;
use prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, MethodDescriptor,
    SerializeOptions,
};
use serde_json::Value;

/// Descriptors of all services of this workspace.
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
}

impl Schema {
    /// Of the protos that this program was built from.
    ///
    /// # Errors
    /// Never where it was built right: the descriptors are in it.
    pub fn new() -> Result<Schema, Failure> {
        let pool = DescriptorPool::decode(proto::DESCRIPTOR);
        pool.map(|pool| Schema { pool }).map_err(Failure::failed)
    }

    /// The method of a path `/package.Service/Method` among `services`.
    pub(crate) fn method(&self, path: &str, services: &[&str]) -> Option<MethodDescriptor> {
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let served = services.contains(&service);
        let service = served.then(|| self.pool.get_service_by_name(service))??;
        let found = service.methods().find(|one| one.name() == method);
        found.filter(|method| !method.is_client_streaming() && !method.is_server_streaming())
    }

    /// Paths of all methods of these services.
    pub(crate) fn paths(&self, services: &[&str]) -> Vec<String> {
        let mut paths = Vec::new();
        for service in services.iter().filter_map(|name| self.pool.get_service_by_name(name)) {
            let name = service.full_name();
            paths.extend(service.methods().map(|method| format!("/{name}/{}", method.name())));
        }
        paths
    }

    /// A message as JSON.
    ///
    /// # Errors
    /// Where it is not of this build.
    pub fn json<M: Message>(&self, name: &str, message: &M) -> Result<Value, Failure> {
        let unfit = || Failure::failed(format!("{name} cannot be written as JSON"));
        let descriptor = self.pool.get_message_by_name(name).ok_or_else(unfit)?;
        let text = encode(&descriptor, &message.encode_to_vec()).map_err(|_| unfit())?;
        serde_json::from_slice(&text).map_err(|_| unfit())
    }
}

/// The bytes of a message for its JSON.
///
/// # Errors
/// Which field does not fit.
pub(crate) fn decode(of: MessageDescriptor, json: &[u8]) -> Result<Vec<u8>, String> {
    // Nothing is a message without fields.
    let json = if json.iter().all(u8::is_ascii_whitespace) { b"{}" } else { json };
    let mut reader = serde_json::Deserializer::from_slice(json);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let message = DynamicMessage::deserialize_with_options(of, &mut reader, &options);
    let message = message.map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(message.encode_to_vec())
}

/// The JSON of a message; fields without a value are shown too.
///
/// # Errors
/// Where the bytes are no such message.
pub(crate) fn encode(of: &MessageDescriptor, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let message = DynamicMessage::decode(of.clone(), bytes).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    let options = SerializeOptions::new().skip_default_fields(false);
    let written =
        message.serialize_with_options(&mut serde_json::Serializer::new(&mut text), &options);
    written.map(|()| text).map_err(|error| error.to_string())
}
