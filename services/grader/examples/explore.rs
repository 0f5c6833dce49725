//! Scratch.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]
use grader::*;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let lib = scenario::Library::from_dirs(std::path::Path::new(".")).unwrap();
    let kinds = fleet::kinds();
    let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let sc = match scenario::load(&lib, &args[1], &kinds) {
        Ok(s) => Arc::new(s),
        Err(e) => {
            println!("{e}");
            return;
        }
    };
    let seed: u64 = args.get(2).map_or(1, |s| s.parse().unwrap());
    rt.block_on(async {
        let t = std::time::Instant::now();
        let w = Worlds::new(kinds, sc.clone(), seed, vec![]).await.unwrap();
        println!(
            "warmup {:?} paging {} obs {}",
            t.elapsed(),
            w.page().paging(),
            serde_json::to_string(&w.page().observe(None)).unwrap()
        );
        let show = |name: &str, x: &World, t: std::time::Instant| {
            let p: Vec<String> =
                x.trail.iter().step_by(60).map(|v| format!("{:.1}", *v as f64 / 1e6)).collect();
            println!(
                "{name} {:?} held {} acc {:?} end {:.2}\n   {}",
                t.elapsed(),
                x.slo_held,
                x.accepted,
                x.impact() as f64 / 1e6,
                p.join(" ")
            );
        };
        let t = std::time::Instant::now();
        let n = w.follow(&[]).await.unwrap();
        show("noop", &n, t);
        let t = std::time::Instant::now();
        let r = w.follow(&sc.truth.reference).await.unwrap();
        show("ref", &r, t);
        for (i, p) in sc.truth.wrong.iter().enumerate() {
            let t = std::time::Instant::now();
            let x = w.follow(&p.plan).await.unwrap();
            show(
                &format!(
                    "wrong{i} {:?} value {:.3}",
                    p.label,
                    (n.impact() - x.impact()) as f64
                        / ((n.impact() - r.impact()).max((sc.stakes.stake * 1e6) as i64)) as f64
                ),
                &x,
                t,
            );
        }
        if let Some(read) = args.get(3) {
            let mut e = w.page().fork();
            for a in read.split(";;") {
                let a = action::Action::parse(a).unwrap();
                let o = e.step(&a).await.unwrap();
                println!("{}", serde_json::to_string_pretty(&o.observation).unwrap());
            }
        }
    });
}
