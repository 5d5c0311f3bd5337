//! Which exchanges are cut some time after a flip.

use std::rc::Rc;

use fingerpost_authority::Host;
use http::header::CONTENT_TYPE;
use http::{Response, Uri};

use crate::forward::Download;
use crate::server::{Client, Lasting};
use crate::upstream::FleetPool;

/// Whether a response goes on until somebody ends it.
pub(super) fn is_event_stream<B>(response: &Response<B>) -> bool {
    const TYPE: &[u8] = b"text/event-stream";
    let value = response.headers().get(CONTENT_TYPE).map(|value| value.as_bytes());
    value
        .and_then(|value| value.get(..TYPE.len()))
        .is_some_and(|begin| begin.eq_ignore_ascii_case(TYPE))
}

/// Follows an exchange that may go on for ever.
pub(super) fn follow(
    client: &Rc<Client>,
    host: Option<Host>,
    target: Uri,
    fleet: &FleetPool,
    response: &mut Response<Download>,
) {
    let lasting = Lasting::begin(client.worker(), host, target, &fleet.fleet);
    let followed = client.with_tunnel(|tunnel| tunnel.follow(Rc::clone(&lasting)));
    if followed.is_none() {
        response.body_mut().follow(lasting);
    }
}
