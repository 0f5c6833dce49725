//! `date`: what the host's clock says; with `-s`, something else.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["date"],
    summary: "Display date and time in the given FORMAT, or set the system date",
    usage: "date [-Ru] [-d STRING] [-s STRING] [+FORMAT]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("utc", 'u'), ("rfc-email", 'R'), ("iso-8601", 'I'), ("date", 'd'), ("set", 's')];
    let given = call.options("uRId:s:", long)?;
    let now = call.shell.date().await?;
    let mut shown = now;
    for (letter, sets) in [('d', false), ('s', true)] {
        let Some(text) = given.value(letter).map(str::to_string) else { continue };
        let Some(unix) = parse(&text, now.unix) else {
            return call.fail(1, format!("invalid date '{text}'"));
        };
        shown = crate::clock::Date::unix(unix);
        if sets {
            if !call.shell.is_root() {
                return call.fail(1, "cannot set date: Operation not permitted");
            }
            let host = call.host().await?;
            let offset = (crate::clock::Date::tick(unix).0 - host.now.0) as f64;
            if let Err(reason) = call.order("step_clock", &[("offset", offset.into())]).await? {
                return call.fail(1, format!("cannot set date: {reason}"));
            }
        }
    }
    if let Some(operand) = given.first() {
        let Some(format) = operand.strip_prefix('+') else {
            return call.fail(1, format!("invalid date '{operand}'"));
        };
        match shown.format(format) {
            Ok(text) => call.say(text),
            Err(c) => return call.fail(1, format!("the conversion %{c} is not supported by this terminal")),
        }
        return Ok(0);
    }
    let text = match (given.has('R'), given.has('I')) {
        (true, _) => shown.format("%a, %d %b %Y %T +0000"),
        (_, true) => shown.format("%F"),
        _ => shown.format("%a %b %e %T UTC %Y"),
    };
    call.say(text.unwrap_or_default());
    Ok(0)
}

/// `@1234`, `2026-04-08 10:30:00`, `10:30`, `5 minutes ago`.
fn parse(text: &str, now: i64) -> Option<i64> {
    let text = text.trim().trim_end_matches('Z').trim_end_matches("UTC").trim();
    if let Some(unix) = text.strip_prefix('@') {
        return unix.parse().ok().filter(|u: &i64| u.abs() < 1 << 40);
    }
    match text {
        "now" | "" => return Some(now),
        "today" => return Some(now),
        "yesterday" => return Some(now - 86_400),
        _ => {}
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [number, unit, "ago"] = words[..] {
        let number: i64 = number.parse().ok()?;
        let unit = match unit.trim_end_matches('s') {
            "second" | "sec" => 1,
            "minute" | "min" => 60,
            "hour" => 3600,
            "day" => 86_400,
            _ => return None,
        };
        let then = number.checked_mul(unit).map(|back| now.saturating_sub(back));
        return then.filter(|u| u.abs() < 1 << 40);
    }
    let text = text.replace('T', " ");
    let (day, time) = match text.split_once(' ') {
        Some((day, time)) => (day, time),
        None if text.contains(':') => ("", text.as_str()),
        None => (text.as_str(), "00:00:00"),
    };
    let midnight = match day {
        "" => now - now.rem_euclid(86_400),
        _ => {
            let mut parts = day.split('-').map(str::parse::<i64>);
            unix(parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?)?
        }
    };
    let mut parts = time.trim().split(':').map(str::parse::<i64>);
    let (hour, minute) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let second = parts.next().unwrap_or(Ok(0)).ok()?;
    let fits = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..61).contains(&second);
    fits.then_some(midnight + hour * 3600 + minute * 60 + second)
}

/// Midnight of a day, in seconds since 1970.
pub(super) fn unix(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let y = if month <= 2 { year - 1 } else { year };
    let (era, yoe) = (y.div_euclid(400), y.rem_euclid(400));
    let mp = (month + 9) % 12;
    let doy = (153 * mp + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    Some((era * 146_097 + doe - 719_468) * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        let now = 1_775_644_200;
        assert_eq!(unix(2026, 4, 8), Some(now - 37_800));
        for (text, expected) in [
            ("@5", Some(5)),
            ("2026-04-08 10:30:00", Some(now)),
            ("2026-04-08T10:30", Some(now)),
            ("10:31", Some(now + 60)),
            ("5 minutes ago", Some(now - 300)),
            ("soon", None),
            ("25:00", None),
        ] {
            assert_eq!(parse(text, now), expected, "{text}");
        }
    }
}
