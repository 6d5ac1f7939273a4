import { InvalidArgumentError, Option } from 'commander'
import { commaList } from '../../wire/schema/comma-list.ts'
import type { CellFilterState, Condition } from '../../wire/schema/conditions.ts'

/** Returns the option `--fields`. */
export function fieldsOption(): Option {
  return new Option('--fields <names>', 'only these fields, separated by commas').argParser(parseList)
}

/** Returns the option `--as-of`. */
export function asOfOption(): Option {
  return new Option(
    '--as-of <moment>',
    'show the sheet as it was: a seq of the provenance log, or a time such as 2024-03-10T14:22:35Z',
  )
}

/** Parses items separated by commas, without repeats. Throws InvalidArgumentError when there are none. */
export function parseList(text: string): readonly string[] {
  const items = commaList(text)
  if (items === null) throw new InvalidArgumentError('Give at least one, separated by commas.')
  return items
}

/** Returns the option `--filter`. */
export function filterOption(): Option {
  return new Option('--filter <condition>', 'only records that match this condition, in SQL over the fields')
}

/** The options that select records by conditions as data. */
export interface ConditionFlags {
  readonly where?: string
  readonly state?: readonly string[]
  readonly by?: readonly string[]
  readonly byRun?: readonly string[]
}

/** Returns the options `--where`, `--state`, `--by` and `--by-run`. */
export function conditionOptions(): readonly Option[] {
  return [
    new Option(
      '--where <condition>',
      'only records that match this condition, as the JSON of GET /api/records',
    ),
    new Option(
      '--state <states>',
      'only records with a derived cell in one of these states, separated by commas: fresh, stale, missing, failed, overridden, blocked',
    ).argParser(parseList),
    new Option(
      '--by <actors>',
      'only records with a present value that one of these actors has written, separated by commas: names, or patterns such as agent:*',
    ).argParser(parseList),
    new Option(
      '--by-run <ids>',
      'only records with a present value that one of these runs has written, separated by commas',
    ).argParser(parseList),
  ]
}

/** Returns the JSON text of the conditions of {@link conditionOptions}, all of which must hold; null for none. */
export function conditionOf({ where, state, by, byRun }: ConditionFlags): string | null {
  const ofCells: readonly (Condition | undefined)[] = [
    // The names are validated when the condition is read.
    state && { state: state as readonly CellFilterState[] },
    by && { by },
    byRun && { by_run: byRun },
  ]
  const all = [where, ...ofCells.map((condition) => condition && JSON.stringify(condition))]
  const [first, ...others] = all.filter((text) => text !== undefined)
  if (first === undefined) return null
  return others.length === 0 ? first : `{"and":[${[first, ...others].join(',')}]}`
}

/** The value of a placeholder. */
export type ParamValue = string | number | boolean | null

/** Returns the option `--param`, for the `?` of a filter or statement. */
export function paramOption(of: 'condition' | 'statement'): Option {
  return new Option(
    '--param <value>',
    `value of the next ? in the ${of}, JSON (1.5, true, null) or else text; may be repeated`,
  )
    .argParser((text, earlier: readonly ParamValue[]) => [...earlier, parseParam(text)])
    .default([], 'none')
}

/** Parses a value: `1` is a number and `abc` a text; a text that looks like JSON is written `'"1"'`. */
function parseParam(text: string): ParamValue {
  try {
    const value: unknown = JSON.parse(text)
    // An integer that a number would round stays text, which the databases compare with numbers.
    const isExact = typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
    if (value === null || typeof value === 'boolean' || typeof value === 'string' || isExact) return value
  } catch {
    // Not JSON.
  }
  return text
}

/** Returns the option `--cursor`. */
export function cursorOption(): Option {
  return new Option('--cursor <cursor>', 'continue after a page, with the cursor that it ended with')
}

/** Returns the option `--sort`. */
export function sortOption(): Option {
  return new Option(
    '--sort <names>',
    'fields to sort by, separated by commas; a minus before one sorts it descending',
  ).argParser(parseList)
}
