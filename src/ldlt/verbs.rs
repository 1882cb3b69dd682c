//! What is compiled for indefinite matrices, once for each scalar type.

use super::extended::Parts;
use super::report::LdltModification;
#[cfg(feature = "serde")]
use super::restored;
use super::rows;
use super::state::Indefinite;
use super::systems::Part;
use crate::compiled::functions;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::operand::{Operand, OperandMut};
#[cfg(feature = "serde")]
use crate::snapshot::Triangle;
use crate::sweep::weights::Weights;
use faer::{Mat, MatRef};

functions! {
    /// The verbs on a factor L S Lᴴ.
    LdltVerbs of numbers {
        ldlt_of_matrix(a: &Operand<'_, Self>, threads: Threads) -> Result<Indefinite<Self>, Error> = Indefinite::of_matrix;
        ldlt_of_factor(l: &Operand<'_, Self>, d: &[Self::Part], threads: Threads) -> Result<Indefinite<Self>, Error> = Indefinite::of_factor;
        #[cfg(feature = "serde")]
        ldlt_restored(factor: &Triangle<Self>, negative: &[bool], threads: Threads) -> Result<Indefinite<Self>, Error> = restored::restored;
        ldlt_modify(of: &mut Indefinite<Self>, decay: Self::Part, v: &Operand<'_, Self>, weights: Weights<'_, Self::Part>, dry: bool)
            -> Result<LdltModification, Error> = Indefinite::modify;
        ldlt_modify_carrying(of: &mut Indefinite<Self>, decay: Self::Part, v: &Operand<'_, Self>, weights: Weights<'_, Self::Part>,
            y: &Operand<'_, Self>, z: OperandMut<'_, Self>) -> Result<LdltModification, Error> = Indefinite::modify_carrying;
        ldlt_extension(of: &Indefinite<Self>, cross: &Operand<'_, Self>, corner: &Operand<'_, Self>) -> Result<Parts<Self>, Error>
            = Indefinite::extension;
        ldlt_solve_extended(of: &Indefinite<Self>, parts: (MatRef<'_, Self>, MatRef<'_, Self>, &[bool]), rhs: &Operand<'_, Self>)
            -> Result<Mat<Self>, Error> = Indefinite::solve_extended;
        ldlt_append(of: &mut Indefinite<Self>, cross: &Operand<'_, Self>, corner: &Operand<'_, Self>)
            -> Result<LdltModification, Error> = rows::append;
        ldlt_insert(of: &mut Indefinite<Self>, at: usize, columns: &Operand<'_, Self>) -> Result<LdltModification, Error> = rows::insert;
        ldlt_replace(of: &mut Indefinite<Self>, at: usize, columns: &Operand<'_, Self>) -> Result<LdltModification, Error> = rows::replace;
        ldlt_remove(of: &mut Indefinite<Self>, indices: &[usize]) -> Result<LdltModification, Error> = rows::remove;
        ldlt_shift(of: &mut Indefinite<Self>, from: usize, to: usize) -> Result<LdltModification, Error> = rows::shift;
        ldlt_permute(of: &mut Indefinite<Self>, order: &[usize]) -> Result<LdltModification, Error> = rows::permute;
        ldlt_solve(of: &Indefinite<Self>, parts: &[Part], rhs: &Operand<'_, Self>) -> Result<Mat<Self>, Error> = Indefinite::solve;
        ldlt_solve_in_place(of: &Indefinite<Self>, parts: &[Part], rhs: OperandMut<'_, Self>) -> Result<(), Error>
            = Indefinite::solve_in_place;
        ldlt_reconstruct(of: &Indefinite<Self>) -> Mat<Self> = Indefinite::reconstruct;
        ldlt_condition(of: &Indefinite<Self>) -> Result<Self::Part, Error> = Indefinite::condition;
    }
}
