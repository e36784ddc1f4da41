//! `conclave lab`: the page's lab, without a cluster.

use crate::failure::{Exit, Usage, ip_port};
use crate::output::{print, typed};
use crate::signals;
use crate::texts::tr;
use conclave_page::{Page, guarded, serve};
use std::io;
use std::net::{SocketAddr, TcpListener};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// Questions are answered on threads of their own; these only read and write.
const THREADS: usize = 2;

/// Serves a page on which to play with the algorithms; Ctrl-C ends it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  conclave lab\n  conclave lab --http 127.0.0.1:8080")]
pub struct Lab {
    /// Where the page is served; port 0: a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070", value_parser = ip_port)]
    http: SocketAddr,
}

/// Binds, says where, serves until told to stop.
pub fn run(arguments: &Lab) -> anyhow::Result<Exit> {
    let listener = bind(arguments.http)?;
    let own = listener.local_addr()?;
    let (sender, stopped) = oneshot::channel();
    let mut sender = Some(sender);
    signals::pass_on(move |_| {
        // Told twice, it is stopping already.
        let _ = sender.take().map(|sender| sender.send(()));
    })?;
    let page = Page { lab: true, ..Page::default() };
    let router = guarded(page.router(), vec![own.to_string()]);
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        print(&format!("{} {}\n", tr("The lab:"), typed(format!("http://{own}/lab"))))?;
        print(&format!("{}\n", tr("Ctrl-C ends it.")))?;
        serve(listener, router, async {
            // A sender that is gone ends it as well.
            let _ = stopped.await;
        })
        .await;
        anyhow::Ok(())
    })?;
    // A search under way on another thread is not waited for.
    runtime.shutdown_background();
    Ok(Exit::Done)
}

fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let refused = |error: io::Error| {
        let port = address.port();
        let reason = if error.kind() == io::ErrorKind::AddrInUse {
            format!("port {port} is taken; name another port, or 0 to choose a free one")
        } else {
            error.to_string()
        };
        Usage::flag("--http", address, reason)
    };
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
