import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isJsonObject, type JsonObject } from '../../src/contract/json/json.ts'
import { folioHashOf, type FolioFiles } from '../../src/files/folio/folio-hash.ts'
import { parseFolioYaml } from '../../src/files/folio/folio-yaml.ts'
import { FolioSource } from '../../src/sheet/folio/folio-source.ts'

const SHEETS = join(import.meta.dirname, 'sheets')

/** The primary keys that are not called id. */
const KEYS: Readonly<Record<string, string>> = { onboarding: 'employee_no' }

function linesOf(path: string): JsonObject[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
}

interface Golden {
  readonly kind: string
  readonly cell: string
  readonly computed: string | null
  readonly recorded: unknown
}

/** The hashes in the logs of the sheets, which folio-kit 0.1.8 computed, beside those that are computed here. */
function goldens(): Golden[] {
  return readdirSync(SHEETS).flatMap((name) => {
    const source = new FolioSource(join(SHEETS, name))
    const key = KEYS[name] ?? 'id'
    const records = new Map(
      linesOf(join(SHEETS, name, 'records.jsonl')).map((record) => [record[key], record]),
    )
    const hashes = source.derivations().flatMap((file) => {
      const bytes = source.read(`derivations/${file}`) ?? assert.fail(file)
      const { value } = parseFolioYaml(bytes, file)
      assert.ok(isJsonObject(value))
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const hash = folioHashOf({ keys: value, sha256 }, source, key)
      return (value['targets'] as readonly string[]).map(
        (target) => [target, { kind: String(value['kind']), hash }] as const,
      )
    })
    const byTarget = new Map(hashes)
    const log =
      source.read('provenance.jsonl') === null ? [] : linesOf(join(SHEETS, name, 'provenance.jsonl'))
    return log.map(({ record_id: id, field, input_hash: recorded }) => {
      const { kind, hash } = byTarget.get(String(field)) ?? assert.fail(String(field))
      const record = records.get(id ?? null) ?? assert.fail(String(id))
      return {
        kind,
        cell: `${name} ${String(id)} ${String(field)}`,
        computed: hash?.(record) ?? null,
        recorded,
      }
    })
  })
}

test('input hashes are those that folio computed', () => {
  const computed = goldens().filter(({ kind }) => kind !== 'sql')
  for (const { cell, computed: hash, recorded } of computed) assert.equal(hash, recorded, cell)
  const counts = Map.groupBy(computed, ({ kind }) => kind)
  assert.deepEqual(Object.fromEntries([...counts].map(([kind, each]) => [kind, each.length])), {
    python: 60,
    cross_sheet: 3,
    http: 3,
    ai: 3,
    import: 4,
  })
})

test('the hash of a sql cell, which covers all records before its run, is not computed', () => {
  assert.ok(goldens().every(({ kind, computed }) => kind !== 'sql' || computed === null))
})

const NO_FILES: FolioFiles = { read: () => null, foreignRecords: () => null }
const SHA = 'a'.repeat(64)

/** Hashes that folio-kit 0.1.8 computed for the same parts. */
const PARTS: readonly (readonly [
  keys: JsonObject,
  record: JsonObject,
  files: Partial<FolioFiles>,
  hash: string,
])[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'hash-parts.json'), 'utf8'),
  (_, value: unknown) => value,
) as never

test('absent keys, absent files and all types of values are hashed as by folio', () => {
  assert.ok(PARTS.length >= 8)
  for (const [keys, record, files, hash] of PARTS) {
    const contents = files as unknown as Readonly<Record<string, string>>
    const read = (path: string): Uint8Array | null =>
      contents[path] === undefined ? null : Buffer.from(contents[path])
    const computed = folioHashOf(
      { keys, sha256: SHA },
      { ...NO_FILES, read, foreignRecords: read },
      'key',
    )?.(record)
    assert.equal(computed, hash, JSON.stringify(keys))
  }
})
