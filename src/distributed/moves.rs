//! L from and to one process, and right-hand sides between their rows and whole matrices.

use super::network::{Network, bytes_mut};
use super::rows::LocalRows;
use crate::real::Real;
use crate::sweep::cyclic::Cyclic;
use faer::{MatMut, MatRef};

/// Sends scalars to another process, and waits.
fn send<T: Real>(net: &impl Network, to: usize, data: &mut [T]) {
    let bytes = bytes_mut(data);
    // SAFETY: the slice is borrowed until the message has been waited for.
    let pending = unsafe { net.start_send(to, bytes.as_ptr(), bytes.len()) };
    net.wait(pending);
}

/// A matrix as contiguous columns.
fn packed<T: Real>(from: MatRef<'_, T>) -> Vec<T> {
    from.col_iter().flat_map(|column| column.iter().copied()).collect()
}

/// The rows of a block column at process `rank`: the rows of L at their places from the first one on.
fn rows_from(cyclic: &Cyclic, rank: usize, block: usize) -> impl Iterator<Item = usize> + use<> {
    let of = cyclic.of(rank);
    (of.before(block * of.block)..of.rows()).map(move |place| of.row(place))
}

/// Copies L to process `root`, where `to` is a matrix of zeros. (n × n; on other processes not used)
pub(super) fn gather_l<T: Real>(net: &impl Network, l: &LocalRows<T>, root: usize, mut to: MatMut<'_, T>) {
    let cyclic = l.cyclic;
    for block in 0..cyclic.blocks() {
        let (columns, (_, mine)) = (cyclic.rows_of(block), l.column(block));
        if cyclic.rank != root {
            if mine.nrows() > 0 {
                send(net, root, &mut packed(mine));
            }
            continue;
        }
        for rank in 0..cyclic.ranks {
            let rows: Vec<_> = rows_from(&cyclic, rank, block).collect();
            if rows.is_empty() {
                continue;
            }
            let data = if rank == root {
                packed(mine)
            } else {
                let mut data = vec![T::ZERO; rows.len() * columns.len()];
                net.receive(rank, bytes_mut(&mut data));
                data
            };
            for (j, data) in columns.clone().zip(data.chunks(rows.len())) {
                rows.iter().zip(data).for_each(|(&i, &x)| to[(i, j)] = x);
            }
        }
    }
}

/// Copies the lower triangle of `from` (n × n) at process `root` to the processes that have its rows.
pub(super) fn scatter_l<T: Real>(
    net: &impl Network,
    cyclic: Cyclic,
    root: usize,
    from: MatRef<'_, T>,
) -> LocalRows<T> {
    let mut l = LocalRows::zeros(cyclic);
    for block in 0..cyclic.blocks() {
        let (columns, (_, mut mine)) = (cyclic.rows_of(block), l.column_mut(block));
        let mut data = vec![T::ZERO; mine.nrows() * columns.len()];
        if cyclic.rank != root {
            if !data.is_empty() {
                net.receive(root, bytes_mut(&mut data));
            }
        } else {
            for rank in 0..cyclic.ranks {
                let rows: Vec<_> = rows_from(&cyclic, rank, block).collect();
                let entries = columns.clone().flat_map(|j| rows.iter().map(move |&i| (i, j)));
                let mut theirs: Vec<T> =
                    entries.map(|(i, j)| if i >= j { from[(i, j)] } else { T::ZERO }).collect();
                if rank == root {
                    data = theirs;
                } else if !theirs.is_empty() {
                    send(net, rank, &mut theirs);
                }
            }
        }
        let rows = mine.nrows();
        mine.copy_from(MatRef::from_column_major_slice(&data, rows, columns.len()));
    }
    l
}

/// Copies the rows of all processes to a whole matrix on each of them. (local rows × m, n × m)
pub(super) fn gather_rows<T: Real>(
    net: &impl Network,
    cyclic: &Cyclic,
    mine: MatRef<'_, T>,
    mut to: MatMut<'_, T>,
) {
    for root in 0..cyclic.ranks {
        let rows = cyclic.of(root).rows();
        if rows == 0 || to.ncols() == 0 {
            continue;
        }
        let mut data = if root == cyclic.rank { packed(mine) } else { vec![T::ZERO; rows * to.ncols()] };
        net.broadcast(root, bytes_mut(&mut data));
        for (j, data) in data.chunks(rows).enumerate() {
            data.iter().enumerate().for_each(|(place, &x)| to[(cyclic.of(root).row(place), j)] = x);
        }
    }
}
