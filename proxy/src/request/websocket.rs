//! A WebSocket on one stream of HTTP/2.

use std::rc::Rc;

use bytes::Bytes;
use hyper::upgrade::OnUpgrade;
use tokio::task::spawn_local;

use crate::forward::Tunnel;
use crate::server::Client;

/// Runs a tunnel on a task of its own, which begins when the response has been sent.
pub(super) fn tunnel(client: &Rc<Client>, tunnel: Box<Tunnel>, upgrade: OnUpgrade) {
    // The stream's own waits end with its response.
    let client = client.stream();
    spawn_local(async move {
        if let Ok(socket) = upgrade.await {
            tunnel.run(&client, socket, Bytes::new()).await;
        }
    });
}
