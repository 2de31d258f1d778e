//! Network interfaces, over the veth that the tests of strata-xdp draw.
#[path = "../../xdp/tests/veth/mod.rs"]
mod veth;

use strata_base::errno::{EINVAL, ENODEV};
use strata_netlink::*;
use veth::*;

/// Waits until it hears something that fits.
#[track_caller]
fn hears(watch: &mut LinkWatch, fits: impl Fn(&LinkEvent) -> bool) {
    while let Some(event) = watch.event(Some(SOON)).unwrap() {
        if fits(&event) {
            return;
        }
    }
    panic!("nothing of that kind happened in {SOON:?}");
}

#[test]
fn links_are_listed() {
    let veth = Veth::new();
    veth.enter_a();
    let link = Link::named("vethA").unwrap();
    assert_eq!((link.mac, link.mtu, &*link.kind), (MacAddress(A), 1500, "veth"));
    assert!(link.is_up() && link.is_running() && link.peer.is_some());
    let all = Link::all().unwrap();
    assert!(all.contains(&link) && all.iter().any(|each| each.name == "lo"), "{all:?}");
    let error = Link::named("none0").unwrap_err();
    assert_eq!(error.errno(), ENODEV);
    assert!(error.to_string().contains("none0"), "{error}");
    assert_eq!(Link::named("with\0nul").unwrap_err().errno(), EINVAL);
}

#[test]
fn what_happens_to_a_link_is_heard() {
    let veth = Veth::new();
    veth.enter_a();
    let mut watch = LinkWatch::open().unwrap();
    assert_eq!(watch.try_event().unwrap(), None);
    veth.set_mtu(1400);
    hears(&mut watch, |event| match event {
        LinkEvent::Changed(link) => link.name == "vethA" && link.mtu == 1400,
        LinkEvent::Removed(_) => false,
    });
    drop(veth);
    hears(&mut watch, |event| match event {
        LinkEvent::Removed(link) => link.name == "vethA",
        LinkEvent::Changed(_) => false,
    });
}
