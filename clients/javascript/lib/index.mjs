import lib from './index.js'

export const { read, Filter, FilterError, DamagedError, UnsupportedError, ElementTypeError } = lib
export default lib
