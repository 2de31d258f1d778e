//! Asks pkg-config where libstrata-c is.
use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    let asked = Command::new(&program).args(["--libs", "strata-c"]).output();
    let answer = match asked {
        Ok(answer) if answer.status.success() => answer.stdout,
        Ok(answer) => panic!(
            "{program} does not know strata-c; install strata, or add its lib/pkgconfig to \
             PKG_CONFIG_PATH: {}",
            String::from_utf8_lossy(&answer.stderr)
        ),
        Err(error) => panic!("cannot run {program} to find strata-c: {error}"),
    };
    for word in String::from_utf8_lossy(&answer).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}
