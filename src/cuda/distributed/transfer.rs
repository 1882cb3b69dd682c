//! Copies of row blocks from and to host memory, in pieces of some columns, through two page-locked buffers.

use super::part::Part;
use crate::cuda::memory::Pinned;
use crate::cuda::resident::share::rows_of;
use crate::cuda::resident::sizes::ROW_BLOCK;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use core::ops::Range;
use faer::MatRef;
use rayon::prelude::*;

/// Columns of a piece: 8 MiB in double precision, enough for the link's rate.
const PIECE_COLS: usize = 8192;

/// Columns of a row block, on their way.
#[derive(Clone)]
struct Piece {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Its first entry in the memory of the part.
    at: usize,
}

/// The buffers for one part.
pub(super) struct Transfer<'a, T> {
    part: &'a Part<T>,
    order: usize,
    stream: Stream,
    halves: [(Pinned<T>, Event); 2],
}

impl<'a, T: Real> Transfer<'a, T> {
    /// For an L of this order.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn new(part: &'a Part<T>, order: usize) -> Result<Self, Error> {
        let len = PIECE_COLS.min(order.next_multiple_of(ROW_BLOCK)) * ROW_BLOCK;
        let half = || Ok::<_, Error>((Pinned::new(&part.device, len)?, Event::new(&part.device)?));
        Ok(Self { part, order, stream: Stream::new(&part.device)?, halves: [half()?, half()?] })
    }

    /// Pieces of these columns of the row blocks that have rows in `rows`, up to their diagonals.
    fn pieces(&self, rows: Range<usize>, columns: Range<usize>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for &(row_block, at) in &self.part.places {
            let own = rows_of(row_block, self.order);
            if own.start.max(rows.start) >= own.end.min(rows.end) {
                continue;
            }
            let end = columns.end.min(own.end);
            for first in (columns.start..end).step_by(PIECE_COLS) {
                let columns = first..end.min(first + PIECE_COLS);
                pieces.push(Piece { rows: own.clone(), at: at + first * ROW_BLOCK, columns });
            }
        }
        pieces
    }

    /// Copies these columns from the device, and calls `work` with the rows and the columns of each piece and its entries, which
    /// are zero above the diagonal of L.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn read(
        &mut self,
        columns: Range<usize>,
        mut work: impl FnMut(Range<usize>, Range<usize>, MatRef<'_, T>),
    ) -> Result<(), Error> {
        let pieces = self.pieces(columns.start..self.order, columns);
        let outcome = self.read_pieces(&pieces, &mut work);
        // No copy is in flight when the buffers are freed.
        self.stream.synchronize().and(outcome)
    }

    fn read_pieces(
        &mut self,
        pieces: &[Piece],
        work: &mut impl FnMut(Range<usize>, Range<usize>, MatRef<'_, T>),
    ) -> Result<(), Error> {
        let Self { part, stream, halves, .. } = self;
        let ask = |halves: &[(Pinned<T>, Event); 2], at: usize| {
            let Some(piece) = pieces.get(at) else { return Ok(()) };
            let ((half, copied), len) = (&halves[at % 2], piece.columns.len() * ROW_BLOCK);
            // SAFETY: the half has been emptied, and is not read before `copied`; L is only read.
            unsafe { stream.download(part.slice().part(piece.at..piece.at + len), half, 0..len)? };
            copied.record(stream)
        };
        ask(halves, 0)?;
        for (at, Piece { rows, columns, .. }) in pieces.iter().enumerate() {
            ask(halves, at + 1)?;
            let (half, copied) = &mut halves[at % 2];
            copied.synchronize()?;
            let entries = half.as_mut_slice()?;
            for column in columns.start.max(rows.start)..columns.end {
                let first = (column - columns.start) * ROW_BLOCK;
                entries[first..first + column - rows.start].fill(T::ZERO);
            }
            let shape = (rows.len(), columns.len());
            work(
                rows.clone(),
                columns.clone(),
                MatRef::from_column_major_slice_with_stride(entries, shape.0, shape.1, ROW_BLOCK),
            );
        }
        Ok(())
    }

    /// Writes A to the entries from this row and column on, on or below the diagonal of L. Other parts have the rest of its
    /// rows.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn write(&mut self, (row, column): (usize, usize), a: MatRef<'_, T>) -> Result<(), Error> {
        let pieces = self.pieces(row..row + a.nrows(), column..column + a.ncols());
        let outcome = self.write_pieces(&pieces, (row, column), a);
        self.stream.synchronize().and(outcome)
    }

    fn write_pieces(
        &mut self,
        pieces: &[Piece],
        (row, column): (usize, usize),
        a: MatRef<'_, T>,
    ) -> Result<(), Error> {
        let Self { part, stream, halves, .. } = self;
        for (at, Piece { rows, columns, at: first }) in pieces.iter().enumerate() {
            let own = rows.start.max(row)..rows.end.min(row + a.nrows());
            let (half, copied) = &mut halves[at % 2];
            copied.synchronize()?;
            let count = own.len();
            half.as_mut_slice()?[..count * columns.len()].par_chunks_exact_mut(count).enumerate().for_each(
                |(j, to)| {
                    let from = a.col(columns.start - column + j).subrows(own.start - row, count);
                    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from);
                },
            );
            let first = first + own.start - rows.start;
            let to = part.slice().part(first..part.l.len());
            // SAFETY: the half is not used before `copied`, and only this stream uses these entries of L.
            unsafe { stream.upload_columns((half, count), (count, columns.len()), (to, ROW_BLOCK))? };
            copied.record(stream)?;
        }
        Ok(())
    }
}
