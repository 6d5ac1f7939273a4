import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

const TYPES = ['string', 'integer', 'number', 'boolean', 'date', 'array'] as const

/** Returns the value of a record, counted from 0, in a column from 1 on; the first column is its id. */
export function wideValue(record: number, column: number): unknown {
  const type = TYPES[column % TYPES.length]
  switch (type) {
    case 'integer':
      return (record * column) % 1000
    case 'number':
      return ((record * column) % 1000) / 8
    case 'boolean':
      return (record + column) % 3 === 0
    case 'date':
      return `2026-0${(record % 9) + 1}-1${column % 10}`
    case 'array':
      return [`a${record % 5}`, `b${column % 5}`]
    default:
      return `text ${record} ${column}`
  }
}

/** Makes a sheet with this many columns, `id`, `f1`, `f2` and so on; it is removed when the test ends. */
export async function wideSheet(t: TestContext, size: WideSize): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-wide-'))
  onEnd(t, () => rmSync(directory, { recursive: true, force: true }))
  writeWideSheet(directory, size)
  return directory
}

export interface WideSize {
  readonly columns: number
  readonly records: number
}

/** Writes the sources of that sheet into a directory. */
export function writeWideSheet(directory: string, { columns, records }: WideSize): void {
  writeFileSync(join(directory, 'contract.yaml'), contractOf(columns))
  writeFileSync(
    join(directory, 'records.jsonl'),
    Array.from({ length: records }, (_, record) => `${JSON.stringify(recordOf(record, columns))}\n`).join(''),
  )
}

function recordOf(record: number, columns: number): Record<string, unknown> {
  const values = Array.from({ length: columns - 1 }, (_, index) => [
    `f${index + 1}`,
    wideValue(record, index + 1),
  ])
  return { id: `w${record}`, ...Object.fromEntries(values) }
}

function contractOf(columns: number): string {
  const properties = Array.from(
    { length: columns - 1 },
    (_, index) => `      - {name: f${index + 1}, logicalType: ${TYPES[(index + 1) % TYPES.length]}}`,
  )
  return `apiVersion: v3.1.0
kind: DataContract
id: wide
version: 1.0.0
status: active
schema:
  - name: Wide
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
${properties.join('\n')}
`
}
