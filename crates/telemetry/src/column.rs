//! 16-bit columns: 6 bits of exponent and 10 of mantissa taken from the float's own bits, so no
//! logarithm is needed. Relative error at most 2⁻¹¹; range 2⁻³³ (below: 0) to 2³¹.

const EXPONENT_MIN: i64 = -33;

/// Packs a value ≥ 0. Negative values and NaN become 0, large ones the largest.
pub fn pack(value: f64) -> u16 {
    let rounded = f64::from_bits(value.to_bits().wrapping_add(1 << 41));
    if value.is_nan() || value <= 0.0 {
        return 0;
    }
    let bits = rounded.to_bits();
    let exponent = (bits >> 52) as i64 - 1023 - EXPONENT_MIN;
    if exponent < 0 {
        return 0;
    }
    if exponent > 63 {
        return u16::MAX;
    }
    (exponent as u16) << 10 | (bits >> 42 & 0x3ff) as u16
}

/// The value a code stands for.
pub fn unpack(code: u16) -> f64 {
    if code == 0 {
        return 0.0;
    }
    let exponent = (i64::from(code >> 10) + EXPONENT_MIN + 1023) as u64;
    f64::from_bits(exponent << 52 | u64::from(code & 0x3ff) << 42)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_a_relative_error_of_a_two_thousandth() {
        let mut value = 2e-10;
        while value < 2e9 {
            let back = unpack(pack(value));
            assert!((back / value - 1.0).abs() <= 1.0 / 2048.0, "{value} became {back}");
            assert_eq!(pack(back), pack(value), "packing again changes nothing");
            value *= 1.0137;
        }
    }

    #[test]
    fn the_ends_are_safe() {
        for (value, expected) in
            [(0.0, 0.0), (-1.0, 0.0), (f64::NAN, 0.0), (1e-12, 0.0), (1.0, 1.0)]
        {
            assert_eq!(unpack(pack(value)), expected);
        }
        assert_eq!(pack(f64::INFINITY), u16::MAX);
        assert!(unpack(u16::MAX) > 2e9);
    }
}
