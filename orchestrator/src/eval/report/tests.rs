//! What reports say, whole and cut short.

use super::*;
use crate::eval::journal::tests::row;
use crate::eval::outcome::{Curves, Ending};
use crate::eval::plan::tests::plan;

/// All rows of the plan: a/x scores `fault`, b/y scores 1.
fn rows(fault: f64) -> BTreeMap<Job, Row> {
    let each = plan().jobs().into_iter().map(|job| {
        let mut row = row(job.seed, if job.scenario == "a/x" { fault } else { 1.0 });
        row.job = job.clone();
        row.assessment.curves = Curves {
            every_s: 10,
            horizon_s: 20,
            end_s: 30,
            agent: vec![0, 1, 2, 2],
            noop: vec![0, 1000, 2000, 3000],
            reference: vec![0, 0, 0, 1],
        };
        (job, row)
    });
    each.collect()
}

#[test]
fn faults_and_healthy_are_apart_and_each_episode_has_a_picture() {
    let (plan, rows) = (plan(), rows(0.5));
    let report = Report::new(&plan, &rows, &[], 0.9);
    assert!(report.is_complete());
    let json = report.json();
    assert_eq!(json["summary"]["faults"]["pass_at_1"], 0.0);
    assert_eq!(json["summary"]["healthy"]["pass_hat"], serde_json::json!([1.0, 1.0]));
    assert_eq!(json["summary"]["all"]["score"]["mean"], 0.75);
    assert_eq!(json["episodes"].as_array().unwrap().len(), 8);
    assert_eq!(json["episodes"][0]["curves"]["noop"][3], 3000);
    let page = report.page();
    assert_eq!(page.matches("<figure").count(), 8);
    assert_eq!(page.matches("<path").count(), 24);
    for outside in ["http://", "https://", "<script", "@import", "url("] {
        assert!(!page.contains(outside), "it loads nothing: {outside}");
    }
    let markdown = report.markdown();
    assert!(
        markdown.contains("| faults | 4 | 0.0 % | 0.0 % | 0.500 (0.500–0.500) |"),
        "{markdown}"
    );
    assert!(markdown.contains("| a/x | 4 | 1 | 0.500 ✗ |"), "{markdown}");
    assert!(report.table().to_string().contains("pass^2"));
    assert!(Report::new(&plan, &rows, &[], 0.5).markdown().contains("| faults | 4 | 100.0 % |"));
}

#[test]
fn what_is_missing_is_said_and_names_do_no_harm() {
    let (mut plan, mut rows) = (plan(), rows(0.0));
    plan.agent = "<script>|x`".into();
    let (job, mut absent) = rows.pop_first().unwrap();
    absent.assessment.end = Ending::Absent;
    absent.later_resets = 3;
    let next = rows.pop_first().unwrap().0;
    rows.insert(job, absent);
    let failed = [(next, "a component is gone".to_string())];
    let report = Report::new(&plan, &rows, &failed, 0.9);
    assert!(!report.is_complete() && report.absent() == 1);
    for text in [report.page(), report.markdown()] {
        for says in [
            "1 episodes were never begun",
            "3 resets came after",
            "1 episodes could not be scored",
            "1 episodes are not played",
            "a score of 0.9 or more",
        ] {
            assert!(text.contains(says), "{says}: {text}");
        }
    }
    assert!(report.page().contains("&lt;script&gt;|x`") && !report.page().contains("<script"));
    assert!(report.markdown().starts_with("# Evaluation of \\<script>\\|x\\`"));
    assert_eq!(report.json()["failed"][0]["error"], "a component is gone");
}

#[test]
fn files_are_written_whole() {
    let (plan, rows, folder) = (plan(), rows(1.0), tempfile::tempdir().unwrap());
    let report = Report::new(&plan, &rows, &[], 0.9);
    report.write(folder.path()).unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["report.html", "report.json", "report.md"]);
    let error = report.write(&folder.path().join("nowhere")).unwrap_err().to_string();
    assert!(error.contains("report.json"), "{error}");
}
