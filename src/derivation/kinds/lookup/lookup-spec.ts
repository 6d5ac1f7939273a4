import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import type { ParseContext } from '../../definition/derivation-kind.ts'
import type { TableColumns } from './table.ts'

/** The effect of a key that no row has. */
export const WHEN_MISSING = ['skip', 'null', 'fail'] as const
export type WhenMissing = (typeof WHEN_MISSING)[number]

/** The keys of a file of a look-up. */
export interface LookupKeys {
  /** The path of the file or sheet with the table. */
  readonly source: string
  readonly columns: TableColumns
  readonly whenMissing: WhenMissing
}

const KEYS = ['key_field', 'match', 'value_field', 'value_fields', 'when_missing']

interface LookupContext extends ParseContext {
  readonly place: { readonly kind: string; readonly key: string }
}

/** Reads the keys of a file of a look-up. Throws ContractError. */
export function parseLookup(
  file: JsonObject,
  targets: readonly string[],
  context: LookupContext,
): LookupKeys {
  const { kind, key: sourceKey } = context.place
  const known = [sourceKey, ...KEYS]
  const unknown = Object.keys(file).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    context.fail(
      [unknown],
      `unknown key "${unknown}"; kind ${kind} has ${known.join(', ')}${didYouMean(unknown, known)}`,
    )
  }
  const match = textOf('match', file, context) ?? 'id'
  if (!context.contract.fieldByName.has(match)) {
    const hint = didYouMean(match, context.contract.fieldByName.keys())
    context.fail(['match'], `match names ${showValue(match)}, which is no field of the contract${hint}`)
  }
  return {
    source: required(sourceKey, file, context),
    columns: { key: required('key_field', file, context), match, values: valuesOf(file, targets, context) },
    whenMissing: whenMissingOf(file['when_missing'] ?? 'skip', context),
  }
}

function valuesOf(
  file: JsonObject,
  targets: readonly string[],
  context: ParseContext,
): TableColumns['values'] {
  const one = textOf('value_field', file, context)
  const several = file['value_fields'] ?? null
  if ((one === null) === (several === null)) {
    context.fail(
      [],
      'give either value_field, the column of the only target, or value_fields, a column for each',
    )
  }
  const [target = '', ...others] = targets
  if (one !== null) {
    if (others.length > 0) context.fail(['value_field'], 'value_field is for one target; use value_fields')
    return { [target]: one }
  }
  const fields = isJsonObject(several) ? several : {}
  const names = Object.keys(fields)
  if (names.length !== targets.length || !targets.every((name) => Object.hasOwn(fields, name))) {
    context.fail(['value_fields'], `the keys of value_fields are the targets: ${targets.join(', ')}`)
  }
  return Object.fromEntries(
    names.map((name) => {
      const column = fields[name]
      if (typeof column === 'string' && column !== '') return [name, column]
      return context.fail(['value_fields', name], `${name} is ${showValue(column ?? null)}; write a column`)
    }),
  )
}

function whenMissingOf(value: JsonValue, context: ParseContext): WhenMissing {
  const known = WHEN_MISSING.find((name) => name === value)
  return (
    known ??
    context.fail(['when_missing'], `when_missing is ${showValue(value)}; write ${WHEN_MISSING.join(', ')}`)
  )
}

function required(key: string, file: JsonObject, context: ParseContext): string {
  return textOf(key, file, context) ?? context.fail([], `${key} is missing`)
}

function textOf(key: string, file: JsonObject, context: ParseContext): string | null {
  const value = Object.hasOwn(file, key) ? (file[key] ?? null) : null
  if (value === null) return null
  if (typeof value === 'string' && value !== '') return value
  return context.fail([key], `${key} is ${showValue(value)}; write a text`)
}
