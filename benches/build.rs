//! What the head of a result says about the build: the compiler, the commit, and the versions of the peers.

use std::env;
use std::fs;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let rustc = output(&rustc, &["--version"]).unwrap_or_default();
    let rustc = rustc.split(" (").next().unwrap_or_default();
    let lock = fs::read_to_string("../Cargo.lock").unwrap_or_default();
    let peers = ["faer", "nalgebra"].map(|name| format!("{name} {}", version(&lock, name)));
    println!("cargo::rustc-env=CHOLUPDATE_BUILT_WITH={rustc}; {}", peers.join("; "));
    println!("cargo::rustc-env=CHOLUPDATE_COMMIT={}", commit().unwrap_or_default());
    for path in ["build.rs", "../Cargo.lock", "../src", "../kernels"] {
        println!("cargo::rerun-if-changed={path}");
    }
    // It grows with every commit.
    if let Some(log) = output("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The commit of the library, and whether its files are others than that commit's.
fn commit() -> Option<String> {
    let commit = output("git", &["rev-parse", "--short=9", "HEAD"])?;
    let changed = output("git", &["status", "--porcelain", "--", "../src", "../kernels", "../Cargo.lock"])?;
    Some(format!(" ({commit}{})", if changed.is_empty() { "" } else { " changed" }))
}

/// The version of a package of the lock file.
fn version<'a>(lock: &'a str, name: &str) -> &'a str {
    let at = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
    at.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
