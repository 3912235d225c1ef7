use super::*;

const TOKEN: [u8; TOKEN_BYTES] = [7; TOKEN_BYTES];

fn joining(addresses: &[String], index: usize) -> Joining<'static> {
    Joining {
        addresses: addresses.to_vec(),
        index,
        token: TOKEN,
        identity: [("build", 1), ("options", 2), ("program", 3)],
        is_cancelled: &|| false,
    }
}

/// Process 0 of two, and where it listens.
fn first() -> (TcpListener, Vec<String>) {
    let listener = listen("127.0.0.1:0").expect("there is a port");
    let own = listener.local_addr().expect("it has one").to_string();
    (listener, vec![own, "127.0.0.1:1".into()])
}

/// Process 0 with a connection to somebody who only pretends to be process 1.
fn pretended() -> (Peers, TcpStream) {
    let (listener, addresses) = first();
    let hello = joining(&addresses, 1).hello();
    let mut stream = TcpStream::connect(&addresses[0]).expect("somebody listens");
    stream.write_all(&hello).expect("it is sent");
    let peers = joining(&addresses, 0).join(&listener).expect("all came");
    (peers, stream)
}

fn lost(peers: &Peers) -> String {
    match peers.receive(Duration::from_secs(20)) {
        Some(Event::Lost { from: 1, reason }) => reason,
        Some(Event::Lost { from, .. } | Event::Frame { from, .. }) => panic!("{from} is there"),
        None => panic!("nothing has come"),
    }
}

#[test]
fn frames_arrive_as_they_were_sent() {
    let (peers, mut stream) = pretended();
    let frames = [(Kind::States, vec![1, 2, 3]), (Kind::Done, Vec::new())];
    for (place, frame) in (0..).zip(&frames) {
        write_frame(&mut stream, place, frame).expect("it is sent");
    }
    for expected in &frames {
        match peers.receive(Duration::from_secs(20)) {
            Some(Event::Frame { kind, payload, .. }) => assert_eq!((kind, payload), *expected),
            _ => panic!("{:?} has not come", expected.0),
        }
    }
    drop(stream);
    assert!(lost(&peers).contains("closed the connection"));
}

#[test]
fn a_frame_that_was_changed_or_repeated_has_no_meaning() {
    let mut good = Vec::new();
    write_frame(&mut good, 0, &(Kind::States, vec![5; 40])).expect("memory takes it");
    for byte in 0..good.len() {
        let mut bytes = good.clone();
        bytes[byte] ^= 0x11;
        // The padding says nothing; of a longer payload the end is missing.
        let is_padding = (1..4).contains(&byte);
        assert_eq!(
            read_frame(&mut &bytes[..], 0).is_err(),
            !is_padding,
            "{byte}"
        );
    }
    assert!(read_frame(&mut &good[..], 0).is_ok());
    assert!(read_frame(&mut &good[..], 1).is_err());
    let (peers, mut stream) = pretended();
    good[20] ^= 1;
    stream.write_all(&good).expect("it is sent");
    assert!(lost(&peers).contains("without meaning"));
}

#[test]
fn a_length_without_bounds_is_refused_before_memory_is_taken() {
    let mut head = [0; HEAD_BYTES];
    head[0] = Kind::States as u8;
    head[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let refused = read_frame(&mut io::repeat(0).take(0).chain(&head[..]), 0);
    assert!(refused.is_err_and(|reason| reason.contains("without meaning")));
}

#[test]
fn strangers_are_turned_away() {
    let (listener, addresses) = first();
    let mut other_token = joining(&addresses, 1);
    other_token.token[63] ^= 1;
    let mut other_version = joining(&addresses, 1).hello();
    other_version[13] = b'0';
    let mut streams = Vec::new();
    for hello in [
        b"GET / HTTP/1.1\r\n\r\n".repeat(20),
        other_token.hello(),
        other_version,
        joining(&addresses, 1).hello(),
    ] {
        let mut stream = TcpStream::connect(&addresses[0]).expect("somebody listens");
        stream.write_all(&hello).expect("it is sent");
        streams.push(stream);
    }
    let peers = joining(&addresses, 0).join(&listener).expect("all came");
    assert_eq!(peers.strangers, 3);
    // They are not told anything.
    let mut bytes = Vec::new();
    let _ = streams[1].read_to_end(&mut bytes);
    assert!(bytes.is_empty());
}

#[test]
fn whoever_searches_something_else_ends_the_search_on_both_sides() {
    let (listener, addresses) = first();
    let mut other = joining(&addresses, 1);
    other.identity[2].1 = 4;
    let theirs = thread::spawn(move || {
        let listener = listen("127.0.0.1:0").expect("there is a port");
        other
            .join(&listener)
            .map(|_| ())
            .map_err(|error| error.to_string())
    });
    let ours = joining(&addresses, 0)
        .join(&listener)
        .map_err(|error| error.to_string());
    let theirs = theirs.join().expect("it does not fail");
    assert!(ours.is_err_and(|error| error.contains("process 1") && error.contains("program")));
    assert!(theirs.is_err_and(|error| error.contains("process 0") && error.contains("program")));
}
