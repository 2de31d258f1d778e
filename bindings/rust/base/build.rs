//! Says where strata's C library is: libstrata-c.so, which pkg-config knows; or, to link statically
//! (netlink and what is in this crate), libstrata.a in the folder that STRATA_STATIC names. In
//! strata's source, where neither is there, that part of the library is compiled.
use std::env;
use std::path::Path;
use std::process::Command;

/// Has the rule that makes libstrata.a of what netlink needs.
const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/netlink_exchange");

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in [
        "CXX",
        "PKG_CONFIG",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG_LIBDIR",
        "PKG_CONFIG_SYSROOT_DIR",
        "STRATA_STATIC",
    ] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    match env::var("STRATA_STATIC") {
        Ok(folder) => link_statically(&folder),
        Err(_) if !is_installed() && Path::new(CLIENTS).join("../../lib/nl").exists() => {
            link_statically(&compile())
        }
        Err(_) => link_dynamically(),
    }
}

fn pkg_config() -> String {
    env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string())
}

fn is_installed() -> bool {
    let answer = Command::new(pkg_config()).args(["--exists", "strata-c"]).status();
    answer.map_or(false, |status| status.success())
}

/// The folder of the library that it has made.
fn compile() -> String {
    let output = env::var("OUT_DIR").expect("cargo sets it");
    let folder = format!("{output}/lib");
    let archive = format!("{folder}/libstrata.a");
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".to_string());
    // Its own flags are not ours: cargo's jobserver is for cargo's kind of make.
    let status = Command::new("make")
        .args(["-C", CLIENTS, "-j", &jobs, &format!("OUT={output}"), &archive])
        .env_remove("MAKEFLAGS")
        .stdout(std::process::Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => folder,
        Ok(_) => panic!("the library could not be compiled in {CLIENTS}; install strata instead"),
        Err(error) => panic!("cannot run make: {error}; install it, or strata"),
    }
}

fn link_dynamically() {
    let program = pkg_config();
    let answer = output_of(
        &[&program, "--libs", "strata-c"],
        "install strata, or add its lib/pkgconfig to PKG_CONFIG_PATH",
    );
    for word in answer.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}

/// Not bundled into the crate: the linker takes what is needed of the archive.
fn link_statically(folder: &str) {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_string());
    // It may be several words, as for make: "ccache g++".
    let mut command: Vec<_> = compiler.split_whitespace().collect();
    command.push("-print-file-name=libstdc++.a");
    let runtime = output_of(&command, "install it, or set CXX");
    let runtime = runtime.trim_end().trim_end_matches("libstdc++.a");
    println!("cargo:rerun-if-changed={folder}/libstrata.a");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-search=native={runtime}");
    println!("cargo:rustc-link-lib=static:-bundle=strata");
    println!("cargo:rustc-link-lib=static:-bundle=stdc++");
}

fn output_of(command: &[&str], remedy: &str) -> String {
    match Command::new(command[0]).args(&command[1..]).output() {
        Ok(answer) if answer.status.success() => String::from_utf8_lossy(&answer.stdout).into(),
        Ok(answer) => panic!(
            "{} failed; {remedy}: {}",
            command.join(" "),
            String::from_utf8_lossy(&answer.stderr)
        ),
        Err(error) => panic!("cannot run {}: {error}; {remedy}", command[0]),
    }
}
