//! Tests: what is said of a server that cannot be used, without a password, and what is made of
//! older tables.

use super::*;
use pgtest::{PASSWORD, USER};

fn refused(address: &str) -> String {
    let tuning = Tuning { connect: Duration::from_secs(2), ..Tuning::default() };
    let opened = PostgresStore::tuned(&Address::new(address).unwrap(), tuning);
    opened.map(drop).unwrap_err().to_string()
}

#[test]
fn servers_that_cannot_be_used_are_told_apart() {
    let Some(server) = Server::start("servers that cannot be used", Listen::Tls) else { return };
    let name = server.database();
    let port = server.port();
    let at = |user: &str, password: &str, rest: &str| {
        format!("postgres://{user}:{password}@127.0.0.1:{port}/{rest}")
    };
    server.sql("postgres", "CREATE ROLE guest LOGIN PASSWORD 'gu3st-pass'");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = closed.local_addr().unwrap().port();
    drop(closed);
    let read_only = format!("{name}?options=-c%20default_transaction_read_only=on");
    for (address, says) in [
        (format!("postgres://joe:s3cret@127.0.0.1:{nobody}/r"), "cannot be reached"),
        ("postgres://joe:s3cret@nowhere.invalid/r".into(), "cannot be reached"),
        (at(USER, "s3cret", &name), "does not let user \"mayday\" in"),
        (at("joe", "s3cret", &name), "does not let user \"joe\" in"),
        (at(USER, PASSWORD, "nothing"), "has no database \"nothing\""),
        (at(USER, PASSWORD, &read_only), "takes no writes"),
        (at("guest", "gu3st-pass", &name), "does not allow what records need"),
        (at(USER, PASSWORD, &format!("{name}?sslmode=verify-full")), "no secure connection"),
        (at(USER, PASSWORD, &format!("{name}?sslrootcert=/none&sslmode=verify-ca")), "is no file"),
    ] {
        let said = refused(&address);
        assert!(said.contains(says), "{address}: {said}");
        assert!(said.starts_with("postgres://"), "{said}");
        for secret in ["s3cret", PASSWORD, "gu3st-pass"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
    // With its authority known, the same server may be trusted.
    let authority = server.authority();
    let authority = authority.display();
    let trusted = format!("{name}?sslmode=verify-full&sslrootcert={authority}");
    open(&at(USER, PASSWORD, &trusted)).create(&header(1), 1).unwrap();
    let secure = "SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()";
    let store = open(&at(USER, PASSWORD, &format!("{name}?sslmode=require")));
    assert_eq!(server.sql(&name, secure), "1");
    store.load(EpisodeId(1)).unwrap();
    // The certificate is for the number, not for the name.
    let named = at(USER, PASSWORD, &trusted).replace("127.0.0.1", "localhost");
    assert!(refused(&named).contains("no secure connection"));
    open(&named.replace("verify-full", "verify-ca")).load(EpisodeId(1)).unwrap();
}

#[test]
fn a_server_without_certificates_is_refused_where_they_are_asked_for() {
    let Some(server) = Server::start("a server without certificates", Listen::Tcp) else { return };
    let name = server.database();
    let port = server.port();
    let at = |mode| format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{port}/{name}?sslmode={mode}");
    assert!(refused(&at("require")).contains("no secure connection"));
    open(&at("prefer"));
}

#[test]
fn a_schema_of_somebody_else_is_left_alone() {
    let Some(server) = server("a schema of somebody else") else { return };
    let name = server.database();
    server.sql(&name, "CREATE SCHEMA mayday; CREATE TABLE mayday.things (a int)");
    let said = refused(&server.address(&name));
    assert!(said.contains("holds something else than records"), "{said}");
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM pg_tables WHERE schemaname = 'mayday'"),
        "1"
    );
}

#[test]
fn an_empty_schema_may_be_given_to_a_user_without_rights() {
    let Some(server) = server("an empty schema") else { return };
    let name = server.database();
    server.sql(&name, "CREATE ROLE clerk LOGIN; CREATE SCHEMA mayday AUTHORIZATION clerk");
    let address = server.address(&name).replace(&format!("{USER}@"), "clerk@");
    open(&address).create(&header(1), 1).unwrap();
    assert_eq!(open(&address).load(EpisodeId(1)).unwrap().header, header(1));
}

#[test]
fn tables_of_a_later_release_are_refused() {
    let Some(server) = server("tables of a later release") else { return };
    let name = server.database();
    drop(open(&server.address(&name)));
    server.sql(&name, "UPDATE mayday.version SET version = 99");
    let said = refused(&server.address(&name));
    assert!(said.contains("version 99") && said.contains("knows up to 1"), "{said}");
}

#[test]
fn tables_of_an_earlier_release_are_brought_up_to_date_once() {
    let Some(server) = server("tables of an earlier release") else { return };
    let name = server.database();
    let address = Address::new(&server.address(&name)).unwrap();
    let store = PostgresStore::open(&address).unwrap();
    store.create(&header(1), 1).unwrap();
    let more = [schema::MIGRATIONS[0], "ALTER TABLE mayday.episodes ADD COLUMN note text; "];
    // As many programs that start at once would.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                runtime().unwrap().block_on(async {
                    let options = address.options().unwrap();
                    let mut db = sqlx::ConnectOptions::connect(&options).await.unwrap();
                    schema::settle(&mut db, &more).await.unwrap();
                });
            });
        }
    });
    assert_eq!(server.sql(&name, "SELECT version FROM mayday.version"), "2");
    assert_eq!(server.sql(&name, "SELECT count(note) FROM mayday.episodes"), "0");
    assert!(refused(&server.address(&name)).contains("version 2"));
    assert_eq!(store.load(EpisodeId(1)).unwrap().header, header(1));
}

#[test]
fn many_stores_may_open_an_empty_database_at_once() {
    let Some(address) = database("many stores open at once") else { return };
    std::thread::scope(|scope| {
        for n in 0..8 {
            let address = &address;
            scope.spawn(move || open(address).create(&header(n), 1).unwrap());
        }
    });
    assert_eq!(open(&address).list(&Filter::default()).unwrap().len(), 8);
}
