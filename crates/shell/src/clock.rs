//! Ticks as dates. The page comes at a fixed moment; every host's clock is that plus its error.

use model::Tick;

/// The page, in seconds since 1970: 2026-04-08 10:30:00 UTC.
const PAGE: i64 = 1_775_644_200;
/// Hosts have been up since this long before the page, seconds.
pub(crate) const UPTIME: i64 = 45 * 86_400 + 3 * 3600 + 22 * 60;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A date and time in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) unix: i64,
    pub(crate) year: i64,
    pub(crate) month: usize,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

impl Date {
    pub(crate) fn at(tick: Tick) -> Date {
        Date::unix(PAGE + tick.0)
    }

    /// Howard Hinnant's civil-from-days.
    pub(crate) fn unix(unix: i64) -> Date {
        let (days, secs) = (unix.div_euclid(86_400), unix.rem_euclid(86_400));
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        Date {
            unix,
            year: yoe + era * 400 + i64::from(month <= 2),
            month: month as usize,
            day: doy - (153 * mp + 2) / 5 + 1,
            hour: secs / 3600,
            minute: secs / 60 % 60,
            second: secs % 60,
        }
    }

    pub(crate) fn tick(unix: i64) -> Tick {
        Tick(unix - PAGE)
    }

    pub(crate) fn weekday(&self) -> &'static str {
        DAYS[self.unix.div_euclid(86_400).rem_euclid(7) as usize]
    }

    pub(crate) fn month_name(&self) -> &'static str {
        MONTHS[self.month - 1]
    }

    /// `10:30:00`.
    pub(crate) fn time(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }

    /// `Apr  8 10:30`, as `ls -l` has it.
    pub(crate) fn listing(&self) -> String {
        format!("{} {:2} {:02}:{:02}", self.month_name(), self.day, self.hour, self.minute)
    }

    /// `Apr 08 10:30:00`, as a journal has it.
    pub(crate) fn journal(&self) -> String {
        format!("{} {:02} {}", self.month_name(), self.day, self.time())
    }

    /// `2026-04-08`.
    pub(crate) fn iso(&self) -> String {
        format!("{}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// `Wed 2026-04-08 10:30:00 UTC`, as systemd has it.
    pub(crate) fn systemd(&self) -> String {
        format!("{} {} {} UTC", self.weekday(), self.iso(), self.time())
    }

    /// The date in a `strftime` format.
    ///
    /// # Errors
    /// Returns the conversion that is unknown.
    pub(crate) fn format(&self, format: &str) -> Result<String, char> {
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            match chars.next().unwrap_or('%') {
                'Y' => out += &self.year.to_string(),
                'm' => out += &format!("{:02}", self.month),
                'd' => out += &format!("{:02}", self.day),
                'e' => out += &format!("{:2}", self.day),
                'H' => out += &format!("{:02}", self.hour),
                'M' => out += &format!("{:02}", self.minute),
                'S' => out += &format!("{:02}", self.second),
                'N' => out += "000000000",
                's' => out += &self.unix.to_string(),
                'F' => out += &self.iso(),
                'T' => out += &self.time(),
                'R' => out += &format!("{:02}:{:02}", self.hour, self.minute),
                'a' => out += self.weekday(),
                'b' | 'h' => out += self.month_name(),
                'y' => out += &format!("{:02}", self.year % 100),
                'Z' => out += "UTC",
                'z' => out += "+0000",
                'n' => out.push('\n'),
                't' => out.push('\t'),
                '%' => out.push('%'),
                other => return Err(other),
            }
        }
        Ok(out)
    }
}

/// A duration as systemd writes it: `2min 5s ago` without the `ago`.
pub(crate) fn span(seconds: i64) -> String {
    let s = seconds.max(0);
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}min {}s", s / 60, s % 60),
        3600..86_400 => format!("{}h {}min", s / 3600, s / 60 % 60),
        _ => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_comes_on_a_wednesday_in_april() {
        let page = Date::at(Tick(0));
        assert_eq!(page.systemd(), "Wed 2026-04-08 10:30:00 UTC");
        assert_eq!(page.format("%F %T %a %%"), Ok("2026-04-08 10:30:00 Wed %".into()));
        assert_eq!(page.format("%q"), Err('q'));
        assert_eq!(Date::unix(951_782_400).iso(), "2000-02-29");
        assert_eq!(Date::at(Tick(-86_400)).listing(), "Apr  7 10:30");
    }
}
