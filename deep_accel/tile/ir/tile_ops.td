// The whole dialect, for TableGen.
include "tile_base.td"
include "structure_ops.td"
include "move_ops.td"
include "compute_ops.td"
include "thread_ops.td"
include "check_ops.td"
