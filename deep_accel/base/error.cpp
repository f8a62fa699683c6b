// The destructors live here so that each class has one home for its type information, also in code built without RTTI.
#include "deep_accel/base/error.h"

namespace deep_accel {

Error::~Error() = default;
ShapeError::~ShapeError() = default;
TypeError::~TypeError() = default;
ValueError::~ValueError() = default;
UnsupportedError::~UnsupportedError() = default;
IoError::~IoError() = default;
IndexError::~IndexError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;
Interrupted::~Interrupted() = default;

}  // namespace deep_accel
