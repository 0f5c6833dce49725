//! Pieces of the standard normal distribution that cost at most one exponential.
//!
//! All are rational or logistic approximations with a stated error, so that a tick needs no table
//! and no platform function: the same bits come out on every machine.

use libm::exp;

/// √(2π).
pub const SQRT_TAU: f64 = 2.506_628_275;

/// Mills' ratio Φ(−y)/φ(y) for `y ≥ 0`; relative error below 7.4e−5 (rational fit).
#[inline]
pub fn mills(y: f64) -> f64 {
    (6.59952 + 4.05484 * y + y * y) / (5.26527 + 7.44692 * y + 4.06119 * y * y + y * y * y)
}

/// Density φ(z) of the standard normal; exactly 0 far out.
#[inline]
pub fn density(z: f64) -> f64 {
    let half = z * z / 2.0;
    if half > 60.0 { 0.0 } else { exp(-half) / SQRT_TAU }
}

/// Upper tail 1 − Φ(z); absolute error below 1.5e−4 (logistic of a cubic, Page 1977).
#[inline]
pub fn tail(z: f64) -> f64 {
    let t = TAIL_LINEAR * z + TAIL_CUBIC * z * z * z;
    if t > 60.0 {
        0.0
    } else if t < -60.0 {
        1.0
    } else {
        1.0 / (1.0 + exp(t))
    }
}

/// Inverse of [`tail`]: the `z` whose upper tail is `p` in (0, 1). It inverts the approximation,
/// not the normal, so that drawn latencies and time-out shares agree exactly.
pub fn tail_inverse(p: f64) -> f64 {
    let p = p.clamp(1e-15, 1.0 - 1e-15);
    // z³ + 3a·z = 2b has one real root (Cardano), since a > 0.
    let a = TAIL_LINEAR / TAIL_CUBIC / 3.0;
    let b = libm::log((1.0 - p) / p) / TAIL_CUBIC / 2.0;
    let root = (b * b + a * a * a).sqrt();
    libm::cbrt(b + root) + libm::cbrt(b - root)
}

const TAIL_LINEAR: f64 = 1.5976;
const TAIL_CUBIC: f64 = 0.070566;

/// Mean excess E (Y − d)⁺ and tail P(Y > d) of a standard normal Y, from one exponential.
#[inline]
pub fn excess(d: f64) -> (f64, f64) {
    let y = d.abs();
    let phi = density(y);
    let m = mills(y);
    let over = (phi * (1.0 - y * m)).max(0.0);
    if d < 0.0 { (over - d, 1.0 - phi * m) } else { (over, phi * m) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ by Simpson's rule: slow, exact enough to judge the approximations.
    fn upper(z: f64) -> f64 {
        let n = 20_000;
        let h = (12.0 - z) / n as f64;
        let f = |x: f64| exp(-x * x / 2.0) / (std::f64::consts::TAU).sqrt();
        let inner: f64 =
            (1..n).map(|i| f(z + i as f64 * h) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (f(z) + f(12.0) + inner) * h / 3.0
    }

    #[test]
    fn tails_are_within_their_stated_errors() {
        for i in -40..=40 {
            let z = f64::from(i) / 10.0;
            assert!((tail(z) - upper(z)).abs() < 1.5e-4, "z = {z}");
            if z >= 0.0 {
                let exact = upper(z) / density(z);
                assert!((mills(z) / exact - 1.0).abs() < 1e-4, "mills {z}");
            }
            let (over, beyond) = excess(z);
            let exact = density(z) - z * upper(z);
            assert!((over - exact).abs() < 5e-5, "excess {z}: {over} {exact}");
            assert!((beyond - upper(z)).abs() < 5e-5, "beyond {z}");
        }
    }

    #[test]
    fn the_inverse_undoes_the_tail() {
        for i in 1..1000 {
            let p = f64::from(i) / 1000.0;
            assert!((tail(tail_inverse(p)) - p).abs() < 1e-12, "p = {p}");
        }
        assert_eq!(tail(f64::INFINITY), 0.0);
    }
}
