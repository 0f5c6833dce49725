//! Why an action cannot be taken: names the field and what is allowed.

use model::ParamError;

/// An action that does not fit the catalogue or the topology. Nothing has happened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionError {
    /// The action; empty where its name is what is wrong.
    pub action: String,
    /// The field; empty where the whole action is wrong.
    pub field: String,
    /// One sentence with the allowed values.
    pub message: String,
}

impl ActionError {
    /// An error of `field`.
    pub fn field(field: &str, message: impl Into<String>) -> ActionError {
        ActionError { action: String::new(), field: field.into(), message: message.into() }
    }

    /// An error of the whole action.
    pub fn whole(message: impl Into<String>) -> ActionError {
        ActionError::field("", message)
    }

    /// The same error of the action `name`.
    #[must_use]
    pub fn of(self, name: &str) -> ActionError {
        ActionError { action: name.into(), ..self }
    }
}

impl From<ParamError> for ActionError {
    fn from(error: ParamError) -> Self {
        ActionError::field(&error.name, error.message)
    }
}

impl std::fmt::Display for ActionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.action.is_empty() {
            write!(f, "{}: ", self.action)?;
        }
        if !self.field.is_empty() {
            write!(f, "`{}`: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ActionError {}
