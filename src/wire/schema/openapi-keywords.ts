/** The key of keywords that replace those of a schema in the OpenAPI document; `undefined` removes one. */
export const IN_DOCUMENT: unique symbol = Symbol('in document')

/** The part of a sheet from which an example is taken. */
export type ExampleOf =
  | 'recordId'
  | 'recordIds'
  | 'records'
  | 'field'
  | 'fields'
  | 'target'
  | 'targets'
  | 'sort'
  | 'filter'
  | 'where'
  | 'statement'

interface InDocument {
  readonly exampleOf?: ExampleOf
  readonly [keyword: string]: unknown
}

/**
 * Sets keywords for the OpenAPI document that shape validation ignores: the meaning of the text of a query parameter, and
 * rules that an operation checks itself. The key is a symbol, so that validators do not see them.
 */
export function inDocument(keywords: InDocument): { readonly [IN_DOCUMENT]: InDocument } {
  return { [IN_DOCUMENT]: keywords }
}

/** Text without control characters, in patterns. */
export const NO_CONTROLS = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`
/** Text that can be stored (D13). */
export const STORABLE = String.raw`^[^\u0000]*$`
/** Text that is not blank. */
export const NOT_BLANK = String.raw`\S`
