//! What is put off and done too late makes answers no good, and nothing else: it fails no call,
//! takes no slot and is never tried again.

use flow::{EdgeSpec, Knobs, TierSpec, TierState, UsersEdge, UsersSpec};
use model::{CLASSES_MAX, Calls, EdgeId, PerClass, Report};

/// Two classes: the first calls the deferring callee once a request, the second twice.
fn spec() -> TierSpec {
    let mut calls = [0.0; CLASSES_MAX];
    (calls[0], calls[1]) = (1.0, 2.0);
    let edge = EdgeSpec { id: EdgeId(1), calls, ..EdgeSpec::default() };
    TierSpec { classes: 2, edges: vec![edge], ..TierSpec::default() }
}

fn settled(late: f64) -> (Report, Calls) {
    let (spec, knobs) = (spec(), Knobs::calm(4.0));
    let mut state = TierState::new(&spec);
    let mut calls = Calls::none(EdgeId(0));
    (calls.rate[0], calls.rate[1]) = (100.0, 50.0);
    let below = Report { overdue: [late; CLASSES_MAX], ..Report::IDEAL };
    for _ in 0..60 {
        state.round(&spec, &knobs, &[calls], &[below], 1.0);
    }
    let last = state.last();
    (last.report, last.calls[0])
}

#[test]
fn it_is_passed_up_by_the_number_of_calls_and_fails_none() {
    let (calm, sent) = settled(0.0);
    let (report, still) = settled(0.2);
    assert_eq!(calm.overdue, [0.0; CLASSES_MAX]);
    assert!((report.overdue[0] - 0.2).abs() < 1e-5, "{:?}", report.overdue);
    assert!((report.overdue[1] - 0.36).abs() < 1e-5, "{:?}", report.overdue);
    assert_eq!(Report { overdue: calm.overdue, ..report }, calm);
    assert_eq!(sent, still);
}

#[test]
fn users_get_an_answer_that_is_no_good_and_do_not_try_again() {
    let spec = UsersSpec { retries: 2, classes: 2, ..UsersSpec::default() };
    let users = UsersEdge::new(spec);
    let mut demand: PerClass = [0.0; CLASSES_MAX];
    (demand[0], demand[1]) = (10.0, 20.0);
    let mut report = Report::IDEAL;
    report.overdue[1] = 0.25;
    let outcome = users.judge(&demand, &report);
    assert_eq!((outcome.good[0], outcome.good[1]), (10.0, 15.0));
    assert_eq!((outcome.answered[1], outcome.success, outcome.attempts), (20.0, 1.0, 1.0));
    assert_eq!(users.offer(&demand, &report).rate, demand);
}
