import { createWriteStream, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'

// 20 fields with `id` and the three derived ones.
const TEXTS = Array.from({ length: 8 }, (_, index) => `text_${index}`)
const NUMBERS = Array.from({ length: 4 }, (_, index) => `number_${index}`)
export const DERIVED = ['label_a', 'label_b', 'label_c']

function property(name: string, logicalType: string): string {
  return `      - {name: ${name}, logicalType: ${logicalType}}`
}

const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: bench
version: 1.0.0
status: active
schema:
  - name: bench
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
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

/** A record of the bench sheet, without its derived fields; the same number makes the same record. */
export function benchRecord(number: number): Record<string, unknown> {
  const id = `r${String(number).padStart(8, '0')}`
  return {
    id,
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

export interface BenchSheetOptions {
  readonly records: number
  /** Base address of the API that the derivations call; without it the sheet has no derivations. */
  readonly api?: string
}

/** Makes an empty directory, which goes with the bench sheets. */
export function makeBenchDirectory(name: string): string {
  const directory = join(tmpdir(), `colophon-bench-${process.pid}`, name)
  if (existsSync(directory)) rmSync(directory, { recursive: true })
  mkdirSync(directory, { recursive: true })
  return directory
}

/** Makes the directory of a bench sheet, without a store. The caller removes it. */
export async function makeBenchSheet(name: string, { records, api }: BenchSheetOptions): Promise<string> {
  const directory = makeBenchDirectory(name)
  mkdirSync(join(directory, 'derivations'), { recursive: true })
  writeFileSync(join(directory, 'contract.yaml'), CONTRACT)
  if (api !== undefined) {
    DERIVED.forEach((target, index) =>
      writeFileSync(
        join(directory, 'derivations', `${target}.yaml`),
        `targets: [${target}]\ninputs: [id]\nkind: http\nurl: ${api}/${index}/{{ id }}\nresponse_path: label\n`,
      ),
    )
  }
  const out = createWriteStream(join(directory, 'records.jsonl'))
  for (let number = 1; number <= records; number += 1) {
    if (!out.write(`${JSON.stringify(benchRecord(number))}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return directory
}

/** Removes every bench sheet of this process. */
export function removeBenchSheets(): void {
  rmSync(join(tmpdir(), `colophon-bench-${process.pid}`), { recursive: true, force: true })
}
