//! The exchange with the controller and with strata_echo.

use neli::consts::genl::{CtrlAttr, CtrlAttrMcastGrp, CtrlCmd, Index};
use neli::consts::nl::NlmF;
use neli::genl::Genlmsghdr;

use crate::connection::{Connection, Refusal, Reply};
use crate::failure::{no_family, wrong, Failure, Result};
use crate::family::{Attribute, Command, DUMP_COUNT, GROUP_EVENTS};

const CONTROLLER: u16 = libc::GENL_ID_CTRL as u16;
const EVENT_PATIENCE_S: i64 = 5;

type Family = Genlmsghdr<CtrlCmd, CtrlAttr>;
type Message = Genlmsghdr<Command, Attribute>;

fn unexpected<C, A>(reply: Reply<C, A>, wanted: &str) -> Failure {
    let received = match reply {
        Reply::Message(_) => "another message".to_string(),
        Reply::Done => "NLMSG_DONE".to_string(),
        Reply::Ack => "an ACK".to_string(),
        Reply::Refused(Refusal { errno, text, .. }) => {
            format!("error {errno} ({})", text.as_deref().unwrap_or("no text"))
        }
    };
    wrong(format!("received {received} instead of {wanted}; see kernel/uapi/strata_echo.h"))
}

fn missing(what: &str) -> Failure {
    wrong(format!("a reply without {what}; is the family another one?"))
}

/// What the controller says of a family.
pub fn ask_controller(connection: &mut Connection, name: &str) -> Result<Family> {
    let attribute = Some((CtrlAttr::FamilyName, name));
    connection.request(CONTROLLER, &[], CtrlCmd::Getfamily, attribute)?;
    let family: Family = match connection.receive(CONTROLLER)? {
        Reply::Message(message) if message.cmd == CtrlCmd::Newfamily => message,
        Reply::Refused(Refusal { errno, .. }) if errno == -libc::ENOENT => {
            return Err(no_family(name))
        }
        other => return Err(unexpected(other, "a family")),
    };
    let heard: String = family
        .get_attr_handle()
        .get_attr_payload_as_with_len(CtrlAttr::FamilyName)
        .map_err(|_| missing("a family's name"))?;
    if heard != name {
        return Err(wrong(format!("asked for family '{name}', and heard of '{heard}'; report it")));
    }
    Ok(family)
}

pub fn id_of(family: &Family) -> Result<u16> {
    let handle = family.get_attr_handle();
    handle.get_attr_payload_as(CtrlAttr::FamilyId).map_err(|_| missing("a family's id"))
}

/// Groups are nests in a nest, numbered from 1.
fn group_of(family: &Family, name: &str) -> Result<u32> {
    let mut handle = family.get_attr_handle();
    let groups = handle
        .get_nested_attributes::<Index>(CtrlAttr::McastGroups)
        .map_err(|_| missing("multicast groups"))?;
    for each in groups.iter() {
        let group = each
            .get_attr_handle::<CtrlAttrMcastGrp>()
            .map_err(|_| missing("a group's attributes"))?;
        let heard: String = group
            .get_attr_payload_as_with_len(CtrlAttrMcastGrp::Name)
            .map_err(|_| missing("a group's name"))?;
        if heard == name {
            return group
                .get_attr_payload_as(CtrlAttrMcastGrp::Id)
                .map_err(|_| missing("a group's number"));
        }
    }
    Err(missing(&format!("the group '{name}'")))
}

fn text_in(message: &Message) -> Result<String> {
    let handle = message.get_attr_handle();
    handle.get_attr_payload_as_with_len(Attribute::Msg).map_err(|_| missing("its MSG"))
}

fn number_in(message: &Message, attribute: Attribute) -> Result<u32> {
    let handle = message.get_attr_handle();
    handle.get_attr_payload_as(attribute).map_err(|_| missing("its number"))
}

fn expect(connection: &mut Connection, family: u16, command: Command) -> Result<Message> {
    match connection.receive(family)? {
        Reply::Message(message) if message.cmd == command => Ok(message),
        other => Err(unexpected(other, &format!("{command:?}"))),
    }
}

pub fn echo(connection: &mut Connection, family: u16, text: &str) -> Result<()> {
    connection.request(family, &[], Command::EchoMsg, Some((Attribute::Msg, text)))?;
    let heard = text_in(&expect(connection, family, Command::EchoMsg)?)?;
    if heard != text {
        return Err(wrong(format!("sent '{text}', and received '{heard}'; is it another family?")));
    }
    Ok(())
}

fn dump(connection: &mut Connection, family: u16) -> Result<()> {
    connection.request(family, &[NlmF::Dump], Command::EchoMsg, None::<(Attribute, &str)>)?;
    println!("sent ECHO_MSG (dump)");
    for index in 0..DUMP_COUNT {
        let message = expect(connection, family, Command::EchoMsg)?;
        if number_in(&message, Attribute::Index)? != index {
            return Err(wrong(format!("message {index} of the dump is missing; report it")));
        }
        println!("received ECHO_MSG {index} \"{}\"", text_in(&message)?);
    }
    match connection.receive::<Command, Attribute>(family)? {
        Reply::Done => println!("received NLMSG_DONE"),
        other => return Err(unexpected(other, "NLMSG_DONE")),
    }
    Ok(())
}

fn be_refused(connection: &mut Connection, family: u16, text: &str) -> Result<()> {
    connection.request(family, &[], Command::ReplyWithNlmsgErr, Some((Attribute::Msg, text)))?;
    println!("sent REPLY_WITH_NLMSG_ERR \"{text}\"");
    match connection.receive::<Command, Attribute>(family)? {
        Reply::Refused(Refusal { errno, text: Some(text), offset: Some(offset) })
            if errno == -libc::EINVAL =>
        {
            println!("received NLMSG_ERROR {errno} \"{text}\" at offset {offset}");
            Ok(())
        }
        other => Err(unexpected(other, "error -22 with a text and an offset")),
    }
}

/// Events have a socket of their own, so that none comes between a request and its reply.
fn hear_event(connection: &mut Connection, family: u16, group: u32, text: &str) -> Result<()> {
    let mut listener = Connection::open()?;
    listener.wait_at_most(EVENT_PATIENCE_S)?;
    listener.join(group)?;
    connection.request(family, &[NlmF::Ack], Command::Notify, Some((Attribute::Msg, text)))?;
    println!("sent NOTIFY \"{text}\"");
    match connection.receive::<Command, Attribute>(family)? {
        Reply::Ack => println!("received ACK"),
        other => return Err(unexpected(other, "an ACK")),
    }
    loop {
        let event = expect(&mut listener, family, Command::Event)?;
        // Others' events, and those that nobody asked for, come too.
        if matches!(text_in(&event), Ok(heard) if heard == text) {
            println!("received EVENT {} \"{text}\"", number_in(&event, Attribute::Sequence)?);
            return Ok(());
        }
    }
}

pub fn demonstrate(name: &str) -> Result<()> {
    let mut connection = Connection::open()?;
    connection.ask_for_extended_acks()?;
    let found = ask_controller(&mut connection, name)?;
    let (family, group) = (id_of(&found)?, group_of(&found, GROUP_EVENTS)?);
    println!("resolved {name}: family {family}, group \"events\" {group}");
    println!("sent ECHO_MSG \"hello\"");
    echo(&mut connection, family, "hello")?;
    println!("received ECHO_MSG \"hello\"");
    dump(&mut connection, family)?;
    be_refused(&mut connection, family, "hello")?;
    hear_event(&mut connection, family, group, "hello")
}
