//! The shipped PTX is the output of the pinned NVRTC for the shipped kernels, instruction by instruction.
//!
//! NVRTC orders and pairs some instructions of a large kernel by addresses in its own memory, so its output varies between a
//! few versions. They differ in the order of instructions, in registers, and in whether neighbouring words are loaded together.
//! None of this is compared. `kernels/ptx.digests` has a digest of the sources that each file was made from.
//!
//! NVRTC is searched in the folder (or file) that `CHOLUPDATE_NVRTC` names, in the loader's paths, and among Python's packages
//! (`pip install nvidia-cuda-nvrtc-cu12==12.8.93`). `CHOLUPDATE_REQUIRE_NVRTC=1` fails without it; `CHOLUPDATE_BLESS=1` writes
//! the PTX that differs. If the binary runs without the sources, the tests print that (support/sources.rs).

use crate::support::sources::sources;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, ptr, thread};

const LIBRARY: &str = "libnvrtc.so.12";
/// The compiler's version, as PTX names it.
const RELEASE: &str = "V12.8.93";

/// PTX, named for the architecture it is for, kernel source, options: each as in `kernels/`.
const MADE: [(&str, &str, &[&str]); 51] = [
    ("ptx/batch_again.compute_80.ptx", "batch/again.cu", &[]),
    ("ptx/batch_append.compute_80.ptx", "batch/append.cu", &[]),
    ("ptx/batch_append_again.compute_80.ptx", "batch/append_again.cu", &[]),
    ("ptx/batch_begin.compute_80.ptx", "batch/begin.cu", &[]),
    ("ptx/batch_copies.compute_80.ptx", "batch/copies.cu", &[]),
    ("ptx/batch_exchange.compute_80.ptx", "batch/exchange.cu", &[]),
    ("ptx/batch_modify_block.compute_80.ptx", "batch/modify_block.cu", &[]),
    ("ptx/batch_modify_lanes_f32.compute_80.ptx", "batch/modify_lanes.cu", &["-DONLY_F32"]),
    ("ptx/batch_modify_lanes_f64.compute_80.ptx", "batch/modify_lanes.cu", &["-DONLY_F64"]),
    ("ptx/batch_modify_stream_f32.compute_80.ptx", "batch/modify_stream.cu", &["-DONLY_F32"]),
    ("ptx/batch_modify_stream_f64.compute_80.ptx", "batch/modify_stream.cu", &["-DONLY_F64"]),
    ("ptx/batch_modify_thread.compute_80.ptx", "batch/modify_thread.cu", &[]),
    ("ptx/batch_read.compute_80.ptx", "batch/read.cu", &[]),
    ("ptx/batch_remove_block.compute_80.ptx", "batch/remove_block.cu", &[]),
    ("ptx/batch_remove_lanes.compute_80.ptx", "batch/remove_lanes.cu", &[]),
    ("ptx/batch_remove_thread.compute_80.ptx", "batch/remove_thread.cu", &[]),
    ("ptx/batch_solve.compute_80.ptx", "batch/solve.cu", &[]),
    ("ptx/batch_solve_stream.compute_80.ptx", "batch/solve_stream.cu", &[]),
    ("ptx/border.compute_80.ptx", "resident/border.cu", &[]),
    ("ptx/copy_f32.compute_80.ptx", "hybrid/copy.cu", &["-DONLY_F32"]),
    ("ptx/copy_f64.compute_80.ptx", "hybrid/copy.cu", &["-DONLY_F64"]),
    ("ptx/crout.compute_80.ptx", "factor/crout.cu", &[]),
    ("ptx/factor.compute_80.ptx", "factor/factor.cu", &[]),
    ("ptx/factor.compute_90.ptx", "factor/factor.cu", &[]),
    ("ptx/gradient_forward_f32.compute_80.ptx", "gradient/forward.cu", &["-DONLY_F32"]),
    ("ptx/gradient_forward_f64.compute_80.ptx", "gradient/forward.cu", &["-DONLY_F64"]),
    ("ptx/gradient_reverse_f32.compute_80.ptx", "gradient/reverse.cu", &["-DONLY_F32"]),
    ("ptx/gradient_reverse_f64.compute_80.ptx", "gradient/reverse.cu", &["-DONLY_F64"]),
    ("ptx/interchanged.compute_80.ptx", "hybrid/interchanged.cu", &[]),
    ("ptx/invert.compute_80.ptx", "resident/invert.cu", &[]),
    ("ptx/multiply.compute_80.ptx", "resident/multiply.cu", &[]),
    ("ptx/on_stream.compute_80.ptx", "resident/on_stream.cu", &[]),
    ("ptx/pivot_rows.compute_80.ptx", "factor/pivot_rows.cu", &[]),
    ("ptx/rearrange.compute_80.ptx", "resident/rearrange.cu", &[]),
    ("ptx/solve.compute_80.ptx", "resident/solve.cu", &[]),
    ("ptx/solve.compute_90.ptx", "resident/solve.cu", &[]),
    ("ptx/solve_distributed.compute_80.ptx", "resident/solve_distributed.cu", &[]),
    ("ptx/solve_distributed.compute_90.ptx", "resident/solve_distributed.cu", &[]),
    ("ptx/square.compute_80.ptx", "resident/square.cu", &[]),
    ("ptx/sweep.compute_80.ptx", "resident/sweep.cu", &[]),
    ("ptx/sweep.compute_90.ptx", "resident/sweep.cu", &[]),
    ("ptx/sweep_distributed.compute_80.ptx", "resident/sweep_distributed.cu", &[]),
    ("ptx/sweep_distributed.compute_90.ptx", "resident/sweep_distributed.cu", &[]),
    ("ptx/sweep_wide.compute_90.ptx", "resident/sweep_wide.cu", &[]),
    ("ptx/sweep_wide_distributed.compute_90.ptx", "resident/sweep_wide_distributed.cu", &[]),
    ("ptx/take.compute_80.ptx", "resident/take.cu", &[]),
    ("ptx/tiled.compute_80.ptx", "factor/tiled.cu", &[]),
    ("ptx/trailing_f32.compute_80.ptx", "hybrid/trailing.cu", &["-DONLY_F32"]),
    ("ptx/trailing_f64.compute_80.ptx", "hybrid/trailing.cu", &["-DONLY_F64"]),
    ("ptx/trailing_tensor.compute_80.ptx", "hybrid/trailing_tensor.cu", &[]),
    ("ptx/triangle.compute_80.ptx", "resident/triangle.cu", &[]),
];
/// Without contraction: fused operations are explicit in the kernels.
const OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];

type Program = *mut u8;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// Possible places of the library, the most specific first.
fn places() -> Vec<PathBuf> {
    let named = env::var_os("CHOLUPDATE_NVRTC").map(PathBuf::from);
    let named = named.map(|place| if place.is_dir() { place.join(LIBRARY) } else { place });
    let packages = "import site; print(*site.getsitepackages(), site.getusersitepackages(), sep='\\n')";
    let python = Command::new("python3").args(["-c", packages]).output();
    let python =
        python.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let installed = python.lines().map(|place| Path::new(place).join("nvidia/cuda_nvrtc/lib").join(LIBRARY));
    named.into_iter().chain([PathBuf::from(LIBRARY)]).chain(installed).collect()
}

/// The text that the functions `size` and `text` return.
fn fetch(library: &Library, program: Program, size: &[u8], text: &[u8]) -> String {
    // SAFETY: the types are those of NVRTC's documentation, and the buffer has the length that it returned.
    unsafe {
        let mut len = 0;
        assert_eq!(library.get::<Size>(size).unwrap()(program, &raw mut len), 0);
        let mut bytes = vec![0_u8; len.max(1)];
        assert_eq!(library.get::<Text>(text).unwrap()(program, bytes.as_mut_ptr().cast()), 0);
        bytes.truncate(len.saturating_sub(1));
        String::from_utf8(bytes).unwrap()
    }
}

fn compile(library: &Library, file: &str, source: &str, options: &[&str]) -> String {
    let text = |name: &str| CString::new(fs::read(kernels().join(name)).unwrap()).unwrap();
    let words = |words: &[&str]| words.iter().map(|word| CString::new(*word).unwrap()).collect::<Vec<_>>();
    let pointers = |words: &[CString]| words.iter().map(|word| word.as_ptr()).collect::<Vec<_>>();
    let (name, code) = (CString::new(source).unwrap(), text(source));
    let architecture = format!("--gpu-architecture={}", file.split('.').nth(1).unwrap());
    // Kernels include files by their paths from here.
    let include = format!("--include-path={}", kernels().display());
    let options = words(&[&OPTIONS, [&*architecture, &*include].as_slice(), options].concat());
    let mut program = ptr::null_mut();
    // SAFETY: the types are those of NVRTC's documentation; every text ends in a zero and outlives the calls.
    unsafe {
        let outcome = library.get::<Create>(b"nvrtcCreateProgram").unwrap()(
            &raw mut program,
            code.as_ptr(),
            name.as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        );
        assert_eq!(outcome, 0, "NVRTC does not take {source}");
        let arguments = pointers(&options);
        let outcome = library.get::<Compile>(b"nvrtcCompileProgram").unwrap()(
            program,
            arguments.len() as c_int,
            arguments.as_ptr(),
        );
        let log = fetch(library, program, b"nvrtcGetProgramLogSize", b"nvrtcGetProgramLog");
        assert!(outcome == 0 && log.trim().is_empty(), "{source}:\n{log}");
        let ptx = fetch(library, program, b"nvrtcGetPTXSize", b"nvrtcGetPTX");
        library.get::<Destroy>(b"nvrtcDestroyProgram").unwrap()(&raw mut program);
        with_visible_exports(&ptx)
    }
}

/// Makes the exports of a module (`common/layout.cuh`) visible to the driver: NVRTC compiles a whole program, in which only the
/// kernels are visible.
fn with_visible_exports(ptx: &str) -> String {
    let is_export = |line: &str| {
        let name = line.split('[').next().unwrap_or_default();
        line.starts_with(".global ")
            && ["_layout", "_layout_names", "_thresholds", "_thresholds_names"]
                .iter()
                .any(|end| name.ends_with(end))
    };
    let line = |line: &str| if is_export(line) { format!(".visible {line}") } else { line.into() };
    ptx.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Ends the test without the compiler of the PTX: with a message, and as a failure if the compiler is required.
fn skip(why: &str) {
    assert!(!is_set("CHOLUPDATE_REQUIRE_NVRTC"), "CHOLUPDATE_REQUIRE_NVRTC is set, but {why}");
    eprintln!("SKIPPED: {why}, so nobody knows whether kernels/ptx is up to date");
}

fn nvrtc() -> Option<Library> {
    // SAFETY: loading NVRTC runs its initializers, which have no preconditions.
    places().into_iter().find_map(|place| unsafe { Library::new(place) }.ok())
}

/// The file that a process compiles, and its output path.
const TO_MAKE: [&str; 2] = ["CHOLUPDATE_PTX_TO_MAKE", "CHOLUPDATE_PTX_PLACE"];

/// The source of a kernel with what it includes, each file once, without comments and white space.
fn code(source: &str, seen: &mut Vec<String>) -> String {
    let text = fs::read_to_string(kernels().join(source)).unwrap();
    let mut all = String::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(file) if seen.iter().any(|seen| seen == file) => {}
            Some(file) => {
                seen.push(file.into());
                all += &code(file, seen);
            }
            None => line.split_whitespace().for_each(|word| all += &format!("{word} ")),
        }
    }
    all
}

/// FNV-1a of the source and the options. It finds a change that leaves the count of each instruction as it was, for example
/// exchanged operands.
fn digest(source: &str, options: &[&str]) -> String {
    let text = format!("{} {}", options.join(" "), code(source, &mut Vec::new()));
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, hash))
}

/// The digests of the sources from which the PTX was made, one line a file.
fn digests() -> PathBuf {
    kernels().join("ptx.digests")
}

/// The count of each instruction in each kernel, without the numbers of registers and labels.
fn instructions(ptx: &str) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    let mut kernel = String::new();
    for line in ptx.lines().map(str::trim) {
        if let Some((_, name)) = line.split_once(".entry ") {
            kernel = name.trim_end_matches('(').into();
        }
        // The number of registers follows from their use.
        if !line.starts_with(".reg ") {
            for instruction in word_by_word(&without_numbers_of_registers(line)) {
                *counts.entry((kernel.clone(), instruction)).or_default() += 1;
            }
        }
    }
    counts
}

/// `ld.shared.v2.f64 {%fd, %fd}, [%rd+8];` as the loads of one word at %rd+8 and of one at %rd+16; stores alike.
fn word_by_word(line: &str) -> Vec<String> {
    let inside = |text: &str, open, close| Some(text.split_once(open)?.1.split_once(close)?.0.to_string());
    let parts = line.split_once('\t').and_then(|(access, operands)| {
        let vector = [".v2.", ".v4."].into_iter().find(|vector| access.contains(vector))?;
        let access = access.replace(vector, ".").trim_end().to_string();
        Some((access, inside(operands, '{', '}')?, inside(operands, '[', ']')?))
    });
    let Some((access, registers, address)) = parts else { return vec![line.into()] };
    let bytes = access.rsplit_once(|c: char| c.is_alphabetic()).unwrap().1.parse::<i64>().unwrap() / 8;
    let (base, offset) = address.split_once('+').unwrap_or((&address, "0"));
    let first: i64 = offset.parse().unwrap();
    let word = |(number, register): (i64, &str)| {
        let address = match first + number * bytes {
            0 => format!("[{base}]"),
            offset => format!("[{base}+{offset}]"),
        };
        if access.starts_with("ld") {
            format!("{access} \t{register}, {address};")
        } else {
            format!("{access} \t{address}, {register};")
        }
    };
    (0..).zip(registers.split(", ")).map(word).collect()
}

/// `%rd12` is `%rd`, and `$L__BB3_4` is `$`.
fn without_numbers_of_registers(line: &str) -> String {
    let mut kept = String::new();
    let mut name = None;
    for c in line.chars() {
        match name {
            Some('%') if c.is_ascii_digit() => continue,
            Some('$') if c.is_ascii_alphanumeric() || c == '_' => continue,
            Some('%') if c.is_ascii_alphabetic() => {}
            _ => name = Some(c).filter(|c| ['%', '$'].contains(c)),
        }
        kept.push(c);
    }
    kept
}

#[test]
fn instructions_are_told_from_registers() {
    let one = ".visible .entry f(\n\t.reg .f64 \t%fd<9>;\n$L__BB0_1:\n\tld.shared.v2.f64 \t{%fd1, %fd2}, [%rd3+8];\n\
        \t@%p1 bra \t$L__BB0_1;\n\tst.local.v2.u32 \t[%rd1], {%r1, 0};";
    let other = ".visible .entry f(\n\tld.shared.f64 \t%fd7, [%rd3+16];\n\tld.shared.f64 \t%fd2, [%rd4+8];\n\
        \t@%p2 bra \t$L__BB0_7;\n$L__BB0_7:\n\tst.local.u32 \t[%rd1+4], 0;\n\tst.local.u32 \t[%rd1], %r2;";
    assert_eq!(instructions(one), instructions(other));
    for (was, is) in [("shared", "global"), ("%p1 bra", "!%p1 bra"), ("entry f", "entry g"), ("+8", "+9")] {
        assert_ne!(instructions(&one.replace(was, is)), instructions(one), "{was} is {is}");
    }
    let constant = "\tadd.f64 \t%fd1, %fd2, 0d3FF0000000000000;";
    assert_ne!(instructions(constant), instructions(&constant.replace("3FF", "400")));
    assert_ne!(instructions(constant), instructions(""));
}

#[test]
#[ignore = "no test of its own: the_ptx_is_that_of_the_kernels runs it, in a process for each file"]
fn one_file_is_made() {
    let [Some(wanted), Some(place)] = TO_MAKE.map(env::var_os) else { return };
    let library = nvrtc().unwrap();
    let (file, source, options) = MADE.into_iter().find(|(file, ..)| wanted == *file).unwrap();
    fs::write(place, compile(&library, file, source, options)).unwrap();
}

#[test]
fn the_ptx_is_that_of_the_kernels() {
    if sources().is_none() {
        return;
    }
    if nvrtc().is_none() {
        return skip("libnvrtc.so.12 was not found");
    }
    if !make(MADE[0].0).contains(RELEASE) {
        return skip("the libnvrtc.so.12 that was found is not the pinned one");
    }
    let recorded = fs::read_to_string(digests()).unwrap_or_default();
    let mut now = String::new();
    for ((file, source, options), made) in MADE.into_iter().zip(make_all()) {
        let place = kernels().join(file);
        let entry = format!("{file} {}\n", digest(source, options));
        let ships = fs::read_to_string(&place).unwrap_or_default();
        if !recorded.contains(&entry) || instructions(&made) != instructions(&ships) {
            assert!(
                is_set("CHOLUPDATE_BLESS"),
                "{file} is not what NVRTC makes of {source}: run this with CHOLUPDATE_BLESS=1"
            );
            fs::write(&place, &made).unwrap();
        }
        now += &entry;
    }
    if recorded != now {
        fs::write(digests(), now).unwrap();
    }
}

/// Compiles the kernels of all files, as many at a time as there are cores.
fn make_all() -> Vec<String> {
    let next = AtomicUsize::new(0);
    let made = MADE.map(|_| OnceLock::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((file, ..)) = MADE.get(at) else { return };
                    made[at].set(make(file)).unwrap();
                }
            });
        }
    });
    made.map(|made| made.into_inner().unwrap()).into()
}

/// Compiles the kernels of this file in a separate process.
fn make(file: &str) -> String {
    let place = env::temp_dir().join(format!("{}_{}", std::process::id(), file.replace('/', "_")));
    let outcome = Command::new(env::current_exe().unwrap())
        .args(["--exact", "ptx::one_file_is_made", "--ignored"])
        .envs(TO_MAKE.into_iter().zip([Path::new(file), &place]))
        .output()
        .unwrap();
    assert!(outcome.status.success(), "{file}:\n{}", String::from_utf8_lossy(&outcome.stdout));
    let made = fs::read_to_string(&place).unwrap();
    fs::remove_file(place).unwrap();
    made
}

#[test]
fn every_ptx_file_is_checked() {
    if sources().is_none() {
        return;
    }
    let mut found: Vec<_> =
        fs::read_dir(kernels().join("ptx")).unwrap().map(|e| e.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, MADE.map(|(file, ..)| file.trim_start_matches("ptx/")));
}
