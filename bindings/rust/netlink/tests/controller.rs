//! Generic netlink against the kernel's controller, which needs no privileges.
use std::os::unix::io::AsRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use strata_base::errno::{EINVAL, EMSGSIZE, ENOENT, EOPNOTSUPP};
use strata_netlink::*;

const CONTROLLER: u16 = 16;
const GETFAMILY: u8 = 3;
const NEWFAMILY: u8 = 1;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

fn open() -> Generic {
    Generic::open().unwrap()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T>, errno: i32, words: &[&str]) -> Error {
    let error = outcome.expect_err("it should be refused");
    assert_eq!(error.errno(), errno, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "no '{word}' in: {error}");
    }
    error
}

#[test]
fn a_family_is_resolved_and_described() {
    let mut on = open();
    assert_eq!(on.resolve("nlctrl").unwrap(), CONTROLLER);
    let family = on.family("nlctrl").unwrap();
    assert_eq!((family.id, family.version, family.header_size), (CONTROLLER, 2, 0));
    let getfamily = family.operations.iter().find(|each| each.command == 3).unwrap();
    assert!(getfamily.can_do && getfamily.can_dump && getfamily.has_policy);
    assert!(!getfamily.needs_admin && !getfamily.needs_uns_admin);
    assert!(family.group("notify").is_some() && family.group("other").is_none());
    assert!(on.families().unwrap().contains(&family));
}

#[test]
fn a_family_that_is_not_there_is_an_error_with_a_remedy() {
    let mut on = open();
    let words = ["'no_such'", "a module may have to be loaded"];
    refused(on.resolve("no_such"), ENOENT, &words);
    let error = refused(on.family("no_such"), ENOENT, &words);
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    refused(on.resolve("with\0nul"), EINVAL, &["NUL"]);
    refused(on.resolve("averyverylongname12345"), EINVAL, &["policy"]);
    refused(on.resolve(&"x".repeat(100_000)), EMSGSIZE, &["32768"]);
    refused(on.request(CONTROLLER, 99).ask(), EOPNOTSUPP, &["command 99", "family 16"]);
}

#[test]
fn a_reply_is_lent_with_its_attributes() {
    let mut on = open();
    for _ in 0..3 {
        let reply = on.request(CONTROLLER, GETFAMILY).text(FAMILY_NAME, "nlctrl").ask().unwrap();
        assert_eq!((reply.family, reply.command, reply.is_ack), (CONTROLLER, NEWFAMILY, false));
        assert_eq!(reply.attributes.text(FAMILY_NAME), Some("nlctrl"));
        assert_eq!(reply.attributes.number(FAMILY_ID), Some(CONTROLLER.into()));
    }
    let asked = on.request_of_version(CONTROLLER, GETFAMILY, 2).acknowledged();
    let reply = asked.u16(FAMILY_ID, CONTROLLER).ask().unwrap();
    assert_eq!(reply.attributes.text(FAMILY_NAME), Some("nlctrl"));
    assert!(on.cookie().is_empty());
}

#[test]
fn the_kernels_words_and_the_place_are_kept() {
    // The last attribute is what is wrong: its place says how long the others are.
    let mut on = open();
    let outcome = on
        .request(CONTROLLER, GETFAMILY)
        .u16(FAMILY_ID, CONTROLLER) // 8 bytes, behind 20
        .flag(0x2001) // 4
        .u8(0x2001, 1) // 8
        .u32(0x2001, 1) // 8
        .u64(0x2001, 1) // 12
        .bytes(0x2001, b"12345") // 12
        .nest(0x2001, |outer| outer.text(1, "hello").nest(2, |inner| inner.u32(1, 2))) // 28
        .text(FAMILY_NAME, "averyverylongname12345")
        .ask();
    let error = refused(outcome, EINVAL, &["check attribute 2"]);
    assert_eq!(error.reason(), "Attribute failed policy validation");
    assert_eq!(error.offset(), Some(20 + 8 + 4 + 8 + 8 + 12 + 12 + 28));

    let options = Options { extended_acks: false, ..Options::default() };
    let mut on = Generic::open_with(&options).unwrap();
    let error = refused(on.resolve("averyverylongname12345"), EINVAL, &[]);
    assert_eq!((error.reason(), error.offset()), ("", None));
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut on = open();
    let long = [0; 70_000];
    refused(on.request(CONTROLLER, GETFAMILY).bytes(1, &long).ask(), EMSGSIZE, &["32768"]);
    refused(on.request(CONTROLLER, GETFAMILY).bytes(1, &long[..40_000]).ask(), EMSGSIZE, &[]);
    fn deep(within: Nest<'_>, left: u32) -> Nest<'_> {
        if left == 0 {
            return within;
        }
        within.nest(1, |inner| deep(inner, left - 1))
    }
    let asked = on.request(CONTROLLER, GETFAMILY).nest(1, |nest| deep(nest, 8));
    refused(asked.ask(), EMSGSIZE, &["8 deep"]);
    for largest_message in [0, 100, u32::MAX] {
        let options = Options { largest_message, ..Options::default() };
        refused(Generic::open_with(&options), EINVAL, &[&largest_message.to_string()]);
    }
    let options = Options { largest_message: 100_000, ..Options::default() };
    let mut on = Generic::open_with(&options).unwrap();
    let asked = on.request(CONTROLLER, GETFAMILY).bytes(0x2001, &long[..65_000]);
    let reply = asked.text(FAMILY_NAME, "nlctrl").ask().unwrap();
    assert_eq!(reply.attributes.number(FAMILY_ID), Some(CONTROLLER.into()));
    // An abandoned request is nothing.
    let _ = on.request(CONTROLLER, GETFAMILY).text(FAMILY_NAME, "nlctrl");
    assert_eq!(on.resolve("nlctrl").unwrap(), CONTROLLER);
}

#[test]
fn a_dump_hands_each_message_over() {
    let mut on = open();
    let mut names = Vec::new();
    on.request(CONTROLLER, GETFAMILY)
        .dump(|message| names.push(message.attributes.text(FAMILY_NAME).unwrap().to_string()))
        .unwrap();
    assert!(names.contains(&"nlctrl".to_string()), "{names:?}");
    let mut listed: Vec<_> = on.families().unwrap().into_iter().map(|each| each.name).collect();
    listed.sort();
    names.sort();
    assert_eq!(names, listed);
    refused(on.request(CONTROLLER, 99).dump(|_| ()), EOPNOTSUPP, &["command 99"]);
}

#[test]
fn a_panic_in_a_dump_does_not_go_through_c() {
    let mut on = open();
    let mut calls = 0;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        on.request(CONTROLLER, GETFAMILY).dump(|_| {
            calls += 1;
            panic!("on purpose");
        })
    }));
    let said = panicked.expect_err("it panicked");
    assert_eq!(said.downcast_ref::<&str>(), Some(&"on purpose"));
    assert_eq!(calls, 1);
    // All of the dump was read.
    assert_eq!(on.resolve("nlctrl").unwrap(), CONTROLLER);
    on.request(CONTROLLER, GETFAMILY).dump(|_| ()).unwrap();
}

#[test]
fn a_group_is_joined_and_left() {
    let mut on = open();
    let group = on.family("nlctrl").unwrap().group("notify").unwrap();
    on.join(group).unwrap();
    while on.event(Some(Duration::from_millis(1))).unwrap().is_some() {}
    on.leave(group).unwrap();
    assert_eq!(on.try_event().unwrap(), None);
    assert!(on.join(1 << 30).is_err());
    assert!(on.as_raw_fd() >= 0);
}

#[test]
fn a_connection_goes_to_another_thread() {
    let mut on = open();
    std::thread::spawn(move || assert_eq!(on.resolve("nlctrl").unwrap(), CONTROLLER))
        .join()
        .unwrap();
}

#[test]
fn any_bytes_are_walked_within_their_bounds() {
    let mut state = 1u32;
    for size in 0..300 {
        let bytes: Vec<u8> = (0..size)
            .map(|i| {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
                let byte = (state >> 16) as u8;
                if i % 2 == 1 {
                    byte & 0xc0 // few are long
                } else {
                    byte % 24
                }
            })
            .collect();
        for each in Attributes::new(&bytes) {
            assert!(each.value().len() <= size);
            assert!(each.text().map_or(0, str::len) <= each.value().len());
            assert_eq!(each.number().is_some(), matches!(each.value().len(), 1 | 2 | 4 | 8));
            assert!(each.nest().count() <= each.value().len() / 4);
        }
    }
    let big_endian = [8, 0, 5, 0x40, 1, 2, 3, 4];
    let number = u64::from(u32::from_be_bytes([1, 2, 3, 4]));
    if cfg!(target_endian = "little") {
        assert_eq!(Attributes::new(&big_endian).number(5), Some(number));
    }
}
