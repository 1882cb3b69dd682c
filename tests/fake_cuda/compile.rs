//! Builds the fake driver: C++ that g++ (or `$CXX`) compiles together with all kernels of the project.
//!
//! Protocol. The sources are everything in `tests/fake_cuda` and `kernels`. Their hash names a directory in
//! `target/fake-cuda` that holds the finished libraries, which are never built again. A build works in a directory of
//! its own and renames it at the end, so that simultaneous builds do not interfere.
//!
//! Kernels are found in the preprocessed text of each `.cu` file as `extern "C" __global__ void name(`, and exports as
//! `extern "C" __device__ const type name[]`. Macros may generate them, and a kernel file has no code for the fake.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

const FLAGS: [&str; 8] = [
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off", // fused only where the kernel has an fma, as in its PTX
    "-U_FORTIFY_SOURCE", // it refuses a longjmp to another stack
    "-pthread",
    "-w",
];

/// The library, and its aliases, under which programs load the driver and cuSOLVER.
const LIBRARY: &str = "libcuda.so.1";
const ALIASES: [&str; 2] = ["libcuda.so", "libcusolver.so"];

/// The finished libraries, in the order in which to load them.
pub fn libraries() -> [PathBuf; 3] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fake = root.join("tests/fake_cuda");
    let mut sources = BTreeMap::new();
    read_sources(&fake, &mut sources);
    read_sources(&root.join("kernels"), &mut sources);

    let compiler = env::var("CXX").unwrap_or_else(|_| "g++".into());
    // Kernels include files by their paths from there.
    let include = format!("-I{}", root.join("kernels").display());
    let flags: Vec<&str> = FLAGS.iter().chain(processor_flags()).copied().chain([&*include]).collect();
    let mut hasher = DefaultHasher::new();
    (&compiler, &flags, include_str!("compile.rs"), &sources).hash(&mut hasher);
    let finished = target_directory(root).join("fake-cuda").join(format!("{:016x}", hasher.finish()));
    if !finished.exists() {
        let work = finished.with_extension(format!("{}.building", std::process::id()));
        fs::create_dir_all(&work).expect("a directory to build the fake driver in");
        build(&Build { compiler, flags, fake, work: work.clone() }, &sources);
        // Another process may have been faster: its directory has the same contents.
        if fs::rename(&work, &finished).is_err() {
            fs::remove_dir_all(&work).expect("a directory to remove");
        }
    }
    [LIBRARY, ALIASES[0], ALIASES[1]].map(|name| finished.join(name))
}

struct Build<'a> {
    compiler: String,
    flags: Vec<&'a str>,
    fake: PathBuf,
    work: PathBuf,
}

/// All of `at` that can end up in the library: path → text.
fn read_sources(at: &Path, sources: &mut BTreeMap<PathBuf, String>) {
    let Ok(entries) = fs::read_dir(at) else { return };
    for entry in entries {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            read_sources(&path, sources);
        } else if extension_of(&path).is_some_and(|e| ["cpp", "h", "cu", "cuh"].contains(&e)) {
            let text = fs::read_to_string(&path).expect("a readable source file");
            sources.insert(path, text);
        }
    }
}

fn extension_of(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

/// An fma is one instruction where the processor has it; a shadow stack would refuse a longjmp as well.
fn processor_flags() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    return match is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
        true => &["-fcf-protection=none", "-march=x86-64-v3"],
        false => &["-fcf-protection=none"],
    };
    #[cfg(not(target_arch = "x86_64"))]
    &[]
}

/// Where cargo builds: the test runs from `<target>/<profile>/deps`.
fn target_directory(root: &Path) -> PathBuf {
    let test = env::current_exe().expect("the path of the test");
    let deps = test.ancestors().find(|at| at.file_name() == Some(OsStr::new("deps")));
    deps.and_then(|deps| deps.ancestors().nth(2)).map_or_else(|| root.join("target"), Path::to_path_buf)
}

fn build(build: &Build, sources: &BTreeMap<PathBuf, String>) {
    // One unit for the driver, and one for each `.cu` file, in an unnamed namespace, because two files may define the
    // same name. Between them lies one thread-local byte each: variables of that kind are in the order of the linked
    // units, so those of a unit, which are its shared memory, lie between two such bytes (shim/kernel.h).
    let with = |extension| sources.keys().filter(move |path| extension_of(path) == Some(extension));
    let mut units = vec![("driver".to_string(), with("cpp").map(include).collect::<String>())];
    for (number, path) in with("cu").enumerate() {
        let shim = include(build.fake.join("shim/cuda.h"));
        let text = preprocessed(build, path);
        let register = |what, names: Vec<String>| {
            names.iter().map(|name| format!("{what}({name})\n")).collect::<String>()
        };
        let kernels =
            register("FAKE_KERNEL", kernels_in(&text, path)) + &register("FAKE_GLOBAL", globals_in(&text));
        let shared = format!("FAKE_SHARED({number}, {})\n", number + 1);
        units.push(edge_of_shared_memory(number));
        let text = format!("{shim}namespace {{\n{}}}\n{shared}{kernels}", include(path));
        units.push((format!("kernels_{number}"), text));
    }
    units.push(edge_of_shared_memory(with("cu").count()));

    // One queue for all threads: the times of the units differ a hundredfold.
    let next = Mutex::new(units.iter());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let unit = next.lock().unwrap().next();
                    let Some((name, text)) = unit else { return };
                    compile(build, name, text);
                }
            });
        }
    });

    let objects = units.iter().map(|(name, _)| format!("{name}.o"));
    let link = ["-shared", "-pthread", "-Wl,-z,defs", "-Wl,-soname,libcuda.so.1", "-o", LIBRARY];
    run(build, link.into_iter().map(String::from).chain(objects));
    fs::write(build.work.join("empty.cpp"), "").expect("a writable build directory");
    for alias in ALIASES {
        let name = format!("-Wl,-soname,{alias}");
        let link = ["-shared", &name, "-o", alias, "empty.cpp", "-Wl,--no-as-needed", LIBRARY];
        run(build, link.into_iter().map(String::from));
    }
}

/// The unit before that of the `.cu` file of this number.
fn edge_of_shared_memory(number: usize) -> (String, String) {
    (format!("shared_{number}"), format!("__thread unsigned char fake_shared_{number};\n"))
}

fn include(path: impl AsRef<Path>) -> String {
    format!("#include \"{}\"\n", path.as_ref().display())
}

fn compile(build: &Build, name: &str, text: &str) {
    let source = format!("{name}.cpp");
    fs::write(build.work.join(&source), text).expect("a writable build directory");
    let flags = build.flags.iter().map(|flag| flag.to_string());
    run(build, flags.chain(["-c".into(), source, "-o".into(), format!("{name}.o")]));
}

fn preprocessed(build: &Build, path: &Path) -> String {
    let file = path.display().to_string();
    let options = ["-E", "-P", "-D", "FAKE_CUDA", "-x", "c++", &file];
    let text = run(build, build.flags.iter().copied().chain(options).map(String::from)).stdout;
    String::from_utf8_lossy(&text).into_owned()
}

/// The names of the arrays that a preprocessed `.cu` file exports.
fn globals_in(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let exported = words.windows(6).filter(|six| six[..4] == ["extern", "\"C\"", "__device__", "const"]);
    exported.filter_map(|six| six[5].strip_suffix("[]").map(String::from)).collect()
}

/// The names of the kernels that a preprocessed `.cu` file defines.
fn kernels_in(text: &str, path: &Path) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut names = Vec::new();
    for (at, four) in words.windows(4).enumerate() {
        if four != ["extern", "\"C\"", "__global__", "void"] {
            continue;
        }
        // `__launch_bounds__(..)` may stand before the name.
        let declaration = words[at + 4..].iter().take(32).copied().collect::<Vec<_>>().join(" ");
        let declaration = match declaration.strip_prefix("__launch_bounds__") {
            Some(bounds) => after_parentheses(bounds),
            None => &declaration,
        };
        let name = declaration.split('(').next().unwrap_or_default().trim();
        let is_name = !name.is_empty() && !name.contains(' ');
        assert!(is_name, "{}: which kernel is this? {declaration}", path.display());
        names.push(name.to_string());
    }
    names
}

/// The text after the first pair of parentheses.
fn after_parentheses(text: &str) -> &str {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if depth == 0 && character == ')' {
            return &text[at + 1..];
        }
    }
    ""
}

fn run(build: &Build, arguments: impl Iterator<Item = String>) -> Output {
    let mut command = Command::new(&build.compiler);
    let output = command.args(arguments).current_dir(&build.work).output();
    let output =
        output.unwrap_or_else(|e| panic!("the fake driver needs a C++ compiler: {}: {e}", build.compiler));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{errors}");
    output
}
