//! Inboxes and outboxes on the wire.

use model::{Calls, EdgeId, Grant, Inbox, InstanceId, Motion, Need, Outbox, Report, Resolution};
use proto::control::v1 as pb;

use super::{WireError, get, narrow, numbers_in, numbers_out, present, put};

/// An inbox for the wire.
pub fn inbox_out(inbox: &Inbox) -> pb::Inbox {
    pb::Inbox {
        calls: inbox.calls.iter().map(calls_out).collect(),
        reports: inbox.reports.iter().map(report_out).collect(),
        grants: inbox.grants.iter().map(grant_out).collect(),
        needs: inbox.needs.iter().map(need_out).collect(),
        names: inbox.names.iter().map(resolution_out).collect(),
    }
}

/// An inbox from the wire.
///
/// # Errors
/// Where a part does not fit the model.
pub fn inbox_in(inbox: &pb::Inbox) -> Result<Inbox, WireError> {
    Ok(Inbox {
        calls: inbox.calls.iter().map(calls_in).collect::<Result<_, _>>()?,
        reports: inbox.reports.iter().map(report_in).collect::<Result<_, _>>()?,
        grants: inbox.grants.iter().map(grant_in).collect::<Result<_, _>>()?,
        needs: inbox.needs.iter().map(need_in).collect::<Result<_, _>>()?,
        names: inbox.names.iter().map(resolution_in).collect::<Result<_, _>>()?,
    })
}

/// An outbox for the wire.
pub fn outbox_out(outbox: &Outbox) -> pb::Outbox {
    let Motion { failure, lateness, load } = outbox.motion;
    pb::Outbox {
        report: Some(report_out(&outbox.report)),
        calls: outbox.calls.iter().map(calls_out).collect(),
        needs: outbox.needs.iter().map(need_out).collect(),
        grants: outbox.grants.iter().map(grant_out).collect(),
        motion: Some(pb::Motion {
            failure: put(failure),
            lateness: put(lateness),
            load: put(load),
        }),
        row: numbers_out(&outbox.row),
        answers: outbox.answers.iter().map(resolution_out).collect(),
    }
}

/// An outbox from the wire, into buffers that are there.
///
/// # Errors
/// Where a part does not fit the model; `into` then holds a mixture.
pub fn outbox_in(outbox: &pb::Outbox, into: &mut Outbox) -> Result<(), WireError> {
    into.report = report_in(present("report", outbox.report.as_ref())?)?;
    let motion = present("motion", outbox.motion.as_ref())?;
    into.motion = Motion {
        failure: get(motion.failure),
        lateness: get(motion.lateness),
        load: get(motion.load),
    };
    into.row = numbers_in("row", &outbox.row)?;
    refill(&mut into.calls, &outbox.calls, calls_in)?;
    refill(&mut into.needs, &outbox.needs, need_in)?;
    refill(&mut into.grants, &outbox.grants, grant_in)?;
    refill(&mut into.answers, &outbox.answers, resolution_in)
}

fn refill<P, M>(
    into: &mut Vec<M>,
    parts: &[P],
    convert: fn(&P) -> Result<M, WireError>,
) -> Result<(), WireError> {
    into.clear();
    for part in parts {
        into.push(convert(part)?);
    }
    Ok(())
}

fn calls_out(calls: &Calls) -> pb::Calls {
    pb::Calls {
        edge: u32::from(calls.edge.0),
        rate: numbers_out(&calls.rate),
        in_flight_cap: put(calls.in_flight_cap),
        elsewhere_s: put(calls.elsewhere_s),
        timeout_s: put(calls.timeout_s),
        idle: put(calls.idle),
        deadline: calls.deadline,
    }
}

fn calls_in(calls: &pb::Calls) -> Result<Calls, WireError> {
    Ok(Calls {
        edge: EdgeId(narrow("calls.edge", calls.edge)?),
        rate: numbers_in("calls.rate", &calls.rate)?,
        in_flight_cap: get(calls.in_flight_cap),
        elsewhere_s: get(calls.elsewhere_s),
        timeout_s: get(calls.timeout_s),
        idle: get(calls.idle),
        deadline: calls.deadline,
    })
}

fn report_out(report: &Report) -> pb::Report {
    pb::Report {
        ok_mean_s: put(report.ok_mean_s),
        ok_var_s2: put(report.ok_var_s2),
        fail_mean_s: put(report.fail_mean_s),
        fail_var_s2: put(report.fail_var_s2),
        refused: put(report.refused),
        turned_away: numbers_out(&report.turned_away),
        failed: numbers_out(&report.failed),
        overdue: numbers_out(&report.overdue),
        refusal: put(report.refusal),
        path_s: put(report.path_s),
        capacity: put(report.capacity),
        servers: put(report.servers),
        unloaded_s: put(report.unloaded_s),
        places: put(report.places),
        in_time: put(report.in_time),
        class_mean_s: numbers_out(&report.class_mean_s),
        class_var_s2: numbers_out(&report.class_var_s2),
        offered: put(report.offered),
    }
}

fn report_in(report: &pb::Report) -> Result<Report, WireError> {
    Ok(Report {
        ok_mean_s: get(report.ok_mean_s),
        ok_var_s2: get(report.ok_var_s2),
        fail_mean_s: get(report.fail_mean_s),
        fail_var_s2: get(report.fail_var_s2),
        refused: get(report.refused),
        turned_away: numbers_in("report.turned_away", &report.turned_away)?,
        failed: numbers_in("report.failed", &report.failed)?,
        overdue: numbers_in("report.overdue", &report.overdue)?,
        refusal: get(report.refusal),
        path_s: get(report.path_s),
        capacity: get(report.capacity),
        servers: get(report.servers),
        unloaded_s: get(report.unloaded_s),
        places: get(report.places),
        in_time: get(report.in_time),
        class_mean_s: numbers_in("report.class_mean_s", &report.class_mean_s)?,
        class_var_s2: numbers_in("report.class_var_s2", &report.class_var_s2)?,
        offered: get(report.offered),
    })
}

fn resolution_out(resolution: &Resolution) -> pb::Resolution {
    let Resolution { missing, astray } = *resolution;
    pb::Resolution { missing: put(missing), astray: put(astray) }
}

fn resolution_in(resolution: &pb::Resolution) -> Result<Resolution, WireError> {
    Ok(Resolution { missing: get(resolution.missing), astray: get(resolution.astray) })
}

fn grant_out(grant: &Grant) -> pb::Grant {
    pb::Grant {
        instance: u32::from(grant.instance.0),
        group: u32::from(grant.group),
        running: grant.running,
        port_bound: grant.port_bound,
        cpu: put(grant.cpu),
        memory_limit: put(grant.memory_limit),
        disk_free: put(grant.disk_free),
        inodes_free: put(grant.inodes_free),
        skew_s: put(grant.skew_s),
        generation: grant.generation,
    }
}

fn grant_in(grant: &pb::Grant) -> Result<Grant, WireError> {
    Ok(Grant {
        instance: InstanceId(narrow("grant.instance", grant.instance)?),
        group: narrow("grant.group", grant.group)?,
        running: grant.running,
        port_bound: grant.port_bound,
        cpu: get(grant.cpu),
        memory_limit: get(grant.memory_limit),
        disk_free: get(grant.disk_free),
        inodes_free: get(grant.inodes_free),
        skew_s: get(grant.skew_s),
        generation: grant.generation,
    })
}

fn need_out(need: &Need) -> pb::Need {
    pb::Need {
        instance: u32::from(need.instance.0),
        group: u32::from(need.group),
        replicas: need.replicas,
        cpu_cores: put(need.cpu_cores),
        memory: put(need.memory),
        disk_write: put(need.disk_write),
        files_write: put(need.files_write),
        exit_code: need.exit_code,
    }
}

fn need_in(need: &pb::Need) -> Result<Need, WireError> {
    Ok(Need {
        instance: InstanceId(narrow("need.instance", need.instance)?),
        group: narrow("need.group", need.group)?,
        replicas: need.replicas,
        cpu_cores: get(need.cpu_cores),
        memory: get(need.memory),
        disk_write: get(need.disk_write),
        files_write: get(need.files_write),
        exit_code: need.exit_code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::samples::Samples;
    use machine::encode;
    use prost::Message;

    #[test]
    fn boxes_come_back_bit_for_bit() {
        for seed in 0..500 {
            let mut samples = Samples::new(seed);
            let inbox = samples.inbox();
            let bytes = inbox_out(&inbox).encode_to_vec();
            let back = inbox_in(&pb::Inbox::decode(&bytes[..]).unwrap()).unwrap();
            // Compared by their encoding: equality of floats would let a lost sign of zero pass.
            assert_eq!(encode("inbox", &back), encode("inbox", &inbox), "seed {seed}");
            let outbox = samples.outbox();
            let bytes = outbox_out(&outbox).encode_to_vec();
            let mut back = Samples::new(seed + 1).outbox();
            outbox_in(&pb::Outbox::decode(&bytes[..]).unwrap(), &mut back).unwrap();
            assert_eq!(encode("outbox", &back), encode("outbox", &outbox), "seed {seed}");
        }
    }

    #[test]
    fn only_used_classes_travel_and_too_many_are_refused() {
        assert_eq!(numbers_out(&[1.0, 0.0, 2.0, 0.0, 0.0]), [1.0, 0.0, 2.0]);
        assert_eq!(numbers_out(&[0.0, -0.0, 0.0]).len(), 2);
        let error = numbers_in::<2>("rate", &[0.0; 3]).unwrap_err();
        assert_eq!(error.to_string(), "field rate: 3 numbers, at most 2");
        let error = calls_in(&pb::Calls { edge: 1 << 16, ..pb::Calls::default() }).unwrap_err();
        assert!(error.to_string().contains("65536 is too large"));
    }
}
