#![doc = include_str!("../README.md")]
//!
//! # Why it is sound
//!
//! - **What is lent ends with the next call**: a [`Message`] and its [`Attributes`] are the
//!   connection's memory, and borrow it mutably, so that no call can overwrite what they show.
//! - **Attributes are walked in safe Rust**, as a slice: no bytes make it read outside of them.
//! - **A request has its connection for itself**: [`Request`] borrows it mutably, from the
//!   beginning until it is sent.
//! - **A panic does not go through C**: one in the function that a dump calls is kept until the
//!   library has returned, and goes on then.
//! - **One thread at a time**: [`Generic`] and [`LinkWatch`] are [`Send`], and not [`Sync`].
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_debug_implementations)]

mod attribute;
mod error;
mod family;
mod ffi;
mod generic;
mod link;
mod message;
mod request;

pub use attribute::{Attribute, Attributes};
pub use error::{Error, Result};
pub use family::{Family, Group, Operation};
pub use generic::{Generic, Options};
pub use link::{Link, LinkEvent, LinkWatch};
pub use message::Message;
pub use request::{Nest, Request};
pub use strata_base::MacAddress;
