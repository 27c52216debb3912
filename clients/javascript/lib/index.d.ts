// What a filter is. The names are those of bf_info.
export interface Info {
  readonly type: 'bloomfilter' | 'countingbloomfilter' | 'cuckoofilter'
  /** null for a cuckoofilter, and if links differ. */
  readonly layout: 'lines' | 'pages' | null
  /** null until something was added, unless SQL named it. */
  readonly elementType: string | null
  readonly seed: bigint
  /** null if unknown; for several links, null unless the filter grows. */
  readonly expected: number | null
  /** The same. */
  readonly targetFpr: number | null
  /** null for a cuckoofilter, and if links differ. */
  readonly hashes: number | null
  readonly bits: number
  /** The size of the value in SQL. */
  readonly bytes: number
  readonly links: number
  readonly grows: boolean
}

export type FieldType = 'integer' | 'float' | 'numeric' | 'text' | 'bytea' | 'uuid' | 'boolean' |
  'date' | 'timestamp' | 'timestamptz'
export type Scalar = string | number | bigint | boolean | Uint8Array
export type Value = Scalar | readonly (Scalar | null | undefined)[]

export interface Options {
  /** For a filter of rows: the element types of the fields. Needed if a field can be null. */
  row?: readonly FieldType[]
}

/** A stored filter. */
export class Filter {
  private constructor()
  readonly info: Info
  /** Is the value possibly in the set? false is certain. */
  contains(value: Value): boolean
  /** The answers for many values, in their order. null for null and undefined, as in SQL. */
  containsEach(values: Iterable<Value | null | undefined>): (boolean | null)[]
}

/** Reads what the server gives for filter::bytea, or the filter's text. */
export function read(data: Uint8Array | string, options?: Options): Promise<Filter>

/** The filter or the value cannot be used. */
export class FilterError extends Error {}
/** The bytes are no filter, or a damaged one: the server refuses them, too. */
export class DamagedError extends FilterError {}
/** The server can answer this, but this package cannot. */
export class UnsupportedError extends FilterError {}
/** The filter holds values of another type, or this package knows no values of the type. */
export class ElementTypeError extends FilterError {}
