//! The hardware, the versions, the date and the command, for the head of every result.

use crate::limits::all_threads;
use crate::settings::var;
use std::process::Command;
use std::{env, fs};

/// The lines of a head: what each is about, and what it says.
pub type About = Vec<(&'static str, String)>;

/// For a benchmark of this name. `device`: the name of the GPU, if the benchmark uses one; `peers`: versions of those that
/// were found at run time; `limits`: of the machine.
#[must_use]
pub fn about(bench: &str, device: Option<&str>, peers: &[String], limits: &str) -> About {
    let found = peers.iter().filter(|version| !version.is_empty()).map(|version| format!("; {version}"));
    vec![
        ("machine", machine(device)),
        ("versions", format!("{}{}", versions(), found.collect::<String>())),
        ("date", output("date", &["-u", "+%F"]).unwrap_or_default()),
        ("command", command(bench)),
        ("limits", limits.to_owned()),
    ]
}

/// The machine and the version of the library in one line.
#[must_use]
pub fn in_short(device: Option<&str>) -> String {
    // The packages of the workspace share their version.
    format!("{}; cholupdate {}", machine(device), env!("CARGO_PKG_VERSION"))
}

fn versions() -> String {
    let built_with = env!("CHOLUPDATE_BUILT_WITH");
    format!("cholupdate {}{}; {built_with}", env!("CARGO_PKG_VERSION"), env!("CHOLUPDATE_COMMIT"))
}

/// The CPU, its caches and threads, and the device.
fn machine(device: Option<&str>) -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split(':').nth(1)?.trim())
    };
    let says = |flag: &str| field("flags").is_some_and(|flags| flags.split(' ').any(|one| one == flag));
    let mut about = vec![match all_threads() {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    }];
    if let (Some(family), Some(model)) =
        (field("cpu family"), text.lines().find(|line| line.starts_with("model\t")))
    {
        about.push(format!("family {family}, model {}", model.split(':').nth(1).unwrap_or_default().trim()));
    }
    let simd = [("avx512f", "AVX-512"), ("avx2", "AVX2")].iter().find(|(flag, _)| says(flag));
    about.extend(simd.map(|(_, name)| match var("CHOLUPDATE_ISA") {
        Some(isa) => format!("{name}, limited to {isa}"),
        None => (*name).to_owned(),
    }));
    for level in 2..4 {
        let size = fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{level}/size"));
        about.extend(size.ok().map(|size| format!("L{level} {}", size.trim().replace('K', " KiB"))));
    }
    about.extend(says("hypervisor").then(|| "virtual".to_owned()));
    let name = field("model name").unwrap_or(env::consts::ARCH);
    let device = device.map_or_else(String::new, |name| format!("; {name}{}", driver()));
    format!("{name} ({}){device}", about.join(", "))
}

/// The version of the NVIDIA driver.
fn driver() -> String {
    let asked = output("nvidia-smi", &["--query-gpu=driver_version", "--format=csv,noheader"]);
    let version = asked.and_then(|text| Some(text.lines().next()?.to_owned())).or_else(|| {
        let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
        text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
    });
    version.map_or_else(String::new, |version| format!(", driver {version}"))
}

/// The command that repeats the run with Cargo, however this process was started; without paths.
fn command(bench: &str) -> String {
    const LEFT_OUT: [&str; 3] = ["CHOLUPDATE_BENCH_CSV", "CHOLUPDATE_BENCH_PYTHON", "CHOLUPDATE_BENCH_EIGEN"];
    let mut names: Vec<String> = env::vars().map(|(name, _)| name).collect();
    names.retain(|name| {
        name.starts_with("CHOLUPDATE_BENCH")
            || ["CHOLUPDATE_ISA", "RAYON_NUM_THREADS"].contains(&name.as_str())
    });
    names.retain(|name| !LEFT_OUT.contains(&name.as_str()));
    names.sort();
    let set = |name: &String| {
        let value = var(name)?;
        let quoted = if value.contains([' ', ';']) { format!("'{value}'") } else { value };
        Some(format!("{name}={quoted} "))
    };
    let settings: String = names.iter().filter_map(set).collect();
    format!("{settings}cargo bench -p cholupdate-bench --bench {bench}")
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
