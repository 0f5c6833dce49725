//! Means, and how far they can be trusted.

/// Mean of a sample with half the width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Size of the sample.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval (Student's t); absent for fewer than two values.
    pub ci95: Option<f64>,
}

/// Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// For more.
const T95_LARGE: f64 = 1.96;

impl Mean {
    /// Of these values; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Mean> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let n = count as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let ci95 = (count > 1).then(|| {
            let t = T95.get(count - 2).copied().unwrap_or(T95_LARGE);
            t * (squares / (n - 1.0) / n).sqrt()
        });
        Some(Mean { count, mean, ci95 })
    }

    /// For a table, with this many decimals.
    pub fn show(mean: Option<Mean>, decimals: usize) -> String {
        match mean {
            None => "–".into(),
            Some(Mean { mean, ci95: None, .. }) => format!("{mean:.decimals$}"),
            Some(Mean { mean, ci95: Some(ci95), .. }) => {
                format!("{mean:.decimals$} ± {ci95:.decimals$}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((mean.count, mean.mean), (4, 2.5));
        // s = 1.29099, over √4, times t(3) = 3.182
        assert!((mean.ci95.unwrap() - 2.054).abs() < 1e-3, "{mean:?}");
        assert_eq!(Mean::of(&[0.5]).unwrap().ci95, None);
        assert_eq!(Mean::of(&[]), None);
        assert_eq!(Mean::show(Mean::of(&[0.5, 0.5]), 2), "0.50 ± 0.00");
        assert_eq!(Mean::show(None, 2), "–");
    }
}
