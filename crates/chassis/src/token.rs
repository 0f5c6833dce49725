//! The token that guards every listener of a fleet. It comes from the environment, never from the
//! command line, where every process of the machine could read it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{HeaderValue, Request, Response};
use mesh::channel::TOKEN;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

/// Variable that holds the token.
pub const VARIABLE: &str = "MAYDAY_TOKEN";
/// Key of the token in the metadata of a call.
pub const METADATA: &str = TOKEN;
/// Health is asked by probes that have no token, and tells nothing.
const HEALTH: &str = "/grpc.health.v1.Health/";

/// A shared secret; prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(HeaderValue);

/// A token that cannot travel in metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{VARIABLE} has to be 1 to 512 visible ASCII characters, such as 32 hexadecimal digits")]
pub struct TokenError;

impl Token {
    /// This text as a token.
    ///
    /// # Errors
    /// Where it cannot travel in metadata.
    pub fn new(text: &str) -> Result<Token, TokenError> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > 512 || !visible {
            return Err(TokenError);
        }
        let mut value = HeaderValue::from_str(text).map_err(|_| TokenError)?;
        value.set_sensitive(true);
        Ok(Token(value))
    }

    /// The token of the environment, if there is one.
    ///
    /// # Errors
    /// Where the variable is set but is no token.
    pub fn from_environment() -> Result<Option<Token>, TokenError> {
        #[expect(clippy::disallowed_methods, reason = "a flag would put the token into argv")]
        match std::env::var(VARIABLE) {
            Ok(text) if text.is_empty() => Ok(None),
            Ok(text) => Token::new(&text).map(Some),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(TokenError),
        }
    }

    /// For metadata.
    pub fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Compares in a time that does not tell how much of it was right.
    fn is(&self, shown: &HeaderValue) -> bool {
        let (own, shown) = (self.0.as_bytes(), shown.as_bytes());
        let pairs = own.iter().zip(shown);
        let differs = pairs.fold(own.len() ^ shown.len(), |so_far, (a, b)| {
            std::hint::black_box(so_far | usize::from(a ^ b))
        });
        differs == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// Makes [`Guarded`]s.
#[derive(Clone, Debug)]
pub struct TokenLayer {
    token: Option<Token>,
}

impl TokenLayer {
    /// Asks for `token`; `None`: lets everybody in.
    pub fn new(token: Option<Token>) -> TokenLayer {
        TokenLayer { token }
    }
}

impl<S> Layer<S> for TokenLayer {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { inner, token: self.token.clone() }
    }
}

/// Answers UNAUTHENTICATED to calls without the token, before anything reads them.
#[derive(Clone, Debug)]
pub struct Guarded<S> {
    inner: S,
    token: Option<Token>,
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Unpin,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Judged<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Judged<S::Future> {
        let problem = match (&self.token, request.headers().get(TOKEN)) {
            (None, _) => None,
            _ if request.uri().path().starts_with(HEALTH) => None,
            (Some(_), None) => Some("no token"),
            (Some(token), Some(shown)) => (!token.is(shown)).then_some("a wrong token"),
        };
        match problem {
            None => Judged::Admitted(self.inner.call(request)),
            Some(problem) => {
                let status = Status::unauthenticated(format!(
                    "the call shows {problem}: set {VARIABLE} to the same value for both sides"
                ));
                Judged::Refused(Some(status.into_http()))
            }
        }
    }
}

/// The future of [`Guarded`].
#[derive(Debug)]
pub enum Judged<F> {
    /// It goes on.
    Admitted(F),
    /// It does not.
    Refused(Option<Response<Body>>),
}

impl<F> Future for Judged<F>
where
    F: Future<Output = Result<Response<Body>, Infallible>> + Unpin,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.get_mut() {
            Judged::Admitted(call) => Pin::new(call).poll(cx),
            Judged::Refused(answer) => match answer.take() {
                Some(answer) => Poll::Ready(Ok(answer)),
                None => Poll::Pending,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_is_the_token() {
        let token = Token::new("0123456789abcdef").unwrap();
        let is = |text: &'static str| token.is(&HeaderValue::from_static(text));
        assert!(is("0123456789abcdef"));
        assert!(!is("0123456789abcdeF"));
        assert!(!is("0123456789abcde"));
        assert!(!is("0123456789abcdef0"));
        assert!(!is(""));
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn what_cannot_travel_is_no_token() {
        for text in ["", "with space", "línea", "x\n"] {
            assert_eq!(Token::new(text), Err(TokenError), "{text:?}");
        }
    }
}
