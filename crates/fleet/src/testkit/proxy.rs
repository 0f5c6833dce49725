//! A wire between a fleet and a process that loses an answer when told to: the request arrives,
//! the work is done, and the connection is cut before the answer is through.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    lose: Arc<AtomicBool>,
    lost: Arc<AtomicU32>,
}

impl Proxy {
    /// A wire to `target`. Needs a runtime, which it dies with.
    pub(crate) async fn to(target: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (lose, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let flags = (lose.clone(), lost.clone());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let flags = flags.clone();
                tokio::spawn(async move {
                    if let Ok(far) = TcpStream::connect(target).await {
                        carry(near, far, flags).await;
                    }
                });
            }
        });
        Proxy { address, lose, lost }
    }

    /// The next thing that the process says is not heard.
    pub(crate) fn lose_next(&self) {
        self.lose.store(true, Ordering::SeqCst);
    }

    /// How often that happened.
    pub(crate) fn lost(&self) -> u32 {
        self.lost.load(Ordering::SeqCst)
    }
}

async fn carry(near: TcpStream, far: TcpStream, flags: (Arc<AtomicBool>, Arc<AtomicU32>)) {
    let (lose, lost) = flags;
    near.set_nodelay(true).expect("a socket");
    far.set_nodelay(true).expect("a socket");
    let (mut near_in, mut near_out) = near.into_split();
    let (mut far_in, mut far_out) = far.into_split();
    let outward = async {
        let _ = tokio::io::copy(&mut near_in, &mut far_out).await;
    };
    let homeward = async {
        let mut buffer = vec![0; 16384];
        while let Ok(read @ 1..) = far_in.read(&mut buffer).await {
            if lose.swap(false, Ordering::SeqCst) {
                lost.fetch_add(1, Ordering::SeqCst);
                return;
            }
            if near_out.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    };
    // Whoever ends first cuts both directions.
    tokio::select! {
        () = outward => {}
        () = homeward => {}
    }
}
