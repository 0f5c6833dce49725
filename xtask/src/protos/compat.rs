//! What may not happen between two versions of the protos: a number given to something else, a
//! member or method taken away in silence. Additions are always fine.

use std::collections::BTreeMap;

use prost_types::FileDescriptorSet;

use super::flatten::{Members, Tables};

/// One sentence per broken rule, naming message and member.
pub fn breaks(old: &FileDescriptorSet, new: &FileDescriptorSet) -> Vec<String> {
    let (old, new) = (Tables::of(old), Tables::of(new));
    let mut sentences = Vec::new();
    compare_members("message", "field", &old.messages, &new.messages, &mut sentences);
    compare_members("enum", "value", &old.enums, &new.enums, &mut sentences);
    compare_services(&old.services, &new.services, &mut sentences);
    sentences
}

fn compare_members(
    kind: &str,
    member: &str,
    old: &BTreeMap<String, Members>,
    new: &BTreeMap<String, Members>,
    sentences: &mut Vec<String>,
) {
    for (name, before) in old {
        let Some(after) = new.get(name) else {
            sentences.push(format!("{kind} {name} was removed"));
            continue;
        };
        let place = format!("{kind} {name}");
        for (number, was) in &before.members {
            let is = after.members.get(number);
            sentences.extend(judge(&place, member, *number, was, is, after));
        }
        for (number, (reused, _)) in &after.members {
            if before.is_reserved(*number) && !before.members.contains_key(number) {
                sentences.push(format!(
                    "{place}: number {number} was reserved and is used again by {member} {reused}"
                ));
            }
        }
    }
}

/// The fate of one old member.
fn judge(
    place: &str,
    member: &str,
    number: i32,
    (was_name, was_type): &(String, String),
    is: Option<&(String, String)>,
    after: &Members,
) -> Option<String> {
    match is {
        None if after.is_reserved(number) => None,
        None => Some(format!(
            "{place}: {member} {was_name} = {number} was removed without `reserved {number};`"
        )),
        Some((is_name, _)) if is_name != was_name => Some(format!(
            "{place}: number {number} belonged to {member} {was_name} and is used by {is_name}"
        )),
        Some((_, is_type)) if is_type != was_type => Some(format!(
            "{place}: {member} {was_name} = {number} was `{was_type}` and is now `{is_type}`"
        )),
        Some(_) => None,
    }
}

fn compare_services(
    old: &BTreeMap<String, BTreeMap<String, String>>,
    new: &BTreeMap<String, BTreeMap<String, String>>,
    sentences: &mut Vec<String>,
) {
    for (name, before) in old {
        let Some(after) = new.get(name) else {
            sentences.push(format!("service {name} was removed"));
            continue;
        };
        for (method, was) in before {
            match after.get(method) {
                None => sentences.push(format!("service {name}: rpc {method} was removed")),
                Some(is) if is != was => sentences
                    .push(format!("service {name}: rpc {method} was `{was}` and is now `{is}`")),
                Some(_) => {}
            }
        }
    }
}
