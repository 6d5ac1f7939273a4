import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

const FIELDS: Readonly<Record<string, string>> = {
  name: 'string',
  city: 'string',
  amount: 'number',
  rank: 'integer',
  active: 'boolean',
  day: 'date',
  seen: 'timestamp',
  tags: 'array',
  note: 'string',
  grade: 'string',
  label: 'string',
}
const DERIVED = ['grade', 'label']
export const CITIES = ['Aarhus', 'Bern', 'Cork', 'Delft', 'Essen', 'Faro', 'Graz', 'Hull']
const FIRST = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gina', 'Hugo', 'Ida', 'Jan', 'Kim']
const LAST = ['Abel', 'Berg', 'Carr', 'Dahl', 'Ekman', 'Falk', 'Gray', 'Holm', 'Ivers', 'Jung', 'Kern']
const DAY_MS = 86_400_000
const BEGIN = Date.UTC(2020, 0, 1)

/** A prime, so that it has no divisor in common with counts of tests, and each rank occurs once. */
const STRIDE = 7_919
const LINES_AT_ONCE = 5_000

export interface LargeRecord {
  readonly id: string
  readonly name: string
  readonly city: string
  readonly amount: number
  readonly rank: number
  readonly active: boolean
  readonly day: string
  readonly seen: string
  readonly tags: readonly string[]
  readonly note: string | null
  readonly grade: string
}

/** Returns the record at a position, from 0 in creation order, of `count`. `label` is derived and never computed. */
export function largeRecord(place: number, count: number): LargeRecord {
  return {
    id: `r${String(place).padStart(7, '0')}`,
    name: `${FIRST[place % 11]} ${LAST[Math.floor(place / 11) % 11]} ${place}`,
    city: CITIES[(place * 5) % CITIES.length] ?? '',
    amount: ((place * 37) % 100_003) / 4,
    rank: rankOf(place, count),
    active: place % 3 === 0,
    day: new Date(BEGIN + (place % 2000) * DAY_MS).toISOString().slice(0, 10),
    seen: new Date(BEGIN + place * 61_000).toISOString(),
    tags: [`t${place % 10}`, `u${place % 7}`],
    note: place % 4 === 0 ? null : `note ${place % 1000}`,
    grade: `grade ${place % 5}`,
  }
}

/** Returns the rank, from 0, of the record at a position; no two have the same. */
export function rankOf(place: number, count: number): number {
  return (place * STRIDE) % count
}

/** Returns the position of the record with a rank. */
export function placeOfRank(rank: number, count: number): number {
  return Number((BigInt(rank) * BigInt(inverseOf(STRIDE, count))) % BigInt(count))
}

/** Returns the modular inverse. */
function inverseOf(value: number, modulus: number): number {
  let [a, b, x, y] = [value % modulus, modulus, 1, 0]
  while (a > 1) {
    const quotient = Math.floor(a / b)
    ;[a, b] = [b, a % b]
    ;[x, y] = [y, x - quotient * y]
  }
  return x < 0 ? x + modulus : x
}

/** Makes a sheet of 12 fields, two of them derived, with this many records; it is removed when the test ends. */
export async function largeSheet(t: TestContext, count: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-large-'))
  onEnd(t, () => rmSync(directory, { recursive: true, force: true }))
  writeLargeSheet(directory, count)
  return directory
}

/** Writes the sources of that sheet into a directory. */
export function writeLargeSheet(directory: string, count: number): void {
  writeFileSync(join(directory, 'contract.yaml'), CONTRACT)
  mkdirSync(join(directory, 'derivations'))
  for (const target of DERIVED) {
    writeFileSync(
      join(directory, 'derivations', `${target}.yaml`),
      `targets: [${target}]\ninputs: [city]\nkind: http\nurl: http://127.0.0.1:9/${target}/{{ city }}\nresponse_path: text\n`,
    )
  }
  const file = openSync(join(directory, 'records.jsonl'), 'w')
  for (let from = 0; from < count; from += LINES_AT_ONCE) {
    const length = Math.min(LINES_AT_ONCE, count - from)
    const lines = Array.from({ length }, (_, index) => JSON.stringify(largeRecord(from + index, count)))
    writeSync(file, `${lines.join('\n')}\n`)
  }
  closeSync(file)
}

const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: large
version: 1.0.0
status: active
schema:
  - name: Large
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
${Object.entries(FIELDS)
  .map(([name, type]) => `      - {name: ${name}, logicalType: ${type}}`)
  .join('\n')}
`
