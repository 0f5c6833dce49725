//! The tables, and how those of an earlier release become those of this one.

use crate::postgres::trouble::Trouble;
use record::ServerTrouble;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

/// The oldest server that knows all that is used.
const OLDEST: u32 = 12;

/// Held while tables are made, by whoever makes them: "mday".
const LOCK: &str = "SELECT pg_advisory_xact_lock(1835295097)";

/// The steps from nothing to the present tables. One is added for each change and none is ever
/// edited; `mayday.version` says how many were taken.
///
/// `episodes.id` counts creations, so it orders records by age. Numbers of 64 bits without sign do
/// not fit PostgreSQL's: episodes are kept as they are printed, seeds as decimal text. `scenarios`
/// holds each text once, however many episodes play it. `writer` and `written` name the last write
/// that changed a row. Rows of `episodes` change with each append and leave room for that.
pub(super) const MIGRATIONS: &[&str] = &["
    CREATE TABLE mayday.scenarios (
        key bytea PRIMARY KEY,
        body text NOT NULL
    );
    CREATE TABLE mayday.episodes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        episode text NOT NULL UNIQUE,
        format integer NOT NULL,
        world integer NOT NULL,
        seed text NOT NULL,
        scenario_name text NOT NULL,
        scenario bytea NOT NULL REFERENCES mayday.scenarios (key),
        epoch bigint NOT NULL,
        writer bigint NOT NULL,
        written bigint NOT NULL,
        entries bigint NOT NULL DEFAULT 0,
        steps bigint NOT NULL DEFAULT 0,
        last_tick bigint,
        ended text,
        score double precision,
        terms text,
        session text,
        created timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 70);
    CREATE INDEX episodes_by_scenario ON mayday.episodes (scenario);
    CREATE INDEX episodes_by_session ON mayday.episodes (session, id) WHERE session IS NOT NULL;
    CREATE TABLE mayday.entries (
        id bigint NOT NULL,
        position bigint NOT NULL,
        line text NOT NULL,
        PRIMARY KEY (id, position)
    );
"];

/// What there is.
enum Found {
    /// No schema of that name.
    Nothing,
    /// The schema, and nothing in it.
    Empty,
    /// Tables after so many steps.
    Tables(usize),
}

/// Makes the tables what `migrations` say, unless they are.
pub(super) async fn settle(
    db: &mut PgConnection,
    migrations: &[&'static str],
) -> Result<(), Trouble> {
    let row = sqlx::query(
        "SELECT current_setting('server_version_num')::integer,
                current_setting('server_version'),
                current_setting('transaction_read_only')::boolean",
    )
    .fetch_one(&mut *db)
    .await?;
    let (number, theirs): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    if number < 10_000 * OLDEST as i32 {
        return Err(Trouble::Known(ServerTrouble::Old { theirs, needed: OLDEST }));
    }
    if row.try_get(2)? {
        return Err(Trouble::Known(ServerTrouble::ReadOnly));
    }
    let found = look(db, migrations.len()).await?;
    if matches!(found, Found::Tables(taken) if taken == migrations.len()) {
        return Ok(());
    }
    let mut making = db.begin().await?;
    making.execute(LOCK).await?;
    // Another process may have been faster.
    let taken = match look(&mut making, migrations.len()).await? {
        Found::Tables(taken) => taken,
        Found::Empty => begin(&mut making).await?,
        Found::Nothing => {
            making.execute("CREATE SCHEMA mayday").await?;
            begin(&mut making).await?
        }
    };
    for step in &migrations[taken..] {
        making.execute(sqlx::raw_sql(AssertSqlSafe(*step))).await?;
    }
    sqlx::query("UPDATE mayday.version SET version = $1")
        .bind(migrations.len() as i32)
        .execute(&mut *making)
        .await?;
    making.commit().await?;
    Ok(())
}

async fn begin(db: &mut PgConnection) -> Result<usize, Trouble> {
    let tables = "CREATE TABLE mayday.version (version integer NOT NULL);
                  INSERT INTO mayday.version VALUES (0);";
    db.execute(sqlx::raw_sql(tables)).await?;
    Ok(0)
}

/// Refuses what is not ours, or of a later release.
async fn look(db: &mut PgConnection, ours: usize) -> Result<Found, Trouble> {
    let row = sqlx::query(
        "SELECT to_regnamespace('mayday') IS NOT NULL,
                to_regclass('mayday.version') IS NOT NULL,
                EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('mayday'))",
    )
    .fetch_one(&mut *db)
    .await?;
    match (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?) {
        (false, _, _) => return Ok(Found::Nothing),
        (true, false, false) => return Ok(Found::Empty),
        (true, false, true) => return Err(Trouble::Known(ServerTrouble::NotRecords)),
        (true, true, _) => {}
    }
    let version = sqlx::query("SELECT version FROM mayday.version").fetch_optional(db).await?;
    let version = version.ok_or(Trouble::Known(ServerTrouble::NotRecords))?;
    let taken: i32 = version.try_get(0)?;
    let (taken, ours) = (taken.unsigned_abs(), ours as u32);
    if taken > ours {
        return Err(Trouble::Known(ServerTrouble::Newer { theirs: taken, ours }));
    }
    Ok(Found::Tables(taken as usize))
}
