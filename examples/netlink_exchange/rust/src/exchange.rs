//! The exchange with the controller and with strata_echo.

use std::time::Duration;

use strata_netlink::{Generic, Message, Options};

use crate::failure::{wrong, Failure, Result};
use crate::family::{attribute, command, GROUP_EVENTS};

const EVENT_PATIENCE: Duration = Duration::from_secs(5);
const EINVAL: i32 = 22;

/// Without extended ACKs, which the exchange does not need.
pub fn open_plain() -> Result<Generic> {
    let options = Options { extended_acks: false, ..Options::default() };
    Ok(Generic::open_with(&options)?)
}

fn missing(what: &str) -> Failure {
    wrong(format!("a message without {what}; is the family another one?"))
}

fn text_in<'a>(message: &Message<'a>) -> Result<&'a str> {
    message.attributes.text(attribute::MSG).ok_or_else(|| missing("its MSG"))
}

fn number_in(message: &Message, attribute: u16) -> Result<u64> {
    message.attributes.number(attribute).ok_or_else(|| missing("its number"))
}

pub fn echo(on: &mut Generic, family: u16, text: &str) -> Result<()> {
    let reply = on.request(family, command::ECHO_MSG).text(attribute::MSG, text).ask()?;
    let heard = text_in(&reply)?;
    if heard != text {
        return Err(wrong(format!("sent '{text}', and received '{heard}'; is it another family?")));
    }
    Ok(())
}

fn dump(on: &mut Generic, family: u16) -> Result<()> {
    println!("sent ECHO_MSG (dump)");
    let mut outcome = Ok(());
    on.request(family, command::ECHO_MSG).dump(|message| {
        let shown = number_in(&message, attribute::INDEX).and_then(|index| {
            println!("received ECHO_MSG {index} \"{}\"", text_in(&message)?);
            Ok(())
        });
        outcome = std::mem::replace(&mut outcome, Ok(())).and(shown);
    })?;
    println!("received NLMSG_DONE");
    outcome
}

fn be_refused(on: &mut Generic, family: u16, text: &str) -> Result<()> {
    println!("sent REPLY_WITH_NLMSG_ERR \"{text}\"");
    let asked = on.request(family, command::REPLY_WITH_NLMSG_ERR).text(attribute::MSG, text);
    match asked.ask() {
        Err(error) if error.errno() == EINVAL => {
            let offset = error.offset().ok_or_else(|| missing("an offset"))?;
            println!("received NLMSG_ERROR -{EINVAL} \"{}\" at offset {offset}", error.reason());
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(reply) => Err(wrong(format!("received {reply:?} instead of an error"))),
    }
}

/// Events have a connection of their own, so that none comes between a request and its reply.
fn hear_event(on: &mut Generic, family: u16, group: u32, text: &str) -> Result<()> {
    let mut listener = Generic::open()?;
    listener.join(group)?;
    println!("sent NOTIFY \"{text}\"");
    let asked = on.request(family, command::NOTIFY).acknowledged().text(attribute::MSG, text);
    if !asked.ask()?.is_ack {
        return Err(wrong("received a message instead of an ACK; is the family another one?"));
    }
    println!("received ACK");
    while let Some(event) = listener.event(Some(EVENT_PATIENCE))? {
        // Others' events, and those that nobody asked for, come too.
        if matches!(text_in(&event), Ok(heard) if heard == text) {
            println!("received EVENT {} \"{text}\"", number_in(&event, attribute::SEQUENCE)?);
            return Ok(());
        }
    }
    Err(wrong("heard no EVENT in 5 s; see kernel/uapi/strata_echo.h"))
}

pub fn demonstrate(name: &str) -> Result<()> {
    let mut on = Generic::open()?;
    let family = on.family(name)?;
    let group = family.group(GROUP_EVENTS).ok_or_else(|| missing("the group 'events'"))?;
    println!("resolved {name}: family {}, group \"events\" {group}", family.id);
    println!("sent ECHO_MSG \"hello\"");
    echo(&mut on, family.id, "hello")?;
    println!("received ECHO_MSG \"hello\"");
    dump(&mut on, family.id)?;
    be_refused(&mut on, family.id, "hello")?;
    hear_event(&mut on, family.id, group, "hello")
}
