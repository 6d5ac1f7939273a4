import { once } from 'node:events'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchId } from './bench-sheet.ts'

const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: narrow
version: 1.0.0
status: active
schema:
  - name: narrow
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: name, logicalType: string}
      - {name: amount, logicalType: number}
      - {name: count, logicalType: integer, x-indexed: true}
      - {name: day, logicalType: date}
`

/** Returns a record of a sheet of five fields; the same number makes the same record. */
export function narrowRecord(number: number): Record<string, unknown> {
  return {
    id: benchId(number),
    name: `name ${(number * 31) % 99_991}`,
    amount: ((number * 17) % 100_000) / 8,
    count: (number * 7919) % 10_000_019,
    day: `2026-${String((number % 12) + 1).padStart(2, '0')}-${String((number % 28) + 1).padStart(2, '0')}`,
  }
}

/** Fills a directory with such a sheet. */
export async function writeNarrowSheet(directory: string, records: number): Promise<void> {
  writeFileSync(join(directory, 'contract.yaml'), CONTRACT)
  const out = createWriteStream(join(directory, 'records.jsonl'))
  for (let number = 1; number <= records; number += 1) {
    if (!out.write(`${JSON.stringify(narrowRecord(number))}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}
