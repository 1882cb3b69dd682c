//! The choice of an instruction set.

use cholupdate_kernels::isa::Isa;

#[test]
fn the_environment_can_only_lower_the_instruction_set() {
    let registers = |isa: Isa| match isa {
        Isa::Portable => 0,
        #[cfg(target_arch = "x86_64")]
        Isa::V3(_) => 1,
        #[cfg(target_arch = "x86_64")]
        Isa::V4(_) => 2,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon(_) => 1,
    };
    let best = registers(Isa::best(""));
    assert_eq!(best as usize, Isa::all().len() - 1);
    for (limit, most) in [("portable", 0), ("avx2", 1), ("neon", 2), ("avx512", 2), ("of another machine", 2)]
    {
        assert_eq!(registers(Isa::best(limit)), best.min(most), "{limit}");
    }
}
