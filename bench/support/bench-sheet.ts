import { createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'

// 20 fields with `id`, `code` and the three derived ones.
const TEXTS = Array.from({ length: 7 }, (_, index) => `text_${index}`)
const NUMBERS = Array.from({ length: 4 }, (_, index) => `number_${index}`)
export const DERIVED = ['label_a', 'label_b', 'label_c']

/** A prime: codes are scattered over the numbers below it, and are distinct for as many records. */
export const CODES = 10_000_019
const STEP = 7919

/** The number of fields of a sheet: those of this file, or those of `orders.ts`. */
export type FieldCount = 20 | 9

export interface BenchSheetOptions {
  readonly records: number
  /** Default: 20. A sheet of 9 has its own indexes and no derived fields. */
  readonly fields?: FieldCount
  /** Whether `code` has an index, and with it a check that it is unique. */
  readonly indexed?: boolean
  /** A derivation for each derived field, with a call for each record, or one with few calls for all three. */
  readonly derivations?: 'each' | 'together'
}

/** Returns the text of the contract. */
function contractText(indexed: boolean): string {
  return `apiVersion: v3.1.0
kind: DataContract
id: bench
version: 1.0.0
status: active
schema:
  - name: bench
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: code, logicalType: string${indexed ? ', unique: true' : ''}}
${[
  ...TEXTS.map((name) => property(name, 'string')),
  ...NUMBERS.map((name) => property(name, 'number')),
  property('count', 'integer'),
  property('active', 'boolean'),
  property('day', 'date'),
  property('tags', 'array'),
  ...DERIVED.map((name) => property(name, 'string')),
].join('\n')}
`
}

function property(name: string, logicalType: string): string {
  return `      - {name: ${name}, logicalType: ${logicalType}}`
}

/** Returns the id of the record with this number, counted from 1. */
export function benchId(number: number): string {
  return `r${String(number).padStart(8, '0')}`
}

/** Returns a code as in records, for a number from 0 to below {@link CODES}. */
export function benchCode(place: number): string {
  return `c${String(place).padStart(8, '0')}`
}

/** Returns a record of the bench sheet, without its derived fields; the same number makes the same record. */
export function benchRecord(number: number): Record<string, unknown> {
  return {
    id: benchId(number),
    code: benchCode((number * STEP) % CODES),
    ...Object.fromEntries(
      TEXTS.map((name, index) => [name, `value ${(number * 31 + index * 7) % 99991} of ${name}`]),
    ),
    ...Object.fromEntries(NUMBERS.map((name, index) => [name, ((number * 17 + index) % 100_000) / 8])),
    count: number,
    active: number % 3 === 0,
    day: `2026-${String((number % 12) + 1).padStart(2, '0')}-${String((number % 28) + 1).padStart(2, '0')}`,
    tags: [`t${number % 10}`, `t${number % 7}`],
  }
}

/** Returns a record with all 20 fields, the derived ones null. */
export function wholeRecord(number: number): Record<string, unknown> {
  return { ...benchRecord(number), ...Object.fromEntries(DERIVED.map((name) => [name, null])) }
}

/** Returns the record of this number with other values in all fields except `id` and `code`, which differ in each round. */
export function changedRecord(number: number, round: number): Record<string, unknown> {
  const { id, code } = benchRecord(number)
  return { ...benchRecord(number + (round + 1) * 1_000_003), id, code }
}

/** Writes contract and derivations into a directory. `api` is the base address of the API that these call. */
export function writeDefinitions(directory: string, options: Partial<BenchSheetOptions>, api: string): void {
  writeFileSync(join(directory, 'contract.yaml'), contractText(options.indexed === true))
  const folder = join(directory, 'derivations')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  if (options.derivations === 'each') {
    DERIVED.forEach((target, index) =>
      writeFileSync(
        join(folder, `${target}.yaml`),
        `targets: [${target}]\ninputs: [id]\nkind: http\nurl: ${api}/${index}/{{ id }}\nresponse_path: label\n`,
      ),
    )
  } else if (options.derivations === 'together') {
    // As few calls as there are days, so that a million computed cells do not take minutes.
    const paths = DERIVED.map((target) => `${target}: label`).join(', ')
    writeFileSync(
      join(folder, 'labels.yaml'),
      `targets: [${DERIVED.join(', ')}]\ninputs: [day]\nkind: http\nurl: ${api}/days/{{ day }}\nresponse_schema: {${paths}}\n`,
    )
  }
}

/** Writes records 1 to `records` into a file, one to a line. */
export async function writeRecords(
  path: string,
  records: number,
  recordOf: (number: number) => object,
): Promise<void> {
  const out = createWriteStream(path)
  for (let number = 1; number <= records; number += 1) {
    if (!out.write(`${JSON.stringify(recordOf(number))}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}
