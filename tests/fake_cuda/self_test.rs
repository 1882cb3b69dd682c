#![cfg(target_os = "linux")]
//! Tests of the fake driver: correct programs are correct for every seed, and each mistake that it must detect is
//! detected.

#[path = "mod.rs"]
mod fake_cuda;
mod pipeline;

use std::sync::Arc;

use cudarc::driver::sys::CUresult::{self, *};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg, result, sys,
};
use cudarc::nvrtc::Ptx;
use pipeline::Missing;

fn function(context: &Arc<CudaContext>, name: &str) -> CudaFunction {
    let module = context.load_module(Ptx::from_src("// the fake does not read it")).unwrap();
    module.load_function(name).unwrap()
}

fn grid(blocks: u32, threads: u32, shared_mem_bytes: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes }
}

fn device() -> (Arc<CudaContext>, Arc<CudaStream>) {
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    (context, stream)
}

fn code<T>(result: Result<T, DriverError>) -> CUresult {
    result.err().map_or(CUDA_SUCCESS, |error| error.0)
}

/// The number of seeds in 0..50 for which a program is wrong; `None` if the driver is not wanted.
fn wrong_runs(missing: Missing) -> Option<usize> {
    let fake = fake_cuda::exclusive()?;
    let is_wrong = |seed: &u32| {
        fake.seed(*seed);
        !pipeline::is_right(missing)
    };
    Some((0..50).filter(is_wrong).count())
}

/// Tests in other languages load the libraries from this folder.
#[test]
#[ignore = "prints the directory of the libraries, which it compiles if need be"]
fn directory() {
    println!("fake-cuda: {}", fake_cuda::directory().display());
}

#[test]
fn a_pipeline_is_right_in_every_interleaving() {
    let Some(wrong) = wrong_runs(Missing::Nothing) else { return };
    assert_eq!(wrong, 0);
}

#[test]
fn each_missing_wait_shows() {
    for missing in [Missing::WaitBeforeCompute, Missing::WaitBeforeReuse, Missing::FinalWait] {
        let Some(wrong) = wrong_runs(missing) else { return };
        eprintln!("{missing:?}: wrong for {wrong} of 50 seeds");
        assert!(wrong > 0, "{missing:?} does not show");
    }
}

#[test]
fn blocks_meet_at_barriers_and_warps_exchange() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let (context, stream) = device();
    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let on_device = stream.clone_htod(&x).unwrap();
    let mut sums = stream.alloc_zeros::<f64>(8).unwrap();
    let block_sum = function(&context, "block_sum_f64");
    let mut launch = stream.launch_builder(&block_sum);
    // SAFETY: the arguments are those of `block_sum`: x (1000), one sum for each of 8 blocks of 128.
    unsafe { launch.arg(&on_device).arg(&mut sums).arg(&1000i32).launch(grid(8, 128, 0)) }.unwrap();
    let expected: Vec<f64> = x.chunks(128).map(|part| part.iter().sum()).collect();
    assert_eq!(stream.clone_dtoh(&sums).unwrap(), expected);

    let numbers = stream.clone_htod(&(1..=100).collect::<Vec<i32>>()).unwrap();
    let mut running = stream.alloc_zeros::<i32>(100).unwrap();
    let running_sum = function(&context, "running_sum");
    let mut launch = stream.launch_builder(&running_sum);
    // SAFETY: the arguments are those of `running_sum`, for one block of 100 with as many `int`s of shared
    // memory.
    unsafe { launch.arg(&numbers).arg(&mut running).launch(grid(1, 100, 400)) }.unwrap();
    let expected: Vec<i32> = (1..=100).map(|i| i * (i + 1) / 2).collect();
    assert_eq!(stream.clone_dtoh(&running).unwrap(), expected);
}

#[test]
fn blocks_that_nap_let_others_run_and_keep_their_shared_memory() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let (context, stream) = device();
    let mut turn = stream.alloc_zeros::<u32>(1).unwrap();
    let mut order = stream.alloc_zeros::<u32>(8).unwrap();
    let chain = function(&context, "chain");
    let mut launch = stream.launch_builder(&chain);
    // SAFETY: the arguments are those of `chain`; `order` has a place for each block.
    unsafe { launch.arg(&mut turn).arg(&mut order).launch_cooperative(grid(8, 32, 0)) }.unwrap();
    assert_eq!(stream.clone_dtoh(&order).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);

    let mut launch = stream.launch_builder(&chain);
    // SAFETY: refused before it runs, as 41 blocks are not on the device together.
    let refused = unsafe { launch.arg(&mut turn).arg(&mut order).launch_cooperative(grid(41, 32, 0)) };
    assert_eq!(code(refused), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

#[test]
fn memory_is_garbage_until_written() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let (context, stream) = device();
    // SAFETY: never written, which is the point: any bits are an f64.
    let mut fresh = unsafe { stream.alloc::<f64>(2) }.unwrap();
    assert!(stream.clone_dtoh(&fresh).unwrap().iter().all(|x| x.is_nan()));
    stream.memset_zeros(&mut fresh).unwrap();
    let unwritten = function(&context, "unwritten_shared");
    let mut launch = stream.launch_builder(&unwritten);
    // SAFETY: the arguments are those of `unwritten_shared`, with two f64 of shared memory.
    unsafe { launch.arg(&mut fresh).launch(grid(1, 1, 16)) }.unwrap();
    assert!(stream.clone_dtoh(&fresh).unwrap().iter().all(|x| x.is_nan()));
}

/// A program may assume unwritten memory to have all bits set, zeros, or the contents of another allocation: none is
/// true.
#[test]
fn fresh_memory_is_nothing_that_a_program_may_expect() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let (context, stream) = device();
    let check = |words: &[u32], others: &[u32]| {
        assert!(words.iter().all(|&word| f32::from_bits(word).is_nan() && (word as i32) > 1 << 30));
        let pair = |two: &[u32]| f64::from_bits(u64::from(two[1]) << 32 | u64::from(two[0]));
        assert!(words.chunks_exact(2).all(|two| pair(two).is_nan()));
        let same = words.windows(2).filter(|two| two[0] == two[1]).count();
        assert!(same == 0, "{same} words are as the one before");
        let same = words.iter().zip(others).filter(|(a, b)| a == b).count();
        assert!(same <= words.len() / 10, "{same} words are those of another allocation");
    };
    // SAFETY: never written, which is the point: any bits are a u32.
    let [one, other] = [(); 2].map(|()| unsafe { stream.alloc::<u32>(1001) }.unwrap());
    check(&stream.clone_dtoh(&one).unwrap(), &stream.clone_dtoh(&other).unwrap());
    // SAFETY: as above.
    let pinned = [(); 2].map(|()| unsafe { context.alloc_pinned::<u32>(1001) }.unwrap());
    let [one, other] = pinned.each_ref().map(|pinned| pinned.as_slice().unwrap());
    check(one, other);
}

#[test]
fn reciprocals_are_wrong_where_a_test_asks_for_it() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let (context, stream) = device();
    let x: Vec<f64> = (1..=100).map(|i| 0.37 * f64::from(i)).collect();
    let reciprocals = function(&context, "reciprocals");
    let errors = || {
        let mut on_device = stream.clone_htod(&x).unwrap();
        let mut launch = stream.launch_builder(&reciprocals);
        // SAFETY: the arguments are those of `reciprocals`, for 100 entries.
        unsafe { launch.arg(&mut on_device).launch(grid(1, 100, 0)) }.unwrap();
        let found = stream.clone_dtoh(&on_device).unwrap();
        let ulps = |(&x, &y): (&f64, &f64)| y.to_bits() as i64 - (1.0 / x).to_bits() as i64;
        x.iter().zip(&found).map(ulps).collect::<Vec<i64>>()
    };
    assert_eq!(errors(), [0; 100]);
    fake.inexact(0, 4, 1);
    let first = errors();
    assert!(first.iter().all(|error| error.abs() == 4));
    let up = first.iter().filter(|&&error| error > 0).count();
    assert!((30..70).contains(&up), "{up} of 100 up");
    assert_eq!(errors(), first, "a number has its error");
    fake.inexact(4, 4, 2);
    assert_ne!(errors(), first, "the seed chooses the signs");
}

/// The result of a synchronization after a launch of `name` with one argument and 32 threads.
fn outcome_of(name: &str, len: Option<i32>) -> CUresult {
    let (context, stream) = device();
    let mut x = stream.alloc_zeros::<f64>(32).unwrap();
    let kernel = function(&context, name);
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut x);
    if let Some(len) = &len {
        launch.arg(len);
    }
    // SAFETY: the arguments are those of the kernel; the fake contains its mistakes.
    unsafe { launch.launch(grid(1, 32, 0)) }.unwrap();
    let outcome = code(stream.synchronize());
    assert_eq!(code(stream.clone_dtoh(&x)), outcome, "an error of the device is sticky");
    outcome
}

#[test]
fn failures_of_kernels_are_reported() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    assert_eq!(outcome_of("divergent_barrier", None), CUDA_ERROR_LAUNCH_FAILED);
    assert_eq!(outcome_of("spin", None), CUDA_ERROR_LAUNCH_FAILED);
    assert_eq!(outcome_of("write_past_end", Some(32)), CUDA_ERROR_ILLEGAL_ADDRESS);
    // A context that is destroyed and created again does not have the error.
    assert_eq!(outcome_of("write_past_end", Some(31)), CUDA_SUCCESS);
    let context = CudaContext::new(0).unwrap();
    let module = context.load_module(Ptx::from_src("")).unwrap();
    assert_eq!(code(module.load_function("no_such_kernel")), CUDA_ERROR_NOT_FOUND);
}

#[test]
fn copies_out_of_bounds_are_refused() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let (_context, stream) = device();
    let x = stream.alloc_zeros::<f64>(10).unwrap();
    let (at, _) = cudarc::driver::DevicePtr::device_ptr(&x, &stream);
    let mut host = [0.0f64; 11];
    // SAFETY: refused: one f64 more than the allocation has.
    let refused = unsafe { result::memcpy_dtoh_async(&mut host, at, stream.cu_stream()) };
    assert_eq!(code(refused), CUDA_ERROR_INVALID_VALUE);

    let mut copy = pipeline::copy_2d();
    copy.srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
    copy.srcHost = host.as_ptr().cast();
    copy.srcPitch = 32;
    copy.dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = at;
    copy.dstPitch = 32;
    (copy.WidthInBytes, copy.Height) = (16, 3);
    // SAFETY: 3 rows of 16 bytes, 32 apart: bytes 0..80 of the 80 of x and of the 88 of `host`.
    assert_eq!(code(unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()).result() }), CUDA_SUCCESS);
    copy.WidthInBytes = 24;
    // SAFETY: refused: the last row ends at byte 88 of 80.
    let refused = unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()).result() };
    assert_eq!(code(refused), CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn memory_beyond_the_cap_is_refused_and_all_is_returned() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    fake.memory_cap(1000);
    {
        let (context, stream) = device();
        let _x = stream.alloc_zeros::<f64>(100).unwrap();
        assert_eq!(code(stream.alloc_zeros::<f64>(26)), CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(context.mem_get_info().unwrap(), (200, 1000));
        // Released in stream order: the memory is free again without a synchronization.
        drop(stream.alloc_zeros::<u8>(200).unwrap());
        drop(stream.alloc_zeros::<u8>(200).unwrap());
    }
    let stats = fake.stats();
    assert_eq!((stats.live_bytes, stats.live_allocations, stats.peak_bytes), (0, 0, 1000));
}

#[test]
fn the_chosen_operation_fails_and_its_context_with_it() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    for failing in 1..=5 {
        let (_context, stream) = device();
        fake.fail_at(failing);
        let all = (|| {
            let mut x = stream.clone_htod(&[1.0f64; 4])?;
            let y = stream.clone_dtod(&x)?;
            stream.memset_zeros(&mut x)?;
            stream.clone_dtoh(&y)
        })();
        // Three copies and a fill: there is no fifth operation.
        let expected = if failing <= 4 { CUDA_ERROR_LAUNCH_FAILED } else { CUDA_SUCCESS };
        assert_eq!(code(all), expected, "operation {failing}");
        assert_eq!(code(stream.synchronize()), expected);
        fake.fail_at(0);
    }
    assert_eq!(fake.stats().live_bytes, 0, "memory of a failed context is released too");
}

#[test]
fn what_is_missing_has_a_typed_error() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    // SAFETY: only asks the loader for libraries by their names.
    assert!(unsafe { sys::is_culib_present() });
    fake.devices(0);
    assert_eq!(code(CudaContext::new(0)), CUDA_ERROR_NO_DEVICE);
    fake.devices(2);
    assert_eq!(CudaContext::device_count().unwrap(), 2);
    assert_eq!(code(CudaContext::new(2)), CUDA_ERROR_INVALID_DEVICE);
    let second = CudaContext::new(1).unwrap();
    assert_eq!(second.compute_capability().unwrap(), (9, 0));
    assert_eq!(code(second.get_limit(sys::CUlimit::CU_LIMIT_STACK_SIZE)), CUDA_ERROR_NOT_SUPPORTED);
    fake.driver_version(12020);
    let mut version = 0;
    // SAFETY: writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().unwrap();
    assert_eq!(version, 12020);
    let error = DriverError(CUDA_ERROR_NOT_READY);
    assert_eq!(error.error_name().unwrap().to_str(), Ok("CUDA_ERROR_NOT_READY"));
}

#[test]
fn pageable_memory_is_copied_at_once_and_pinned_memory_later() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let (_context, stream) = device();
    let mut host = vec![1.0f64; 4];
    let mut on_device = stream.alloc_zeros::<f64>(4).unwrap();
    stream.memcpy_htod(&host, &mut on_device).unwrap();
    host.fill(2.0);
    assert_eq!(stream.clone_dtoh(&on_device).unwrap(), [1.0; 4]);

    let at = host.as_mut_ptr().cast();
    // SAFETY: the memory of `host`, which stays where it is until it is unregistered.
    let register = || unsafe { sys::cuMemHostRegister_v2(at, 32, 0).result() };
    register().unwrap();
    assert_eq!(code(register()), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    stream.memcpy_htod(&host, &mut on_device).unwrap();
    host.fill(3.0); // too early, which must be detected
    assert_eq!(stream.clone_dtoh(&on_device).unwrap(), [3.0; 4]);
    // SAFETY: unregisters the registered memory once, and a second time, which fails.
    let unregister = || unsafe { sys::cuMemHostUnregister(at).result() };
    unregister().unwrap();
    assert_eq!(code(unregister()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

#[test]
fn counts_are_those_of_the_calls() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let (context, stream) = device();
    fake.reset_stats();
    let x = stream.clone_htod(&[1.0f64; 100]).unwrap();
    let half = stream.clone_dtoh(&x.slice(..50)).unwrap();
    let nothing = function(&context, "nothing");
    let mut launch = stream.launch_builder(&nothing);
    // SAFETY: a kernel without arguments.
    unsafe { launch.launch(grid(1, 1, 0)) }.unwrap();
    context.synchronize().unwrap();
    drop(half);
    let stats = fake.stats();
    assert_eq!((stats.launches, stats.copies, stats.bytes_up, stats.bytes_down), (1, 2, 800, 400));
    assert_eq!((stats.live_bytes, stats.live_allocations, stats.device_synchronizations), (800, 1, 1));
}
