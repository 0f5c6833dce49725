//! The control plane on the wire: the model to and from `mayday.control.v1`, bit for bit. Nothing
//! is checked here but that it fits; what a value means is the machines' affair.

pub mod exchange;
pub mod moved;
pub mod order;

pub use mesh::wire::{WireError, get, narrow, put};

/// The list without its trailing +0.0.
pub fn numbers_out(values: &[f64]) -> Vec<f64> {
    let used = values.iter().rposition(|value| value.to_bits() != 0).map_or(0, |at| at + 1);
    values[..used].to_vec()
}

/// The array that [`numbers_out`] shortened.
///
/// # Errors
/// Where there are more than `N` numbers.
pub fn numbers_in<const N: usize>(
    field: &'static str,
    values: &[f64],
) -> Result<[f64; N], WireError> {
    let mut array = [0.0; N];
    let Some(used) = array.get_mut(..values.len()) else {
        return Err(WireError::new(field, format!("{} numbers, at most {N}", values.len())));
    };
    used.copy_from_slice(values);
    Ok(array)
}

/// A part that has to be there.
///
/// # Errors
/// Where it is not.
pub fn present<T>(field: &'static str, part: Option<T>) -> Result<T, WireError> {
    part.ok_or_else(|| WireError::new(field, "is missing"))
}

#[cfg(test)]
pub(crate) mod samples;
