//! The verbs on a factor, each compiled in this crate once for a scalar type and a storage.
//!
//! Code that is generic in T or in the storage would otherwise be compiled in every program that calls it, which takes from ten
//! seconds to minutes. So the front calls [`Verbs`] of the storage, which calls [`Compiled`] of the scalar, whose functions are
//! not generic. A storage in another crate has the verbs by their defaults, compiled in its crate.

use super::{Factor, Start};
use crate::carried::Carried;
use crate::cpu::HostFactor;
use crate::element::Element;
use crate::erased::AnyStorage;
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Side, Storage};
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Number;
use faer::{Mat, MatRef, Par, c32, c64};

/// The type of the real numbers of a scalar.
type Part<T> = <T as Number>::Part;

/// Weights of columns of V, which are real.
type RealWeights<'a, T> = Weights<'a, Part<T>>;

/// Passes the list of the verbs to a macro: their names and types, those of a scalar `$T` and a storage `$S`. Each is a function
/// of [`Factor`], documented there or at the call of [`Cholesky`](crate::Cholesky) that makes it.
macro_rules! with_verbs {
    ($then:ident, $T:ident, $S:ident) => {
        $then! { $T, $S;
            factored(a: &Operand<'_, $T>, par: Par) -> Result<(Mat<$T>, Start), Error>;
            checked(l: &Operand<'_, $T>, par: Par) -> Result<(Mat<$T>, Start), Error>;
            copied(factor: &Factor<$T, $S>) -> Result<(Mat<$T>, Start), Error>;
            of_matrix(storage: $S, diagonal: Vec<f64>) -> Factor<$T, $S>;
            of_factor(storage: $S, diagonal: Vec<f64>) -> Result<Factor<$T, $S>, Error>;
            modify(factor: &mut Factor<$T, $S>, v: &Operand<'_, $T>, weights: RealWeights<'_, $T>) -> Result<Modification, Error>;
            submit(factor: &mut Factor<$T, $S>, v: &Operand<'_, $T>, weights: RealWeights<'_, $T>) -> Result<(), Error>;
            wait(factor: &mut Factor<$T, $S>) -> Result<Modification, Error>;
            wait_and_solve(factor: &mut Factor<$T, $S>, rhs: OperandMut<'_, $T>) -> (Result<Modification, Error>, Result<(), Error>);
            can_downdate(factor: &mut Factor<$T, $S>, v: &Operand<'_, $T>) -> Result<bool, Error>;
            modify_scaled(factor: &mut Factor<$T, $S>, decay: Part<$T>, v: &Operand<'_, $T>, weights: RealWeights<'_, $T>)
                -> Result<Modification, Error>;
            modify_carrying(factor: &mut Factor<$T, $S>, decay: Part<$T>, v: &Operand<'_, $T>, weights: RealWeights<'_, $T>,
                y: &Operand<'_, $T>, carried: &mut Carried<$T>) -> Result<Modification, Error>;
            carry(factor: &Factor<$T, $S>, b: &Operand<'_, $T>, sums: &[Part<$T>]) -> Result<Carried<$T>, Error>;
            solve(factor: &Factor<$T, $S>, sides: &[Side], rhs: &Operand<'_, $T>) -> Result<Mat<$T>, Error>;
            solve_in_place(factor: &Factor<$T, $S>, sides: &[Side], rhs: OperandMut<'_, $T>) -> Result<(), Error>;
            multiply(factor: &Factor<$T, $S>, sides: &[Side], x: &Operand<'_, $T>) -> Result<Mat<$T>, Error>;
            multiply_in_place(factor: &Factor<$T, $S>, sides: &[Side], x: OperandMut<'_, $T>) -> Result<(), Error>;
            reserve_more(factor: &mut Factor<$T, $S>, additional: usize) -> Result<(), Error>;
            append(factor: &mut Factor<$T, $S>, cross: &Operand<'_, $T>, corner: &Operand<'_, $T>, par: Par)
                -> Result<Modification, Error>;
            insert(factor: &mut Factor<$T, $S>, at: usize, columns: &Operand<'_, $T>, par: Par) -> Result<Modification, Error>;
            replace(factor: &mut Factor<$T, $S>, at: usize, columns: &Operand<'_, $T>, par: Par) -> Result<Modification, Error>;
            remove(factor: &mut Factor<$T, $S>, indices: &[usize]) -> Result<Modification, Error>;
            shift(factor: &mut Factor<$T, $S>, from: usize, to: usize) -> Result<Modification, Error>;
            permute(factor: &mut Factor<$T, $S>, order: &[usize]) -> Result<Modification, Error>;
            extension(factor: &Factor<$T, $S>, cross: &Operand<'_, $T>, corner: &Operand<'_, $T>, par: Par)
                -> Result<(Mat<$T>, Mat<$T>), Error>;
            solve_extended(factor: &Factor<$T, $S>, s: MatRef<'_, $T>, corner: MatRef<'_, $T>, rhs: &Operand<'_, $T>, par: Par)
                -> Result<Mat<$T>, Error>;
            condition(factor: &Factor<$T, $S>) -> Result<Part<$T>, Error>;
            log_det(factor: &Factor<$T, $S>) -> Result<Part<$T>, Error>;
            to_l(factor: &Factor<$T, $S>) -> Result<Mat<$T>, Error>;
            reconstruct(factor: &Factor<$T, $S>, par: Par) -> Result<Mat<$T>, Error>;
        }
    };
}

macro_rules! defaults {
    ($T:ident, $S:ident; $($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[doc(hidden)]
        #[allow(missing_docs, reason = "those of `Cholesky`")]
        fn $name($($arg: $type),*) -> $result {
            Factor::<$T, $S>::$name($($arg),*)
        }
    )*};
}

/// The verbs on a factor in this storage. The defaults suffice for every storage.
#[allow(private_interfaces, reason = "public in name only: the module is not exported")]
pub trait Verbs<T: Element>: Storage<T> + Sized {
    with_verbs!(defaults, T, Self);
}

macro_rules! declarations {
    ($T:ident, $S:ident; $($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        $(#[doc(hidden)] fn $name($($arg: $type),*) -> $result;)*
    };
}

/// The same as functions that are not generic. Implemented for the scalar types.
#[allow(private_interfaces, reason = "public in name only: the module is not exported")]
pub trait Compiled<S>: Element {
    with_verbs!(declarations, Self, S);
}

macro_rules! calls {
    ($T:ident, $S:ident; $($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[inline(always)]
        fn $name($($arg: $type),*) -> $result {
            <$T as Compiled<$S>>::$name($($arg),*)
        }
    )*};
}

macro_rules! definitions {
    ($T:ident, $S:ident; $($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $name($($arg: $type),*) -> $result {
            Factor::<$T, $S>::$name($($arg),*)
        }
    )*};
}

macro_rules! compiled_for {
    ($scalar:ident, $storage:ty) => {
        const _: () = {
            type S = $storage;

            #[allow(private_interfaces, reason = "public in name only: the module is not exported")]
            impl Compiled<S> for $scalar {
                with_verbs!(definitions, $scalar, S);
            }
        };
    };
}

compiled_for!(f32, HostFactor<f32>);
compiled_for!(f64, HostFactor<f64>);
compiled_for!(c32, HostFactor<c32>);
compiled_for!(c64, HostFactor<c64>);
compiled_for!(f32, AnyStorage<f32>);
compiled_for!(f64, AnyStorage<f64>);

#[allow(private_interfaces, reason = "public in name only: the module is not exported")]
impl<T: Compiled<HostFactor<T>>> Verbs<T> for HostFactor<T> {
    with_verbs!(calls, T, Self);
}

#[allow(private_interfaces, reason = "public in name only: the module is not exported")]
impl<T: Real + Compiled<AnyStorage<T>>> Verbs<T> for AnyStorage<T> {
    with_verbs!(calls, T, Self);
}
