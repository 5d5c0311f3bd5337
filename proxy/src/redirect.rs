//! The `Location` of a redirect route, written as a template.

use std::borrow::Cow;

use http::HeaderValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use thiserror::Error;

/// A redirect target: literal text with variables in braces.
///
/// `{host}` is the canonical host that the request named (without a port), `{path}` the path and
/// `{query}` the query (without `?`) as received, `{uri}` both together; any other name is a
/// parameter of the matched route, encoded anew for a path. `{{` and `}}` are literal braces.
///
/// A template can't be turned into an open redirect: it begins with `/`, `{path}`, `{uri}`, `http://`
/// or `https://`; in an authority only `{host}` may stand, as the whole host; and a rendered path
/// never begins with two slashes, which a browser would read as another authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: Box<str>,
    pieces: Vec<Piece>,
    relative: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Host,
    Path,
    Query,
    Uri,
    Param(String),
}

/// What a template is filled in from.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    /// A parameter's value, percent-decoded.
    pub(crate) param: &'a dyn Fn(&str) -> Option<Cow<'a, [u8]>>,
}

/// Why a text is no redirect template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A `{` has no `}`, or the reverse.
    #[error("unbalanced brace at byte {offset}")]
    Brace {
        /// Where.
        offset: usize,
    },
    /// `{}`, or a name with bytes outside `[A-Za-z0-9_-]`.
    #[error("not a variable name: {{{name}}}")]
    Name {
        /// What stands between the braces.
        name: String,
    },
    /// A byte that a `Location` field can't carry.
    #[error("byte {offset} is a space, a control character or not ASCII")]
    Byte {
        /// Where.
        offset: usize,
    },
    /// It is neither a path nor an http or https URL.
    #[error("must begin with `/`, `{{path}}`, `{{uri}}`, `http://` or `https://`")]
    Start,
    /// A variable other than `{host}` could change which host is named.
    #[error("only {{host}} may stand before the first `/` of the path, as the whole host")]
    Authority,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// One variant of [`TemplateError`] per rule above.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let pieces = pieces(text)?;
        let relative = match pieces.first() {
            Some(Piece::Path | Piece::Uri) => true,
            Some(Piece::Text(text)) if text.starts_with('/') => true,
            Some(Piece::Text(text)) => {
                let authority = text
                    .strip_prefix("https://")
                    .or_else(|| text.strip_prefix("http://"))
                    .ok_or(TemplateError::Start)?;
                check_authority(authority, pieces.get(1..).unwrap_or_default())?;
                false
            }
            _ => return Err(TemplateError::Start),
        };
        Ok(Self { text: text.into(), pieces, relative })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Renders the template; `None` where it needs a host and the request names none.
    pub(crate) fn render(&self, values: Values<'_>) -> Option<HeaderValue> {
        let mut out = Vec::with_capacity(128);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Host => out.extend_from_slice(values.host?.as_bytes()),
                Piece::Path => out.extend_from_slice(values.path.as_bytes()),
                Piece::Query => out.extend_from_slice(values.query.unwrap_or_default().as_bytes()),
                Piece::Uri => {
                    out.extend_from_slice(values.path.as_bytes());
                    if let Some(query) = values.query {
                        out.push(b'?');
                        out.extend_from_slice(query.as_bytes());
                    }
                }
                Piece::Param(name) => {
                    let value = (values.param)(name).unwrap_or_default();
                    let encoded = percent_encode(&value, NOT_IN_PATH);
                    out.extend(encoded.flat_map(|part| part.bytes()));
                }
            }
        }
        if self.relative {
            keep_on_this_host(&mut out);
        }
        HeaderValue::from_bytes(&out).ok()
    }

    /// The route parameters that the template needs.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Param(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

/// What a parameter's value can't hold literally in a path (RFC 3986 section 3.3).
const NOT_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');

/// `//evil.example` and `/\evil.example` name an authority to a browser.
fn keep_on_this_host(out: &mut Vec<u8>) {
    let leading = out.iter().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
    if leading > 1 {
        out.drain(1..leading);
    }
    if let Some(first) = out.first_mut() {
        *first = b'/';
    }
}

/// The authority ends inside the first text, or is `{host}` with an optional port behind it.
fn check_authority(authority: &str, rest: &[Piece]) -> Result<(), TemplateError> {
    if authority.contains(['@', '\\']) {
        return Err(TemplateError::Authority);
    }
    if let Some(end) = authority.find(['/', '?']) {
        return if end == 0 { Err(TemplateError::Authority) } else { Ok(()) };
    }
    let rest = match (authority.is_empty(), rest) {
        (true, [Piece::Host, rest @ ..]) => rest,
        (false, rest) => rest,
        (true, _) => return Err(TemplateError::Authority),
    };
    match rest {
        [] | [Piece::Path | Piece::Uri, ..] => Ok(()),
        [Piece::Text(text), rest @ ..] => {
            let port = text.find(['/', '?']).map_or(text.as_str(), |end| &text[..end]);
            let digits = port.strip_prefix(':').unwrap_or(port);
            let ends =
                port.len() < text.len() || matches!(rest, [] | [Piece::Path | Piece::Uri, ..]);
            let whole = port.is_empty() || port.starts_with(':');
            if ends && whole && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                Ok(())
            } else {
                Err(TemplateError::Authority)
            }
        }
        _ => Err(TemplateError::Authority),
    }
}

fn pieces(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((offset, char)) = chars.next() {
        match char {
            '{' | '}' if chars.next_if(|(_, next)| *next == char).is_some() => literal.push(char),
            '}' => return Err(TemplateError::Brace { offset }),
            '{' => {
                let mut name = String::new();
                loop {
                    match chars.next() {
                        Some((_, '}')) => break,
                        Some((_, '{')) | None => return Err(TemplateError::Brace { offset }),
                        Some((_, char)) => name.push(char),
                    }
                }
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(variable(name)?);
            }
            '!'..='~' => literal.push(char),
            _ => return Err(TemplateError::Byte { offset }),
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

fn variable(name: String) -> Result<Piece, TemplateError> {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match name.as_str() {
        "host" => Ok(Piece::Host),
        "path" => Ok(Piece::Path),
        "query" => Ok(Piece::Query),
        "uri" => Ok(Piece::Uri),
        "" => Err(TemplateError::Name { name }),
        _ if name.bytes().all(named) => Ok(Piece::Param(name)),
        _ => Err(TemplateError::Name { name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, path: &str, query: Option<&str>, rest: &'static str) -> Option<String> {
        let param = |name: &str| (name == "rest").then_some(Cow::Borrowed(rest.as_bytes()));
        let values = Values { host: Some("a.example"), path, query, param: &param };
        let value = Template::parse(text).ok()?.render(values)?;
        Some(value.to_str().ok()?.to_owned())
    }

    #[test]
    fn renders() {
        for (template, path, query, rest, want) in [
            ("https://{host}{uri}", "/x//y", Some("q=%2F"), "", "https://a.example/x//y?q=%2F"),
            ("https://{host}{uri}", "/x", None, "", "https://a.example/x"),
            ("https://{host}:8443{path}", "/x", None, "", "https://a.example:8443/x"),
            (
                "https://new.example/{rest}?{query}",
                "/",
                Some("a=1"),
                "b",
                "https://new.example/b?a=1",
            ),
            ("/new/{rest}", "/old/x", None, "x", "/new/x"),
            ("/{{x}}", "/", None, "", "/{x}"),
            // Never to another authority.
            ("/{rest}", "/", None, "/evil.example", "/evil.example"),
            ("/{rest}", "/", None, "\\evil.example", "/%5Cevil.example"),
            ("/{rest}", "/", None, "a b\r\nx?#%2f", "/a%20b%0D%0Ax%3F%23%252f"),
            ("{path}", "//evil.example", None, "", "/evil.example"),
            ("{uri}", "/\\/evil.example", Some("x"), "", "/evil.example?x"),
        ] {
            assert_eq!(render(template, path, query, rest).as_deref(), Some(want), "{template}");
        }
    }

    #[test]
    fn refuses() {
        for (template, want) in [
            ("x{", TemplateError::Brace { offset: 1 }),
            ("/x}", TemplateError::Brace { offset: 2 }),
            ("/{a b}", TemplateError::Name { name: "a b".into() }),
            ("/{}", TemplateError::Name { name: String::new() }),
            ("/a b", TemplateError::Byte { offset: 2 }),
            ("{rest}", TemplateError::Start),
            ("ftp://x/", TemplateError::Start),
            ("javascript:alert(1)", TemplateError::Start),
            ("https://{rest}/", TemplateError::Authority),
            ("https://a.example{rest}", TemplateError::Authority),
            ("https://{host}{rest}", TemplateError::Authority),
            ("https://{host}.evil.example/", TemplateError::Authority),
            ("https://{host}@evil.example/", TemplateError::Authority),
            ("https://a@{host}/", TemplateError::Authority),
            ("https:///x", TemplateError::Authority),
        ] {
            assert_eq!(Template::parse(template), Err(want), "{template}");
        }
    }
}
