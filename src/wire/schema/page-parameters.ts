import { Type, type TString } from 'typebox'
import { inDocument, NOT_BLANK, type ExampleOf } from './openapi-keywords.ts'
import { FieldName, SortKey, TargetName } from './names.ts'

/** The pattern of a parameter that is a whole number; operations check its range. */
export const WHOLE_NUMBER = '^-?[0-9]+$'

/** The parameter `limit` of a list. */
export const limitParameter = Type.String({
  pattern: WHOLE_NUMBER,
  title: 'a whole number',
  description: 'Items on a page (default: 50, maximum: 10000).',
  ...inDocument({ minimum: 1 }),
})

/** The parameter `position` of a list. */
export const positionParameter = Type.String({
  pattern: WHOLE_NUMBER,
  title: 'a whole number',
  description: 'The number of records before the page.',
  ...inDocument({ minimum: 0 }),
})

/** The parameter `sort` of a list of records. */
export const sortParameter = Type.String({
  description:
    'Comma-separated field names, with a leading minus for descending order; creation order when absent.',
  ...commaSeparated({ items: SortKey, maxItems: 8, exampleOf: 'sort' }),
})

/** The parameter `cursor` of a list. */
export function cursorParameter(description: string): TString {
  return Type.String({ description, ...inDocument({ minLength: 1 }) })
}

/** A parameter that is a list of field names. */
export function fieldsParameter(description: string): TString {
  return Type.String({ description, ...commaSeparated({ items: FieldName, exampleOf: 'fields' }) })
}

/** A parameter that is a list of derived fields. */
export function targetsParameter(): TString {
  return Type.String({
    description: 'Comma-separated target fields; all when absent.',
    ...commaSeparated({ items: TargetName, exampleOf: 'targets' }),
  })
}

/** A parameter that is a list of record ids. */
export function idsParameter(description: string, bounds: { readonly maxItems?: number } = {}): TString {
  const items = Type.String({ pattern: NOT_BLANK })
  return Type.String({
    description,
    ...commaSeparated({ items, minItems: 1, ...bounds, exampleOf: 'recordIds' }),
  })
}

/** A parameter that is `true` or `false`. */
export function flagParameter(description: string): TString {
  return Type.String({
    pattern: '^(true|false)?$',
    title: 'true or false',
    description,
    ...inDocument({ type: 'boolean', pattern: undefined, allowEmptyValue: true }),
  })
}

interface ListKeywords {
  readonly items: unknown
  readonly minItems?: number
  readonly maxItems?: number
  readonly exampleOf: ExampleOf
}

/** Keywords for a comma-separated list in the OpenAPI document. */
function commaSeparated(list: ListKeywords): ReturnType<typeof inDocument> {
  return inDocument({
    ...list,
    type: 'array',
    ...(list.minItems === undefined ? { allowEmptyValue: true } : {}),
  })
}

/** Parses a whole number; larger numbers become the greatest safe integer, since Infinity is no integer. */
export function wholeNumber(text: string | undefined): number | null {
  return text === undefined ? null : Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}
