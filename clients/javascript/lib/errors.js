// The errors of this package. All are a FilterError.
'use strict'

class FilterError extends Error {
  constructor(message) {
    super(message)
    this.name = this.constructor.name
  }
}

// The bytes are no filter, or a damaged one: the server refuses them, too.
class DamagedError extends FilterError {}

// The server can answer this, but this package cannot.
class UnsupportedError extends FilterError {}

// The filter holds values of another type, or this package knows no values of the type.
class ElementTypeError extends FilterError {}

module.exports = { FilterError, DamagedError, UnsupportedError, ElementTypeError }
