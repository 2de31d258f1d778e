//! The examples as their users run them, over the veth of veth/mod.rs: udp_pkt_gen in the namespace
//! of vethA sends to rxdrop, or to tshark, in that of vethB.
mod veth;

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use veth::*;

/// cargo builds the examples before it runs tests.
fn example(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let built: PathBuf = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    built.to_str().unwrap().to_string()
}

fn generator(veth: &Veth, count: u32, more: &[&str]) -> Command {
    let mut command = veth.command_a(&example("udp_pkt_gen"));
    command.args(["-d", "vethA", "-q", "0", "-c", &count.to_string()]);
    command.args(["-dmac", "02:00:00:00:00:0b", "-smac", "02:00:00:00:00:0a"]);
    command.args(["-dip", "10.77.0.2:7777", "-sip", "10.77.0.1:6666"]).args(more);
    command
}

fn receiver(veth: &Veth, count: u32, more: &[&str]) -> (Child, impl BufRead) {
    let mut command = veth.command_b(&example("rxdrop"));
    command.args(["-d", "vethB", "-q", "0", "-c", &count.to_string()]).args(more);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let said = wait_for(&mut child, "listens on queue 0 of vethB: copy, native program");
    (child, said)
}

/// Reads what `child` says until `words` come; the rest is to be read, or it would be stopped.
fn wait_for(child: &mut Child, words: &str) -> impl BufRead {
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "it ended without '{words}'");
    }
    said
}

fn end_of(child: Child, mut said: impl Read) -> String {
    let printed = succeeded("the receiver", &child.wait_with_output().unwrap());
    said.read_to_string(&mut String::new()).unwrap();
    print!("{printed}");
    printed
}

/// The number behind `words`.
#[track_caller]
fn number(text: &str, words: &str) -> f64 {
    let rest = text.split_once(words).unwrap_or_else(|| panic!("no '{words}' in: {text}")).1;
    rest.split_whitespace().next().unwrap().trim_end_matches(',').parse().unwrap()
}

#[test]
fn rxdrop_counts_what_udp_pkt_gen_sent() {
    let veth = Veth::new();
    for flags in [&[][..], &["-w"], &["-f", "2048"]] {
        let count = 50_000;
        let (child, said) = receiver(&veth, count, &[&["-p", "7777", "-t", "20"], flags].concat());
        let sent = generator(&veth, count, flags).output().unwrap();
        let sent = succeeded("udp_pkt_gen", &sent);
        print!("{sent}");
        assert_eq!(number(&sent, "[udp_pkt_gen] "), f64::from(count));
        assert!(number(&sent, "(s) ") > 0.0);
        let got = end_of(child, said);
        // What a slow receiver loses the kernel counts, under one name or two: see Statistics.
        let lost = f64::from(count) - number(&got, "received: ");
        let dropped = number(&got, "dropped ");
        assert!(dropped <= lost && lost <= dropped + number(&got, "ring full "), "{got}");
        assert!(number(&got, "max: ") >= number(&got, "min: "), "{got}");
        assert!(number(&got, "min: ") > 0.0, "{got}");
    }
}

#[test]
fn rxdrop_ends_by_time_by_silence_and_by_count() {
    let veth = Veth::new();
    let (child, said) = receiver(&veth, 10, &["-t", "0.2"]);
    assert_eq!(number(&end_of(child, said), "received: "), 0.0);
    let (child, said) = receiver(&veth, 10, &[]);
    succeeded("udp_pkt_gen", &generator(&veth, 9, &[]).output().unwrap());
    assert_eq!(number(&end_of(child, said), "received: "), 9.0);
    let (child, said) = receiver(&veth, 10, &[]);
    succeeded("udp_pkt_gen", &generator(&veth, 100, &[]).output().unwrap());
    assert_eq!(number(&end_of(child, said), "received: "), 10.0);
    // Another port's packets go to the kernel.
    let (child, said) = receiver(&veth, 10, &["-p", "7778", "-t", "0.5"]);
    succeeded("udp_pkt_gen", &generator(&veth, 100, &[]).output().unwrap());
    assert_eq!(number(&end_of(child, said), "received: "), 0.0);
}

#[test]
fn tshark_finds_every_checksum_and_number_right() {
    let veth = Veth::new();
    let capture = std::env::temp_dir().join(format!("strata-rust-{}.pcapng", std::process::id()));
    let path = capture.to_str().unwrap();
    let count = 2000;
    let mut tshark = veth.command_b("tshark");
    tshark.args(["-i", "vethB", "-f", "udp port 7777", "-c", &count.to_string(), "-w", path]);
    let mut child = tshark.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said = wait_for(&mut child, "Capture started");
    succeeded("udp_pkt_gen", &generator(&veth, count, &[]).output().unwrap());
    end_of(child, said);
    let mut reader = Command::new("timeout");
    reader.args(["60", "tshark", "-r", path, "-T", "fields"]);
    reader.args(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]);
    for field in ["ip.checksum.status", "udp.checksum.status", "ip.ttl", "eth.src", "eth.dst"] {
        reader.args(["-e", field]);
    }
    for field in ["ip.src", "udp.srcport", "ip.dst", "udp.dstport", "udp.length", "data"] {
        reader.args(["-e", field]);
    }
    let decoded = succeeded("tshark", &reader.output().unwrap());
    let _ = std::fs::remove_file(&capture);
    assert_eq!(decoded.lines().count(), count as usize);
    for (number, line) in decoded.lines().enumerate() {
        // A status of 1 is good.
        let addresses = "02:00:00:00:00:0a\t02:00:00:00:00:0b\t10.77.0.1\t6666\t10.77.0.2\t7777";
        let wanted = format!("1\t1\t64\t{addresses}\t26\t{number:016x}{:020x}", 0);
        assert_eq!(line, wanted);
    }
    println!("{count} packets decoded, the last: {}", decoded.lines().last().unwrap());
}

#[test]
fn bad_command_lines_are_refused_with_a_sentence() {
    let veth = Veth::new();
    let cases = [
        (vec!["-d", "vethB", "-q", "0"], "-c is missing"),
        (vec!["-d", "vethB", "-q", "0", "-c"], "-c needs a value"),
        (vec!["-d", "vethB", "-q", "0", "-c", "many"], "-c many"),
        (vec!["-d", "vethB", "-q", "0", "-c", "1", "-x"], "'-x' is unknown"),
        (vec!["-d", "none0", "-q", "0", "-c", "1"], "no interface has this name"),
        (vec!["-d", "vethB", "-q", "0", "-c", "1", "-z"], "zero-copy"),
        (vec!["-d", "vethB", "-q", "0", "-c", "1", "-f", "1000"], "1000"),
    ];
    for (arguments, sentence) in cases {
        let output = veth.command_b(&example("rxdrop")).args(&arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    }
    let output = generator(&veth, 1, &["-smac", "02:00"]).output().unwrap();
    assert!(!output.status.success());
}
