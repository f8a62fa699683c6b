#include "deep_accel/tile/ir/dialect.h"
