//! Which session a request belongs to. A client names it in the header `openenv-session-id`, the
//! cookie `openenv_session` or the query parameter `session_id`; one that names none shares the
//! default session with all others that name none, as the original servers have one for everybody.

use super::{Refused, reply};
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::COOKIE;
use axum::http::request::Parts;

/// The header.
pub const HEADER: &str = "openenv-session-id";
/// The cookie.
pub const COOKIE_NAME: &str = "openenv_session";
/// The query parameter.
pub const PARAMETER: &str = "session_id";
/// Longest name of a session, bytes.
const NAME_MAX: usize = 128;

/// Whose session it is: a name of the client's choice, or `None` for the default session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller(pub Option<String>);

impl Caller {
    fn of(parts: &Parts) -> Option<String> {
        let text = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let header = text(HEADER).map(str::to_string);
        let named = header.filter(|name| !name.trim().is_empty());
        named.or_else(|| cookie(parts)).or_else(|| parameter(parts))
    }
}

fn cookie(parts: &Parts) -> Option<String> {
    let lines = parts.headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let mut mine = pairs.filter(|(name, id)| name.trim() == COOKIE_NAME && !id.trim().is_empty());
    mine.next().map(|(_, id)| id.to_string())
}

fn parameter(parts: &Parts) -> Option<String> {
    let pairs = parts.uri.query().unwrap_or_default().split('&');
    let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, id)| *name == PARAMETER && !id.is_empty()).map(|(_, id)| id.to_string())
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Caller, Refused> {
        let Some(name) = Caller::of(parts) else { return Ok(Caller(None)) };
        let name = name.trim();
        if name.len() <= NAME_MAX && name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Caller(Some(name.to_string())));
        }
        let sentence = format!(
            "{PARAMETER}: expected 1 to {NAME_MAX} visible ASCII characters without spaces"
        );
        Err(reply::detail(StatusCode::BAD_REQUEST, &sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    async fn caller(request: axum::http::request::Builder) -> Result<Option<String>, StatusCode> {
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let caller = Caller::from_request_parts(&mut parts, &()).await;
        caller.map(|caller| caller.0).map_err(|refused| refused.status)
    }

    #[tokio::test]
    async fn a_session_is_named_by_header_cookie_or_parameter() {
        let get = |uri: &str| Request::get(uri.to_string());
        let named = |name: &str| Ok(Some(name.to_string()));
        assert_eq!(caller(get("/state")).await, Ok(None));
        assert_eq!(caller(get("/state?task_id=a&session_id=c")).await, named("c"));
        assert_eq!(
            caller(get("/s?session_id=c").header(COOKIE, "x=1; openenv_session=b")).await,
            named("b")
        );
        assert_eq!(
            caller(get("/s").header(HEADER, "a").header(COOKIE, "openenv_session=b")).await,
            named("a")
        );
        let long = "x".repeat(NAME_MAX + 1);
        for name in [long.as_str(), "two words"] {
            assert_eq!(caller(get("/s").header(HEADER, name)).await, Err(StatusCode::BAD_REQUEST));
        }
    }
}
