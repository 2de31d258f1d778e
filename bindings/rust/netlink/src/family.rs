use std::ffi::CStr;
use std::os::raw::c_char;
use std::ptr::NonNull;
use std::slice;

use crate::ffi;

/// What the kernel's controller tells of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The family's name.
    pub name: String,
    /// Another one each time that it is registered.
    pub id: u16,
    /// Of its commands.
    pub version: u32,
    /// Bytes of the family's own header; almost all have none.
    pub header_size: u32,
    /// 0 where each operation has its own.
    pub max_attribute: u32,
    /// Its commands.
    pub operations: Vec<Operation>,
    /// Its multicast groups.
    pub groups: Vec<Group>,
}

/// A command of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The command's number.
    pub command: u32,
    /// CAP_NET_ADMIN.
    pub needs_admin: bool,
    /// CAP_NET_ADMIN in the user namespace that owns the network's.
    pub needs_uns_admin: bool,
    /// It can be asked.
    pub can_do: bool,
    /// It can be dumped.
    pub can_dump: bool,
    /// The kernel tells what it takes.
    pub has_policy: bool,
}

/// A multicast group of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The group's name.
    pub name: String,
    /// The number to join it by.
    pub id: u32,
}

impl Family {
    /// The id of the multicast group of that name.
    pub fn group(&self, name: &str) -> Option<u32> {
        self.groups.iter().find(|each| each.name == name).map(|found| found.id)
    }

    fn of(raw: &ffi::Family) -> Family {
        // SAFETY: the library points to that number of them, as long as the list lives that lends
        // `raw`; they are copied.
        let (operations, groups) = unsafe {
            (array(raw.operations, raw.operation_count), array(raw.groups, raw.group_count))
        };
        Family {
            // SAFETY: as above; never NULL.
            name: unsafe { text(raw.name) },
            id: raw.id,
            version: raw.version,
            header_size: raw.header_size,
            max_attribute: raw.max_attribute,
            operations: operations.iter().map(Operation::of).collect(),
            groups: groups
                .iter()
                // SAFETY: as above.
                .map(|each| Group { name: unsafe { text(each.name) }, id: each.id })
                .collect(),
        }
    }
}

impl Operation {
    fn of(raw: &ffi::Operation) -> Operation {
        let has = |flag| raw.flags & flag != 0;
        Operation {
            command: raw.command,
            needs_admin: has(ffi::NEEDS_ADMIN),
            needs_uns_admin: has(ffi::NEEDS_UNS_ADMIN),
            can_do: has(ffi::CAN_DO),
            can_dump: has(ffi::CAN_DUMP),
            has_policy: has(ffi::HAS_POLICY),
        }
    }
}

/// # Safety
/// It is a C string, not NULL.
pub(crate) unsafe fn text(of: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

/// # Safety
/// There are `count` of them for as long as 'a; it may be NULL when there are none.
unsafe fn array<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(first, count) }
}

/// The library's list, which goes when it has been copied.
pub(crate) struct Families(pub NonNull<ffi::Families>);

impl Families {
    pub fn to_vec(&self) -> Vec<Family> {
        // SAFETY: open as long as `self`.
        let at = |index| unsafe { ffi::strata_nl_families_at(self.0.as_ptr(), index).as_ref() };
        (0..).map_while(at).map(Family::of).collect()
    }
}

impl Drop for Families {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_nl_families_close(self.0.as_ptr()) };
    }
}
