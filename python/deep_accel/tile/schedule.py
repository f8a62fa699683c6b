"""Which tiles of an output a block works on, where a few blocks share many tiles."""

from . import scalars
from .allocate import alloc_var

__all__ = ["BaseTileScheduler", "PersistentTileScheduler"]


class BaseTileScheduler:
    """Goes over tiles: ``s.init(block)``, then ``while s.valid(): ...; s.next_tile(step)``.

    The tile is at ``s.m_idx[0], s.n_idx[0]``; it is number ``s.current_iter[0]`` of this block. Subclasses say in
    `update_current_idx` where tile `linear_idx` is, and set `_total_tiles`.
    """

    def __init__(self, prefix="", stateful=True):
        if stateful:
            self.m_idx, self.n_idx = alloc_var("int32", 0), alloc_var("int32", 0)
            self.linear_idx, self.current_iter = alloc_var("int32", 0), alloc_var("int32", 0)
        self._total_tiles = 0

    def update_current_idx(self, linear_idx):
        raise NotImplementedError(f"{type(self).__name__} must say in update_current_idx where a tile is")

    def init(self, linear_init):
        self.current_iter[0] = 0
        self.linear_idx[0] = linear_init
        self.update_current_idx(self.linear_idx[0])

    def next_tile(self, step):
        self.current_iter[0] = self.current_iter[0] + 1
        self.linear_idx[0] = self.linear_idx[0] + step
        self.update_current_idx(self.linear_idx[0])

    def valid(self):
        return self.linear_idx[0] < self._total_tiles


class PersistentTileScheduler(BaseTileScheduler):
    """Tiles block, block + num_workers, block + 2 num_workers, ... of a grid of num_m_tiles x num_n_tiles.

    They are counted down the columns (or along the rows), in panels of `swizzle_size` columns (rows) for the caches'
    sake. With cluster_size > 1, m_idx counts groups of so many rows. `coord` says where a tile is, without state.
    """

    def __init__(
        self,
        prefix,
        num_m_tiles,
        num_n_tiles,
        num_workers,
        swizzle_size=1,
        column_major=True,
        cluster_size=1,
        stateful=True,
    ):
        super().__init__(prefix, stateful)
        self.num_workers, self.swizzle_size, self.cluster_size = num_workers, swizzle_size, cluster_size
        rows = scalars.MATH["ceildiv"](num_m_tiles, cluster_size)
        self._total_tiles = rows * num_n_tiles
        self._column_major = column_major
        # A panel has the whole length, and some of the breadth, of the grid.
        self._length, self._breadth = (rows, num_n_tiles) if column_major else (num_n_tiles, rows)

    def coord(self, tile_id):
        """The row and the column of a tile."""
        panel = tile_id // (self._length * self.swizzle_size)
        first = panel * self.swizzle_size
        within = tile_id - first * self._length
        width = scalars.MATH["max"](1, scalars.MATH["min"](self.swizzle_size, self._breadth - first))
        along, across = within // width, first + within % width
        return (along, across) if self._column_major else (across, along)

    def update_current_idx(self, linear_idx):
        self.m_idx[0], self.n_idx[0] = self.coord(linear_idx)

    def next_tile(self, step=None):
        super().next_tile(self.num_workers if step is None else step)
