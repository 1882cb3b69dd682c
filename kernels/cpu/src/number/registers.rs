//! What a register of the kernels is: one of the instruction set, or on 64-bit Arm a pair of them.
//!
//! A block of columns of L needs a lane for each of its columns, and a NEON register has two of `f64`. Pairs have the lanes of
//! AVX2, so that all its kernels run on Arm, and as there are 32 NEON registers, there are as many pairs.
//!
//! NEON has no instructions for loads and stores of some lanes. A mask is therefore kept as a range of lanes, by which accesses
//! branch, and not as a register.

/// A register of the kernels, of registers of the instruction set.
#[cfg(not(target_arch = "aarch64"))]
pub type Registers<V> = V;
#[cfg(target_arch = "aarch64")]
pub type Registers<V> = [V; PARTS];

/// Registers of the instruction set in one of the kernels.
#[cfg(not(target_arch = "aarch64"))]
pub const PARTS: usize = 1;
#[cfg(target_arch = "aarch64")]
pub const PARTS: usize = 2;

/// An instruction, for each part of its operands.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! each {
    ($simd:ident.$op:ident($($operand:ident),*)) => { $simd.$op($($operand),*) };
}
#[cfg(target_arch = "aarch64")]
macro_rules! each {
    ($simd:ident.$op:ident($($operand:ident),*)) => {
        [$simd.$op($($operand[0]),*), $simd.$op($($operand[1]),*)]
    };
}

/// One register of the instruction set, for each part.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! repeated {
    ($register:expr) => {
        $register
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! repeated {
    ($register:expr) => {
        [$register; PARTS]
    };
}

/// Registers of the kernels, of consecutive registers of the instruction set.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! grouped {
    ($registers:expr, $grouped:ident) => {
        $registers
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! grouped {
    ($registers:expr, $grouped:ident) => {
        $registers.$grouped::<PARTS>().0
    };
}

/// The sum of all lanes of a register.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! total {
    ($simd:ident.$sum:ident($x:ident), $add:ident) => {
        $simd.$sum($x)
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! total {
    ($simd:ident.$sum:ident($x:ident), $add:ident) => {
        $simd.$sum($simd.$add($x[0], $x[1]))
    };
}

/// The items of [`Number`](crate::number::Number) that have a mask.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! masked {
    ($bits:ident, $s:ident, $lanes:ident, $m:ident, $between:ident $select:ident $load:ident $store:ident) => {
        type Mask<S: Simd> = pulp::MemMask<S::$m>;

        #[inline(always)]
        fn mask<S: Simd>(simd: S, from: usize, to: usize) -> Self::Mask<S> {
            // pulp's mask of a range contains function pointers, through which every access would be a call.
            pulp::MemMask::new(simd.$between(from as $bits, to as $bits).mask())
        }
        #[inline(always)]
        fn select<S: Simd>(simd: S, mask: Self::Mask<S>, a: S::$s, b: S::$s) -> S::$s {
            simd.$select(mask.mask(), a, b)
        }
        #[inline(always)]
        unsafe fn load_masked<S: Simd>(simd: S, mask: Self::Mask<S>, ptr: *const Self) -> S::$s {
            // SAFETY: the caller guarantees that the lanes of `mask` are readable.
            unsafe { simd.$load(mask, ptr) }
        }
        #[inline(always)]
        unsafe fn store_masked<S: Simd>(simd: S, mask: Self::Mask<S>, ptr: *mut Self, x: S::$s) {
            // SAFETY: the caller guarantees that the lanes of `mask` are writable.
            unsafe { simd.$store(mask, ptr, x) }
        }
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! masked {
    ($bits:ident, $s:ident, $lanes:ident, $m:ident, $between:ident $select:ident $load:ident $store:ident) => {
        type Mask<S: Simd> = Lanes;

        #[inline(always)]
        fn mask<S: Simd>(_: S, from: usize, to: usize) -> Lanes {
            Lanes { from, to }
        }
        #[inline(always)]
        fn select<S: Simd>(simd: S, mask: Lanes, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
            let [low, high] = mask.halves(S::$lanes);
            let low = simd.$between(low.from as $bits, low.to as $bits).mask();
            let high = simd.$between(high.from as $bits, high.to as $bits).mask();
            [simd.$select(low, a[0], b[0]), simd.$select(high, a[1], b[1])]
        }
        #[inline(always)]
        unsafe fn load_masked<S: Simd>(simd: S, mask: Lanes, ptr: *const Self) -> Self::Vector<S> {
            let lanes = Self::lanes::<S>();
            let mut x = Self::splat(simd, Self::ZERO);
            // SAFETY: the caller guarantees that the lanes of `mask` are readable; x has all lanes.
            unsafe {
                if mask.are_all(lanes) {
                    return Self::load::<S>(ptr);
                }
                for i in (0..lanes).filter(|&i| mask.contains(i)) {
                    *(&raw mut x).cast::<Self>().add(i) = *ptr.add(i);
                }
            }
            x
        }
        #[inline(always)]
        unsafe fn store_masked<S: Simd>(_: S, mask: Lanes, ptr: *mut Self, x: Self::Vector<S>) {
            let lanes = Self::lanes::<S>();
            // SAFETY: the caller guarantees that the lanes of `mask` are writable; x has all lanes.
            unsafe {
                if mask.are_all(lanes) {
                    return Self::store::<S>(ptr, x);
                }
                for i in (0..lanes).filter(|&i| mask.contains(i)) {
                    *ptr.add(i) = *(&raw const x).cast::<Self>().add(i);
                }
            }
        }
    };
}

/// A choice by a comparison.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! compared {
    ($s:ident, $less:ident $select:ident) => {
        #[inline(always)]
        fn where_less<S: Simd>(simd: S, (a, b): (S::$s, S::$s), x: S::$s, y: S::$s) -> S::$s {
            simd.$select(simd.$less(a, b), x, y)
        }
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! compared {
    ($s:ident, $less:ident $select:ident) => {
        #[inline(always)]
        fn where_less<S: Simd>(
            simd: S,
            (a, b): (Self::Vector<S>, Self::Vector<S>),
            x: Self::Vector<S>,
            y: Self::Vector<S>,
        ) -> Self::Vector<S> {
            [
                simd.$select(simd.$less(a[0], b[0]), x[0], y[0]),
                simd.$select(simd.$less(a[1], b[1]), x[1], y[1]),
            ]
        }
    };
}

/// Lanes of a pair, from one up to another.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
pub struct Lanes {
    pub from: usize,
    pub to: usize,
}

#[cfg(target_arch = "aarch64")]
impl Lanes {
    #[inline(always)]
    pub fn contains(self, lane: usize) -> bool {
        (self.from..self.to).contains(&lane)
    }

    /// Whether these are all lanes of a pair.
    #[inline(always)]
    pub fn are_all(self, lanes: usize) -> bool {
        self.from == 0 && self.to >= lanes
    }

    /// Those of the two registers, which have this many lanes each.
    #[inline(always)]
    pub fn halves(self, lanes: usize) -> [Self; 2] {
        let Self { from, to } = self;
        [self, Self { from: from.saturating_sub(lanes), to: to.saturating_sub(lanes) }]
    }
}

pub(crate) use {compared, each, grouped, masked, repeated, total};
