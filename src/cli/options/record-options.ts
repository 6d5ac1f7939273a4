import { InvalidArgumentError, Option } from 'commander'
import { commaList } from '../../wire/schema/comma-list.ts'

/** `--fields`. */
export function fieldsOption(): Option {
  return new Option('--fields <names>', 'only these fields, with commas between').argParser(parseList)
}

/** `--as-of`. */
export function asOfOption(): Option {
  return new Option(
    '--as-of <moment>',
    'as the sheet was then: a seq of the provenance log, or a time such as 2024-03-10T14:22:35Z',
  )
}

/** Items with commas between, each once. Throws InvalidArgumentError when there is none. */
export function parseList(text: string): readonly string[] {
  const items = commaList(text)
  if (items === null) throw new InvalidArgumentError('Give at least one, with commas between.')
  return items
}

/** `--filter`. */
export function filterOption(): Option {
  return new Option(
    '--filter <condition>',
    'only records for which this condition holds, in SQL over the fields',
  )
}

/** A value of a placeholder. */
export type ParamValue = string | number | boolean | null

/** `--param`, for the `?` of a filter or statement. */
export function paramOption(of: 'condition' | 'statement'): Option {
  return new Option(
    '--param <value>',
    `value of the next ? in the ${of}, JSON (1.5, true, null) or else text; may be repeated`,
  )
    .argParser((text, earlier: readonly ParamValue[]) => [...earlier, parseParam(text)])
    .default([], 'none')
}

/** `1` is a number and `abc` a text; a text that looks like JSON is written `'"1"'`. */
function parseParam(text: string): ParamValue {
  try {
    const value: unknown = JSON.parse(text)
    // An integer that a number would round stays as it is written, which the databases compare with numbers.
    const isExact = typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
    if (value === null || typeof value === 'boolean' || typeof value === 'string' || isExact) return value
  } catch {
    // No JSON.
  }
  return text
}

/** `--cursor`. */
export function cursorOption(): Option {
  return new Option('--cursor <cursor>', 'go on after what was shown, with the cursor that came with it')
}

/** `--sort`. */
export function sortOption(): Option {
  return new Option(
    '--sort <names>',
    'fields to sort by, with commas between; a minus before those from the greatest down',
  ).argParser(parseList)
}
