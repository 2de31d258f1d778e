//! Says where strata's C library is: libstrata-c.so, which pkg-config knows; or, to link statically
//! (netlink and what is in this crate), libstrata.a in the folder that STRATA_STATIC names.
use std::env;
use std::process::Command;

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
        Err(_) => link_dynamically(),
    }
}

fn link_dynamically() {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
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
