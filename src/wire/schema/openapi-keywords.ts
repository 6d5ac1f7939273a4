/** Keywords that the OpenAPI document has of a schema beside, or instead of, its own; an undefined one is left out there. */
export const IN_DOCUMENT: unique symbol = Symbol('in document')

/** What of a sheet serves as an example of a value. */
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
 * Options of a schema for what the OpenAPI document says and the validation of shapes does not: what the text of a query
 * parameter stands for, and rules that a use case checks with a message of its own. Under a symbol, so that nothing but the
 * document sees them.
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
