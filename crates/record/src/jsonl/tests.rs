//! Tests: the canonical bytes, and what is said about bytes that are none.

use super::*;
use crate::record::tests::sample;

const LINES: [&str; 6] = [
    r#"{"episode":"000000000000feed","format":1,"scenario":"{\"name\":\"lock \\\"storm\\\"\",\"share\":0.25}","scenario_name":"db/lock-storm","seed":18446744073709551614,"world":1}"#,
    r#"{"input":{"actor":"agent","body":"{\"verb\":\"scale_component\",\"value\":1}","seq":1,"tick":0}}"#,
    r#"{"step":{"from":0,"impact_micro":-1,"number":1,"reply":"REPLY","to":30,"world":"ffffffffffffffff0000000000000001"}}"#,
    r#"{"input":{"actor":"control","body":"{\"inject\":\"line\\nbreak é\"}","seq":2,"tick":30}}"#,
    r#"{"step":{"from":30,"impact_micro":0,"number":2,"reply":"REPLY","to":30,"world":"ffffffffffffffff0000000000000002"}}"#,
    r#"{"end":{"reason":"step_limit","tick":30}}"#,
];

#[test]
fn the_bytes_are_as_documented() {
    let record = sample();
    let replies: Vec<_> = record.steps().map(|step| step.reply.to_string()).collect();
    let expected = [
        LINES[0].to_string(),
        LINES[1].to_string(),
        LINES[2].replace("REPLY", &replies[0]),
        LINES[3].to_string(),
        LINES[4].replace("REPLY", &replies[1]),
        LINES[5].to_string(),
    ];
    assert_eq!(record.to_jsonl(), expected.join("\n") + "\n");
}

#[test]
fn bytes_and_record_are_the_same_thing() {
    let record = sample();
    let bytes = record.to_jsonl();
    let back = Record::from_jsonl(bytes.as_bytes()).unwrap();
    assert_eq!(back, record);
    assert_eq!(back.to_jsonl(), bytes);
    assert_eq!(Record::from_jsonl(bytes.trim_end().as_bytes()).unwrap(), record);
}

#[test]
fn keys_are_sorted_on_every_level() {
    fn keys_sorted(text: &str) -> bool {
        // Read in the order of the text, whatever kind of map the reader has.
        let keys: Vec<_> = text
            .split(['{', ','])
            .filter_map(|part| part.strip_prefix('"')?.split_once("\":").map(|(key, _)| key))
            .collect();
        keys.is_sorted()
    }
    assert!(!keys_sorted(r#"{"b":1,"a":2}"#));
    for entry in sample().entries.iter_mut() {
        if let Entry::Input(input) = entry {
            input.body = "[]".into();
        }
        let line = entry.to_line();
        let inner = line.split_once(':').unwrap().1;
        assert!(keys_sorted(inner), "{line}");
    }
}

#[test]
fn another_order_and_spacing_reads_the_same() {
    let record = sample();
    let bytes = record.to_jsonl();
    let shuffled: String = bytes
        .lines()
        .map(|line| match line {
            line if line.starts_with(r#"{"end""#) => {
                "{ \"end\" : {\"tick\":30, \"reason\":\"step_limit\"} }\r\n".to_string()
            }
            line => format!("{line}\n"),
        })
        .collect();
    assert_ne!(shuffled, bytes);
    assert_eq!(Record::from_jsonl(shuffled.as_bytes()).unwrap().to_jsonl(), bytes);
}

#[test]
fn a_bad_line_is_named_by_its_number() {
    let good = sample().to_jsonl();
    let with = |at: usize, line: &str| {
        let mut lines: Vec<_> = good.lines().collect();
        lines[at - 1] = line;
        lines.join("\n")
    };
    let cut = good.trim_end().strip_suffix('}').unwrap().to_string();
    for (bytes, at, said) in [
        (String::new(), 1, "is empty"),
        (with(1, "[]"), 1, "expected"),
        (with(1, "garbage"), 1, "expected value (column 1)"),
        (with(3, ""), 3, "is empty"),
        (with(3, r#"{"reset":{}}"#), 3, "unknown variant `reset`"),
        (with(4, r#"{"end":{"tick":30}}"#), 4, "missing field `reason`"),
        (with(6, r#"{"end":{"reason":"tired","tick":30}}"#), 6, "unknown variant `tired`"),
        (with(6, r#"{"end":{"reason":"horizon","tick":30,"at":1}}"#), 6, "unknown field `at`"),
        (with(2, r#"{"end":{"reason":"horizon","tick":30}} x"#), 2, "trailing"),
        (good.replace("ffffffffffffffff0000000000000002", "ff"), 5, "32 hexadecimal digits"),
        (good.replace("000000000000feed", "feed"), 1, "16 hexadecimal digits"),
        (cut, 6, "EOF"),
    ] {
        let Err(RecordError::Line { line, problem }) = Record::from_jsonl(bytes.as_bytes()) else {
            panic!("{bytes} should be refused");
        };
        assert_eq!(line, at, "{problem}");
        assert!(problem.contains(said), "{problem} should contain {said}");
    }
    let mut latin = good.clone().into_bytes();
    latin.extend(b"{\"end\":{\"reason\":\"\xe9\"");
    assert!(matches!(Record::from_jsonl(&latin), Err(RecordError::Line { line: 7, .. })));
}

#[test]
fn a_later_format_is_named_though_its_fields_are_unknown() {
    let bytes = br#"{"format":2,"planet":"world"}"#;
    assert_eq!(
        Record::from_jsonl(bytes),
        Err(RecordError::OtherFormat { theirs: 2, ours: FORMAT })
    );
}
