//! The report for a browser: one file that loads nothing.

use super::chart::chart;
use super::{Report, decimals, percent, with_interval};
use crate::eval::journal::Row;
use crate::eval::plan::Subject;
use crate::eval::stats::Summary;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");

impl Report<'_> {
    /// The page.
    pub fn page(&self) -> String {
        let plan = self.plan;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "Evaluation of " (plan.agent) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { "Evaluation of " span.name { (plan.agent) } }
                        p.about {
                            (plan.scenarios.len()) " scenarios × " (plan.seeds.len()) " seeds × "
                            (plan.repeats) " plays · mayday " (plan.version) " · world revision "
                            (plan.world_revision) " · secret " code { (plan.secret) }
                        }
                        @if let Some(command) = &plan.command {
                            p.about { "Command: " code { (command) } }
                        }
                        @if !self.is_complete() {
                            p.warning {
                                "Not complete: " (self.played()) " of " (self.wanted())
                                " episodes are played and graded."
                            }
                        }
                    }
                    main {
                        (self.tiles())
                        (self.tables())
                        @for (subject, of) in &self.scenarios { (self.section(subject, of)) }
                        (self.unscored())
                        section {
                            h2 { "What the figures mean" }
                            ul { @for note in self.notes() { li { (note) } } }
                        }
                    }
                }
            }
        };
        page.into_string() + "\n"
    }

    fn tiles(&self) -> Markup {
        let [(_, faults), (_, healthy), (_, all)] = &self.groups;
        let k = self.plan.repeats;
        html! {
            div.tiles {
                (tile("pass@1", &percent(all.pass_at_1), &format!("{} of {} passed", all.passed,
                    all.episodes)))
                @if k > 1 {
                    (tile(&format!("pass^{k}"), &percent(self.pass_hat(all)),
                        &format!("all {k} plays of a world")))
                }
                (tile("mean score", &decimals(all.score.map(|s| s.mean), 3), &interval(all)))
                (tile("faults", &decimals(faults.score.map(|s| s.mean), 3), &interval(faults)))
                (tile("healthy", &decimals(healthy.score.map(|s| s.mean), 3), &interval(healthy)))
                (tile("cost", &format!("{} min", decimals(all.minutes, 1)),
                    &format!("simulated, per episode; {:.0} in all", all.minutes_total)))
            }
        }
    }

    fn tables(&self) -> Markup {
        let k = self.plan.repeats;
        let row = |name: Markup, of: &Summary| {
            html! {
                tr {
                    th scope="row" { (name) }
                    td { (of.episodes) }
                    td { (percent(of.pass_at_1)) }
                    @if k > 1 { td { (percent(self.pass_hat(of))) } }
                    td.bar { (bar(of)) }
                    td { (with_interval(of.score)) }
                    td { (decimals(of.impact, 1)) }
                    td { (decimals(of.steps, 1)) }
                    td { (decimals(of.minutes, 1)) }
                }
            }
        };
        html! {
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "" }
                            th { "episodes" }
                            th { "pass@1" }
                            @if k > 1 { th { "pass^" (k) } }
                            th { "" }
                            th { "score (95 %)" }
                            th { "impact [user-min]" }
                            th { "steps" }
                            th { "minutes" }
                        }
                    }
                    tbody.groups {
                        @for (name, of) in &self.groups { (row(html! { (name) }, of)) }
                    }
                    tbody {
                        @for (subject, of) in &self.scenarios {
                            (row(html! {
                                a href=(format!("#{}", anchor(subject))) { (subject.name) }
                                @if subject.healthy { " " span.tag { "healthy" } }
                            }, of))
                        }
                    }
                }
            }
        }
    }

    fn section(&self, subject: &Subject, of: &Summary) -> Markup {
        let mine = self.rows.iter().filter(|row| row.job.scenario == subject.name);
        html! {
            section id=(anchor(subject)) {
                h2 { (subject.name) @if subject.healthy { " " span.tag { "healthy" } } }
                p.about {
                    (subject.title) " · " (of.passed) " of " (of.episodes) " passed"
                    @if let Some(score) = of.score { " · mean score " (format!("{:.3}", score.mean)) }
                }
                @if of.episodes > 0 {
                    p.legend {
                        span.agent { "agent" } span.noop { "nobody acts" }
                        span.reference { "reference plan" } span.done { "agent done" }
                        span.tail { "tail, nobody acts" }
                    }
                }
                div.cards { @for row in mine { (self.card(row)) } }
            }
        }
    }

    fn card(&self, row: &Row) -> Markup {
        let (assessment, job) = (&row.assessment, &row.job);
        let passed = assessment.score >= self.pass;
        let label = format!(
            "{}, seed {}, play {}: score {:.3}, {:.1} user-minutes lost; {:.1} if nobody acts, \
             {:.1} with the reference plan",
            job.scenario,
            job.seed,
            job.repeat + 1,
            assessment.score,
            assessment.impact,
            assessment.impact_noop,
            assessment.impact_reference
        );
        let minutes = f64::from(assessment.seconds) / 60.0;
        html! {
            figure.card {
                figcaption {
                    span {
                        "seed " (job.seed)
                        @if self.plan.repeats > 1 { " · play " (job.repeat + 1) }
                    }
                    span.score.passed[passed].missed[!passed] { (format!("{:.3}", assessment.score)) }
                }
                (chart(assessment, &label))
                p.facts {
                    (assessment.end.words()) " after " (format!("{minutes:.1}")) " min, "
                    (assessment.steps) " steps"
                    @if row.later_resets > 0 { " · " (row.later_resets) " later resets" }
                    @if row.reruns > 0 { " · played again " (row.reruns) "×" }
                    @if let Some(command) = &row.command { " · " (command) }
                }
                details {
                    summary { "why this score" }
                    ul {
                        @for term in &assessment.terms {
                            li { b { (model::signed(term.value, 3)) } " " (term.reason) }
                        }
                        @if assessment.terms.is_empty() { li { "The agent never called reset." } }
                        li { "World seed " code { (assessment.world_seed) } }
                        @if let Some(log) = &row.log { li { "Log " code { "logs/" (log) } } }
                    }
                }
            }
        }
    }

    fn unscored(&self) -> Markup {
        html! {
            @if !self.failed.is_empty() {
                section {
                    h2 { "Not scored" }
                    p.about { "The simulator failed. The same command plays these again." }
                    ul {
                        @for (job, why) in self.failed {
                            li {
                                (job.scenario) ", seed " (job.seed) ", play " (job.repeat + 1) ": "
                                (why)
                            }
                        }
                    }
                }
            }
        }
    }
}

fn tile(name: &str, value: &str, more: &str) -> Markup {
    html! { div.tile { span.what { (name) } span.value { (value) } span.more { (more) } } }
}

fn interval(of: &Summary) -> String {
    match of.score.and_then(|score| score.low.zip(score.high)) {
        Some((low, high)) => format!("95 %: {low:.3} to {high:.3}"),
        None => format!("{} episodes", of.episodes),
    }
}

/// The mean score and its interval as a bar.
fn bar(of: &Summary) -> Markup {
    let part = |share: f64| format!("{:.1}", share.clamp(0.0, 1.0) * 100.0);
    html! {
        @if let Some(score) = of.score {
            svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                rect.track x="0" y="1" width="100" height="6" {}
                rect.fill x="0" y="1" width=(part(score.mean)) height="6" {}
                @if let (Some(low), Some(high)) = (score.low, score.high) {
                    line.range x1=(part(low)) x2=(part(high)) y1="4" y2="4" {}
                }
            }
        }
    }
}

/// Of a scenario's section; names of scenarios have no spaces or quotes.
fn anchor(subject: &Subject) -> String {
    subject.name.replace('/', "-")
}
