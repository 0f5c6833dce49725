//! How programs write sizes, modes, states and tables; and the shortening of long output.

use model::ProcessState;

/// `15G`, `4.0K`, as `-h` options have it.
pub(crate) fn human(bytes: f64) -> String {
    if bytes < 1024.0 {
        return format!("{bytes:.0}");
    }
    let (mut value, mut units) = (bytes / 1024.0, "KMGTP".chars());
    let mut unit = units.next().unwrap_or('K');
    while value >= 1024.0 {
        value /= 1024.0;
        unit = units.next().unwrap_or('P');
    }
    let up = value.ceil();
    if value < 9.95 { format!("{value:.1}{unit}") } else { format!("{up:.0}{unit}") }
}

/// Whole kibibytes, rounded up to blocks of 4.
pub(crate) fn blocks(bytes: f64) -> f64 {
    (bytes / 4096.0).ceil() * 4.0
}

/// `drwxr-xr-x`.
pub(crate) fn mode(folder: bool, mode: u32) -> String {
    let mut out = String::from(if folder { "d" } else { "-" });
    for shift in [6, 3, 0] {
        let bits = mode >> shift & 7;
        out.push(if bits & 4 != 0 { 'r' } else { '-' });
        out.push(if bits & 2 != 0 { 'w' } else { '-' });
        out.push(match (bits & 1 != 0, shift == 0 && mode & 0o1000 != 0) {
            (true, true) => 't',
            (false, true) => 'T',
            (true, false) => 'x',
            (false, false) => '-',
        });
    }
    out
}

/// `S`, `R`, `T` or `Z`.
pub(crate) fn state(state: ProcessState) -> char {
    match state {
        ProcessState::Sleeping => 'S',
        ProcessState::Running => 'R',
        ProcessState::Stopped => 'T',
        ProcessState::Zombie => 'Z',
    }
}

/// The name that tools show for a process: the program, at most 15 characters.
pub(crate) fn comm(command: &str) -> String {
    let first = command.split([' ', ':']).next().unwrap_or(command);
    let name = crate::tree::name(first.trim_matches(|c| c == '[' || c == ']'));
    name.chars().take(15).collect()
}

/// Columns that are as wide as they need to be; `right` lists the right-aligned ones.
pub(crate) fn table(rows: &[Vec<String>], right: &[usize], gap: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(c, cell)| match (right.contains(&c), c + 1 == row.len()) {
                (true, _) => format!("{cell:>0$}", widths[c]),
                (false, true) => cell.clone(),
                (false, false) => format!("{cell:<0$}", widths[c]),
            })
            .collect();
        out += cells.join(gap).trim_end();
        out.push('\n');
    }
    out
}

/// A text within a limit: head and tail of it, and how much was left out between them.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_string();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut head, mut tail) = (0, lines.len());
    let (mut used, half) = (0, limit / 2);
    while head < lines.len() && used + lines[head].len() <= half {
        used += lines[head].len();
        head += 1;
    }
    used = 0;
    while tail > head && used + lines[tail - 1].len() <= half {
        tail -= 1;
        used += lines[tail].len();
    }
    if head == 0 && tail == lines.len() {
        let (front, back) = (boundary(text, half), boundary(text, text.len() - half));
        let left_out = back - front;
        return format!(
            "{}\n[... {left_out} bytes left out ...]\n{}",
            &text[..front],
            &text[back..]
        );
    }
    let left_out = tail - head;
    format!(
        "{}[... {left_out} lines left out ...]\n{}",
        lines[..head].concat(),
        lines[tail..].concat()
    )
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_modes_look_as_usual() {
        for (bytes, expected) in [
            (0.0, "0"),
            (512.0, "512"),
            (4096.0, "4.0K"),
            (16_106_127_360.0, "15G"),
            (5_400_000_000.0, "5.0G"),
        ] {
            assert_eq!(human(bytes), expected);
        }
        assert_eq!(mode(true, 0o1777), "drwxrwxrwt");
        assert_eq!(mode(false, 0o640), "-rw-r-----");
        assert_eq!(comm("nginx: master process /usr/sbin/nginx"), "nginx");
        assert_eq!(comm("/usr/bin/api-gateway --config x"), "api-gateway");
    }

    #[test]
    fn long_output_keeps_head_and_tail() {
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let short = shorten(&text, 100);
        assert!(short.starts_with("line 0\n") && short.ends_with("line 99\n"));
        assert!(short.contains("lines left out"), "{short}");
        assert_eq!(shorten("a\n", 100), "a\n");
        assert!(shorten(&"x".repeat(500), 100).contains("[... 400 bytes left out ...]"));
    }
}
