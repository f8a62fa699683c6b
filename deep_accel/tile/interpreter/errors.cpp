// The destructors stand in a file of their own, which is compiled with RTTI: whoever catches these needs their type
// descriptors, and those are emitted where the first virtual function is.
#include "deep_accel/tile/interpreter/interpreter.h"

namespace deep_accel::tile {

StepLimitError::~StepLimitError() = default;
AssumptionError::~AssumptionError() = default;
AssertionError::~AssertionError() = default;

}  // namespace deep_accel::tile
