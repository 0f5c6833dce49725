//! Where things are on a host: the files and ports it starts with.

use crate::disk::{File, LONG_AGO};
use model::{Face, FileContent, Tenant};
use std::collections::BTreeMap;

/// Where a tenant keeps its data.
pub(crate) fn data_path(tenant: &Tenant) -> String {
    format!("/var/lib/{}", tenant.name)
}

/// The name of a tenant's unit: its instance's, with the group's where it is not the usual one.
pub(crate) fn unit_name(tenant: &Tenant) -> String {
    if tenant.group_name == "stable" {
        return tenant.name.clone();
    }
    format!("{}@{}", tenant.name, tenant.group_name)
}

/// The user its processes run as.
pub(crate) fn user(tenant: &Tenant) -> &str {
    match tenant.name.as_str() {
        "nginx" => "www-data",
        "postgresql" => "postgres",
        other => other,
    }
}

/// The command line of its processes.
pub(crate) fn command(tenant: &Tenant) -> String {
    let name = &tenant.name;
    match name.as_str() {
        "nginx" => "nginx: master process /usr/sbin/nginx -g daemon on; master_process on;".into(),
        "postgresql" => {
            "/usr/lib/postgresql/14/bin/postgres -D /var/lib/postgresql -c config_file=\
             /etc/postgresql/postgresql.conf"
                .into()
        }
        _ => format!("/usr/bin/{name} --config /etc/{name}/{name}.conf"),
    }
}

/// Ports of all tenants, in order: the usual one of the kind, or the next free one.
pub(crate) fn ports(tenants: &[Tenant]) -> Vec<u16> {
    let mut taken: Vec<u16> = vec![22];
    for tenant in tenants {
        let mut port = match (tenant.name.as_str(), tenant.kind.as_str()) {
            ("nginx", _) | (_, "frontend") => 80,
            (_, "gateway") => 443,
            (_, "db") => 5432,
            (_, "cache") => 6379,
            (_, "queue") => 9092,
            (_, "dns") => 53,
            _ => 8080,
        };
        while taken.contains(&port) {
            port += 1;
        }
        taken.push(port);
    }
    taken.split_off(1)
}

/// The files of a host with `used` bytes in use, what runs there included.
pub(crate) fn files(used: f64, tenants: &[Tenant]) -> BTreeMap<String, File> {
    let mut files = BTreeMap::new();
    let folder = |size: f64, inodes: f64, precious| File {
        size,
        inodes,
        precious,
        mode: 0o755,
        content: FileContent::Folder,
        ..File::default()
    };
    files.insert("/usr".to_string(), folder(0.2 * used, 200_000.0, true));
    files.insert("/var/log/journal".to_string(), folder(0.1 * used, 2_000.0, false));
    files.insert("/tmp".to_string(), File { mode: 0o1777, ..folder(0.0, 1.0, false) });
    files.insert("/root".to_string(), File { mode: 0o700, ..folder(0.0, 1.0, false) });
    for (path, text) in [
        ("/etc/hostname", "localhost\n"),
        ("/etc/os-release", OS_RELEASE),
        ("/var/log/syslog", ""),
        ("/var/log/auth.log", ""),
    ] {
        let content = FileContent::Text(text.into());
        files.insert(path.into(), File { size: text.len() as f64, content, ..File::default() });
    }
    let data = 0.7 * used / tenants.len().max(1) as f64;
    for (at, tenant) in tenants.iter().enumerate() {
        let (owner, unit) = (user(tenant).to_string(), Some(at as u32));
        let mine = File { owner: owner.clone(), unit, ..folder(data, 20_000.0, true) };
        files.insert(data_path(tenant), File { mode: 0o700, ..mine });
        let view = |face| FileContent::View { instance: tenant.instance, face, since: LONG_AGO };
        let name = &tenant.name;
        let config = File { size: 2048.0, content: view(Face::Configuration), ..File::default() };
        files.insert(format!("/etc/{name}/{name}.conf"), config);
        if tenant.kind == "gateway" {
            let certificate =
                File { size: 3600.0, content: view(Face::Certificate), ..File::default() };
            files.insert(format!("/etc/ssl/certs/{name}.pem"), certificate);
        }
        let log = File { size: 65_536.0, content: view(Face::Log), owner, unit, ..File::default() };
        files.insert(format!("/var/log/{name}/{name}.log"), log);
    }
    files
}

const OS_RELEASE: &str = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n\
VERSION_ID=\"12\"\nVERSION=\"12 (bookworm)\"\nID=debian\n";
