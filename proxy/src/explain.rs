//! Which route a request takes, and why: the decision of a running proxy, without a connection.

use std::io::{self, BufRead, BufWriter, Write};
use std::sync::Arc;

use fingerpost_authority::{
    Head, Host, HostFields, HostPattern, HttpVersion, Selected, Target, TransferEncoding, select,
};
use fingerpost_router::{Explanation, Lookup, Router};
use serde_json::Value;

use crate::entry::Entry;
pub use answer::Answer;
use request::Request;

mod answer;
mod request;

/// Answers every line of `input` with a line of `output`, in order.
///
/// A line that is no request is answered with an error and its id, if it has one. Output is written when
/// the input pauses, so that a program can ask and wait.
///
/// # Errors
///
/// When reading or writing fails.
pub fn lines(
    router: &Router<Arc<Entry>>,
    mut input: impl LineSource,
    output: impl Write,
) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(64 * 1024, output);
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return output.flush();
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        match Request::parse(text) {
            Ok(request) => {
                let id = request.id.clone();
                serde_json::to_writer(&mut output, &explain(router, &request).with_id(id))?;
            }
            Err((id, error)) => {
                let answer = serde_json::json!({ "id": id, "error": error });
                serde_json::to_writer(&mut output, &answer)?;
            }
        }
        output.write_all(b"\n")?;
        if input.pauses() {
            output.flush()?;
        }
    }
}

/// Lines to read, and whether reading the next one may have to wait.
pub trait LineSource: BufRead {
    /// Nothing is buffered.
    fn pauses(&self) -> bool;
}

impl<R: io::Read> LineSource for io::BufReader<R> {
    fn pauses(&self) -> bool {
        self.buffer().is_empty()
    }
}

/// Answers one request that is written as a person would: a host and a target of HTTP/1.1.
#[must_use]
pub fn one(router: &Router<Arc<Entry>>, host: &str, target: &str) -> Answer {
    let request = Request {
        id: Value::Null,
        version: HttpVersion::Http11,
        method: "GET".into(),
        target: target.as_bytes().to_vec(),
        hosts: vec![host.as_bytes().to_vec()],
        authority: None,
        tls_names: None,
    };
    explain(router, &request)
}

/// Answers one line; beside the answer stands the site of the requested host.
///
/// # Errors
///
/// What is wrong with the line.
pub(crate) fn line(
    router: &Router<Arc<Entry>>,
    line: &[u8],
) -> Result<(Answer, Option<String>), String> {
    let request = Request::parse(line).map_err(|(_, error)| error)?;
    let answer = explain(router, &request);
    let site = answer.site.clone();
    let id = request.id.clone();
    Ok((if id.is_null() { answer } else { answer.with_id(id) }, site))
}

fn explain(router: &Router<Arc<Entry>>, request: &Request) -> Answer {
    let target = Target::parse(&request.target);
    let head = Head {
        version: request.version,
        method: request.method.as_bytes(),
        target,
        authority: request.authority.as_deref(),
        scheme: None,
        websocket: false,
        hosts: HostFields::from_values(request.hosts.iter().map(Vec::as_slice)),
        transfer_encoding: TransferEncoding::None,
        tls_names: request.tls_names.as_deref(),
    };
    let host = match select(&head) {
        Err(rejected) => {
            let mut answer = Answer::refused(rejected.status(), rejected.reason());
            // The certificate is checked last: the host is known where that is what fails.
            if let Ok(Selected::Host(host)) = select(&Head { tls_names: None, ..head }) {
                answer.host = Some(host.to_string());
            }
            return answer;
        }
        Ok(Selected::Asterisk) => {
            return Answer::refused(200, "the proxy answers OPTIONS * itself");
        }
        Ok(Selected::NoHost) => None,
        Ok(Selected::Host(host)) => Some(host),
    };
    let Some(path) = target.path() else {
        return Answer::refused(400, "the request names no path");
    };
    let lookup = Lookup { host: host.as_ref(), path, query: target.query() };
    answer(host.as_ref(), &router.explain(&lookup))
}

fn answer(host: Option<&Host>, explanation: &Explanation<'_, '_, Arc<Entry>>) -> Answer {
    let site = explanation.site();
    let mut answer = Answer {
        host: host.map(ToString::to_string),
        site: site.map(|site| site.name().to_owned()),
        tier: site.map(|site| site.tier().name()),
        reason: explanation.reasons().join("; "),
        ..Answer::default()
    };
    match explanation.outcome() {
        Ok(Some(found)) => {
            answer.status = 200;
            answer.tier = Some(found.tier().name());
            answer.route = Some(found.value().id.to_string());
            answer.prefix = found.prefix().map(str::to_owned);
            answer.target = found.target().map(ToString::to_string);
            answer.spelling = Some(found.spelling().name());
        }
        Ok(None) => answer.status = 404,
        Err(refused) => answer.status = refused.status(),
    }
    answer
}

/// Reads a name of a certificate.
fn tls_name(text: &str) -> Result<HostPattern, String> {
    HostPattern::from_written(text).map_err(|error| format!("tls_names: {text:?}: {error}"))
}
