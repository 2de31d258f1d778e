#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_debug_implementations)]

mod channel;
mod ffi;
mod frame;
mod hybrid;
mod options;
mod raw_socket;
mod received;
mod ring;

pub use channel::{Channel, ChannelOptions, Message};
pub use frame::{outer_tag, pop_tag, push_tag, Frame, Tags, VlanTag, DEFAULT_MTU};
pub use hybrid::{Hybrid, HybridListener, HybridMessage, HybridOptions};
pub use options::{Fanout, FanoutMode, RawOptions, RingKind, RingOptions};
pub use raw_socket::RawSocket;
pub use received::{DeviceStatistics, Frames, Received, Slots};
pub use ring::Ring;
pub use strata_base::{Error, MacAddress, Result};
