//! The derivatives, compiled in this crate for each scalar.

use super::append;
use super::given;
use super::log_det;
use super::modification::Memory;
use super::solve;
use super::tangent::{CotangentsMut, Modified, Tangents};
use crate::compiled::functions;
use crate::cpu::Cpu;
use crate::error::Error;
use faer::{Mat, MatMut, MatRef};

functions! {
    /// Derivatives of what is done with a factor.
    Gradients {
        pull_modification(of: &Modified<'_, Self>, cotangent: MatRef<'_, Self>, to: CotangentsMut<'_, Self>, engine: &Cpu,
            memory: Memory<'_, Self>) -> Result<(), Error> = given::pull;
        push_modification(of: &Modified<'_, Self>, along: &Tangents<'_, Self>, to: MatMut<'_, Self>, engine: &Cpu,
            memory: Memory<'_, Self>) -> Result<(), Error> = given::push;
        pull_log_det(of: &Modified<'_, Self>, cotangent: Self, to: CotangentsMut<'_, Self>) -> Result<(), Error> = log_det::pull;
        push_log_det(of: &Modified<'_, Self>, along: &Tangents<'_, Self>) -> Result<Self, Error> = log_det::push;
        pull_solve(l: MatRef<'_, Self>, x: MatRef<'_, Self>, cotangent: MatRef<'_, Self>)
            -> Result<(Mat<Self>, Mat<Self>), Error> = solve::pull;
        push_solve(l: MatRef<'_, Self>, x: MatRef<'_, Self>, along: (MatRef<'_, Self>, MatRef<'_, Self>))
            -> Result<Mat<Self>, Error> = solve::push;
        pull_append(new: MatRef<'_, Self>, order: usize, cotangent: MatRef<'_, Self>)
            -> Result<[Mat<Self>; 3], Error> = append::pull;
        push_append(new: MatRef<'_, Self>, order: usize, along: [MatRef<'_, Self>; 3])
            -> Result<Mat<Self>, Error> = append::push;
    }
}
