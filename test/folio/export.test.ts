import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { parseFolioYaml } from '../../src/files/folio/folio-yaml.ts'
import { exportFolioSheet } from '../../src/sheet/folio/export-folio-sheet.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { onEnd } from '../support/on-end.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'
import {
  adopt,
  differencesOf,
  folioContract,
  jsonLines,
  sampleSheets,
  writeFolioSheet,
} from './folio-sheet.ts'

async function linesOf(path: string): Promise<JsonObject[]> {
  if (!existsSync(path)) return []
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
}

/** The members that have a value. */
function present(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
}

/** Values that adoption has changed, as the report of adoption says. */
const CHANGED: Readonly<Record<string, (record: JsonObject) => JsonObject>> = {
  onboarding: (record) =>
    record['welcomed_at'] === undefined ? record : { ...record, welcomed_at: '2026-02-02T09:00:00Z' },
  'product-catalog': (record) => ({
    ...record,
    in_stock: record['in_stock'] === 'true',
    tag_count: Number(record['tag_count']),
  }),
  'research-notes': (record) =>
    record['year'] === undefined ? record : { ...record, year: Number(record['year']) },
}

test('sample sheets come back as they were, apart from what the report of adoption lists', async (t) => {
  const samples = await sampleSheets(t)
  for (const name of ['customers', 'onboarding', 'product-catalog', 'research-memory', 'research-notes']) {
    const from = join(samples, name)
    const { sheet, directory } = await adopt(t, from, `new-${name}`)
    const to = join(samples, `back-${name}`)
    const { differences } = await exportFolioSheet(sheet, to, directory)
    const lost = differences.filter(
      ({ action, file, message }) =>
        action === 'cannot' && !message.startsWith('an import') && file !== 'models.yaml',
    )
    assert.deepEqual(lost, [], name)
    const change = CHANGED[name] ?? ((record: JsonObject) => record)
    assert.deepEqual(
      await linesOf(join(to, 'records.jsonl')),
      (await linesOf(join(from, 'records.jsonl'))).map((record) => change(present(record))),
      name,
    )
    assert.deepEqual(
      await linesOf(join(to, 'provenance.jsonl')),
      await linesOf(join(from, 'provenance.jsonl')),
      name,
    )
    const files = readdirSync(from, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    for (const { parentPath, name: file } of files) {
      const path = join(parentPath, file).slice(from.length + 1)
      if (['contract.yaml', 'records.jsonl', 'provenance.jsonl'].includes(path)) continue
      assert.deepEqual(await readFile(join(to, path)), await readFile(join(from, path)), path)
    }
    assert.deepEqual(
      propertiesOf(await readFile(join(to, 'contract.yaml'))),
      propertiesOf(await readFile(join(from, 'contract.yaml'))),
      name,
    )
    assert.deepEqual(
      readdirSync(to, { recursive: true }).map(String).toSorted(),
      readdirSync(from, { recursive: true }).map(String).toSorted(),
      name,
    )
  }
})

/** The properties of a folio contract, without what adoption gives to derived fields. */
function propertiesOf(bytes: Uint8Array): unknown {
  const { schema } = parseFolioYaml(bytes, 'contract.yaml').value as {
    schema: readonly [{ properties: readonly JsonObject[] }]
  }
  return schema[0].properties.map((property) => {
    const { 'x-inputs': _inputs, 'x-editable-by': editors = null, ...others } = property
    return { ...others, ...(property['x-derived'] === true ? {} : { editors }) }
  })
}

test('names, ids, lists and keys of folio come back, and values that were set aside', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([], {
      owner: { team: 'maps' },
      schema: [
        {
          name: 'parts',
          physicalType: 'jsonl',
          properties: [
            { name: 'Part No', logicalType: 'integer', primaryKey: true, required: true },
            { name: 'unit-price', logicalType: 'integer', required: true },
            { name: 'state', logicalType: 'string', enum: ['new', 'used'], 'x-editable-by': ['human:*'] },
            { name: 'size', logicalType: 'integer', enum: ['1', '2'] },
            { name: 'gone', logicalType: 'string', 'x-derived': true, 'x-inputs': ['state'] },
          ],
        },
      ],
    }),
    'records.jsonl': jsonLines(
      { 'Part No': 7, 'unit-price': 1.5, state: 'repaired', size: 1, gone: 'g', extra: [1] },
      { 'Part No': 'a,b', 'unit-price': 'many' },
    ),
    'derivations/gone.yaml': '# a comment\ntargets: [gone]\nkind: magic\n',
    'transport.yaml': 'not ours',
  })
  const { sheet, directory } = await adopt(t, from)
  const to = join(dirname(from), 'back')
  await exportFolioSheet(sheet, to, directory)
  const contract = parseFolioYaml(await readFile(join(to, 'contract.yaml')), 'contract.yaml').value
  assert.deepEqual(
    contract,
    parseFolioYaml(await readFile(join(from, 'contract.yaml')), 'contract.yaml').value,
  )
  assert.deepEqual(await linesOf(join(to, 'records.jsonl')), await linesOf(join(from, 'records.jsonl')))
  for (const path of ['derivations/gone.yaml', 'transport.yaml']) {
    assert.equal(await readFile(join(to, path), 'utf8'), await readFile(join(from, path), 'utf8'))
  }
})

test('edits are exported: manual values as human_override, computed ones with the hash that folio will compute', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([
      { name: 'k', logicalType: 'string' },
      { name: 'a', logicalType: 'string', 'x-derived': true, 'x-inputs': [] },
    ]),
    'derivations/a.yaml': 'targets: [a]\nkind: import\nsource: refs/t.csv\nkey_field: id\nvalue_field: a\n',
    'refs/t.csv': 'id,a\n1,x\n2,y\n3,z\n',
    'records.jsonl': jsonLines({ id: '1' }, { id: '2' }, { id: '3', a: 'kept' }),
  })
  const { sheet, directory } = await adopt(t, from)
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'human:me' })
  await upsertRecords(sheet, { records: [{ id: '2', k: 'new', a: 'mine' }] }, { actor: 'human:me' })
  const to = join(dirname(from), 'back')
  const report = await exportFolioSheet(sheet, to, directory)
  assert.deepEqual(await linesOf(join(to, 'records.jsonl')), [
    { id: '1', a: 'x' },
    { id: '2', k: 'new', a: 'mine' },
    { id: '3', a: 'kept' },
  ])
  const log = await linesOf(join(to, 'provenance.jsonl'))
  assert.deepEqual(
    log.map(({ record_id: id, source, actor }) => [id, source, actor]),
    [
      ['1', 'import', 'human:me'],
      ['2', 'import', 'human:me'],
      ['2', 'human_override', 'human:me'],
      ['1', 'import', 'human:me'],
      ['3', 'human_override', 'human:me'],
    ],
  )
  // The exported sheet is adopted with the same states.
  const again = await adopt(t, to, 'again')
  assert.deepEqual(again.cells, { fresh: 1, stale: 0, missing: 0, overridden: 2 })
  assert.match(
    differencesOf(report).join('\n'),
    /cannot provenance\.jsonl:\d+ an import, a deletion or a restored record has no place/,
  )
})

test('what folio has no place for is reported, and in the contract under a key of its own', async (t) => {
  const root = await temporaryDirectory(t)
  const directory = join(root, 'own')
  const files: Readonly<Record<string, string>> = {
    'contract.yaml': `apiVersion: v3.1.0
kind: DataContract
id: own
version: 1.0.0
status: active
description: {purpose: Parts.}
schema:
  - name: own
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: at, logicalType: time}
      - {name: code, logicalType: string, unique: true, logicalTypeOptions: {maxLength: 3}}
      - {name: level, logicalType: integer, quality: [{metric: invalidValues, arguments: {validValues: [1, 2]}, mustBe: 0}]}
      - {name: a, logicalType: string}
      - {name: b, logicalType: string}
      - {name: c, logicalType: string}
      - {name: tag, logicalType: string, quality: [{metric: duplicateValues, mustBe: 0}]}
      - {name: word, logicalType: string, quality: [{metric: invalidValues, arguments: {pattern: '^a'}, mustBe: 0}]}
      - {name: size, logicalType: string, quality: [{metric: invalidValues, arguments: {validValues: [s, m]}, mustBe: 0}]}
`,
    'records.jsonl': jsonLines({ id: '1', at: '10:00', code: 'x', level: 1 }),
    'derivations/a.yaml':
      'targets: [a]\ninputs: [code]\nkind: http\nurl: https://h.example/{{ code }}\nresponse_path: $\nskip_blank: false\n',
    'derivations/b.yaml':
      'targets: [b]\ninputs: [code]\nkind: http\nurl: https://h.example/{{ code }}\nresponse_path: b\non_status: {404: null}\n',
    'derivations/c.yaml': 'targets: [c]\ninputs: [code]\nkind: script\nscript: c\n',
    'scripts/c.js': 'console.log(1)\n',
  }
  for (const folder of ['derivations', 'scripts']) await mkdir(join(directory, folder), { recursive: true })
  for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text)
  const sheet = await openSheet(directory, { transport: noCalls(), defaultActor: 'human:me' })
  onEnd(t, () => sheet.close())
  const { differences } = await exportFolioSheet(sheet, join(root, 'folio'), directory)
  const texts = differencesOf({ differences })
  for (const message of [
    /cannot derivations\/b\.yaml:6 the derivation is not exported: folio has no key "on_status" in a file of kind http/,
    /cannot contract\.yaml folio ignores the constraints and keys in x-colophon: of field "code", field "level", field "tag", field "word"/,
    /cannot derivations\/c\.yaml:4 the derivation is not exported: folio runs no script "c\.js", but \.py and \.sh/,
    /cannot contract\.yaml field "level": folio has no list of values of type integer/,
    /adapted contract\.yaml field "at" is of type string/,
    /adapted contract\.yaml field "a": x-editable-by is \[\]/,
    /adapted derivations\/a\.yaml the file is written anew for folio/,
  ]) {
    assert.match(texts.join('\n'), message)
  }
  const contract = parseFolioYaml(await readFile(join(root, 'folio', 'contract.yaml')), 'contract.yaml')
    .value as JsonObject
  assert.equal(contract['description'], 'Parts.')
  assert.deepEqual((contract['x-colophon'] as JsonObject)['properties'], {
    code: { logicalTypeOptions: { maxLength: 3 }, unique: true },
    level: { quality: [{ metric: 'invalidValues', arguments: { validValues: [1, 2] }, mustBe: 0 }] },
    tag: { quality: [{ metric: 'duplicateValues', mustBe: 0 }] },
    word: { quality: [{ metric: 'invalidValues', arguments: { pattern: '^a' }, mustBe: 0 }] },
  })
  assert.equal(
    await readFile(join(root, 'folio', 'derivations', 'a.yaml'), 'utf8'),
    'targets:\n  - a\ninputs:\n  - code\nkind: http\nurl: https://h.example/{{ code }}\n',
  )
  assert.ok(
    !existsSync(join(root, 'folio', 'sheet.db')) && !existsSync(join(root, 'folio', 'derivations', 'b.yaml')),
  )
})

test('fields that were added or described since the adoption lose neither names nor values', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([], {
      schema: [
        {
          name: 'x',
          properties: [
            { name: 'code', logicalType: 'string', primaryKey: true },
            { name: 'num', logicalType: 'integer' },
            { name: 'a', logicalType: 'string', 'x-derived': true, 'x-inputs': ['num'] },
          ],
        },
      ],
    }),
    'derivations/a.yaml':
      'targets: [a]\ninputs: [num]\nkind: import\nsource: refs/t.csv\nkey_field: id\nvalue_field: a\n',
    'refs/t.csv': 'id,a\nP_1,x\n',
    'records.jsonl': jsonLines({ code: 'P,1', num: 'many', a: 'x', extra: 'e', more: 'm' }),
    'provenance.jsonl': jsonLines({
      record_id: 'P,1',
      field: 'a',
      source: 'import',
      actor: 'agent:a',
      at: '2026-01-01T00:00:00Z',
      input_hash: 'sha256:00',
    }),
  })
  const { sheet, directory, cells } = await adopt(t, from)
  assert.equal(cells.fresh, 1)
  const path = join(directory, 'contract.yaml')
  const contract = parseFolioYaml(await readFile(path), 'contract.yaml').value as JsonObject
  const [entry] = contract['schema'] as readonly [{ properties: readonly JsonObject[] }]
  const properties = entry.properties.map((property) => {
    if (property['name'] === 'extra') return { ...property, description: 'Described since.' }
    return property['name'] === 'original_id' ? { ...property, unique: true } : property
  })
  const added = { name: 'code', logicalType: 'string' }
  const schema = [{ ...entry, properties: [...properties, added] }]
  await writeFile(path, JSON.stringify({ ...contract, schema }))
  await upsertRecords(sheet, { records: [{ id: 'P_1', code: 'new' }] }, { actor: 'human:me' })
  const to = join(dirname(from), 'back')

  const stopped = new Error('stopped')
  await assert.rejects(exportFolioSheet(sheet, to, directory, AbortSignal.abort(stopped)), stopped)
  assert.deepEqual(readdirSync(dirname(from)).toSorted(), ['adopted', 'folio'])

  const report = await exportFolioSheet(sheet, to, directory)
  assert.deepEqual(await linesOf(join(to, 'records.jsonl')), [
    { id: 'P,1', num: 'many', a: 'x', extra: 'e', more: 'm', code: 'new' },
  ])
  // No new hash: the cell was computed without the value of num that was set aside and is back.
  assert.deepEqual(
    (await linesOf(join(to, 'provenance.jsonl'))).map(({ input_hash: hash }) => hash),
    ['sha256:00'],
  )
  const back = parseFolioYaml(await readFile(join(to, 'contract.yaml')), 'contract.yaml').value as {
    schema: readonly [{ properties: readonly JsonObject[] }]
  }
  assert.deepEqual(
    back.schema[0].properties.map(({ name, primaryKey, description }) => [name, primaryKey, description]),
    [
      ['id', true, undefined],
      ['num', undefined, undefined],
      ['a', undefined, undefined],
      ['extra', undefined, 'Described since.'],
      ['code', undefined, undefined],
    ],
  )
  const texts = differencesOf(report).join('\n')
  assert.match(
    texts,
    /adapted contract\.yaml field "id" is called "id" in folio, and not "code": another field is called that/,
  )
  assert.match(
    texts,
    /cannot contract\.yaml field "original_id" is not exported, since it has the ids of folio; lost are "unique"/,
  )
})

test('files come back under their names, also those that have a meaning in a sheet here', async (t) => {
  const files: Readonly<Record<string, string>> = {
    'contract.yaml.folio': '1',
    'records.jsonl.folio': '2',
    'provenance.jsonl.folio': '3',
    'a.md': '4',
    'a.md.folio': '5',
    'notes/b.md': '6',
    'notes.folio': '7',
    'derivations/c.md': '8',
    'derivations/c.md.folio': '9',
    'models.yaml': '10',
    'models.yaml.folio': '11',
    'sheet.db.txt': '12',
    'refs/t.csv': 'id,a\n1,x\n',
    'refs/t.csv.folio': '13',
  }
  const from = await writeFolioSheet(t, {
    ...files,
    'contract.yaml': folioContract([{ name: 'a', logicalType: 'string', 'x-derived': true }]),
    'derivations/a.yaml': 'targets: [a]\nkind: import\nsource: refs/t.csv\nkey_field: id\nvalue_field: a\n',
    'records.jsonl': jsonLines({ id: '1' }),
  })
  const { sheet, directory } = await adopt(t, from)
  const to = join(dirname(from), 'back')
  await exportFolioSheet(sheet, to, directory)
  const found = readdirSync(to, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(to.length + 1))
  assert.deepEqual(
    found.toSorted(),
    [...Object.keys(files), 'contract.yaml', 'derivations/a.yaml', 'records.jsonl'].toSorted(),
  )
  for (const [path, text] of Object.entries(files))
    assert.equal(await readFile(join(to, path), 'utf8'), text, path)
})

test('the ending of a kept file is not removed where that name is in use', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([{ name: 'a', logicalType: 'string', 'x-derived': true }]),
    'derivations/a.yaml': 'targets: [a]\nkind: import\nsource: refs/t.csv\nkey_field: id\nvalue_field: a\n',
    'records.jsonl': jsonLines({ id: '1' }),
    'refs/t.csv': 'id,a\n1,x\n',
    'a.md': '',
    'notes/b.md': '',
  })
  const { sheet, directory } = await adopt(t, from)
  const inUse = ['contract.yaml', 'records.jsonl', 'provenance.jsonl', 'refs/t.csv', 'a.md', 'notes']
  for (const name of [...inUse, 'free.md']) await writeFile(join(directory, `${name}.folio`), name)
  const to = join(dirname(from), 'back')
  await exportFolioSheet(sheet, to, directory)
  for (const name of inUse) assert.equal(await readFile(join(to, `${name}.folio`), 'utf8'), name)
  assert.equal(await readFile(join(to, 'a.md'), 'utf8'), '')
  assert.equal(await readFile(join(to, 'free.md'), 'utf8'), 'free.md')
})

test('a file that vanishes before it is copied is reported, not written empty', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([]),
    'records.jsonl': jsonLines({ id: '1' }),
    'notes/a.md': 'a',
    'notes/b.md': 'b',
  })
  const { sheet, directory } = await adopt(t, from)
  const to = join(dirname(from), 'back')
  const { signal } = new AbortController()
  signal.throwIfAborted = () => rmSync(join(directory, 'notes', 'a.md'), { force: true })
  const { differences } = await exportFolioSheet(sheet, to, directory, signal)
  assert.match(
    differencesOf({ differences }).join('\n'),
    /cannot notes\/a\.md the file is not copied: it cannot be read, or is too large/,
  )
  assert.deepEqual(readdirSync(join(to, 'notes')), ['b.md'])
})

test('a statement of folio is a query: its cells are computed at the adoption, and its file comes back', async (t) => {
  const statement =
    'targets: [a]\ninputs: [num]\nkind: sql\nexpression: SELECT count(*) AS more FROM records WHERE num > ?\n'
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([
      { name: 'num', logicalType: 'integer' },
      { name: 'a', logicalType: 'integer', 'x-derived': true, 'x-inputs': ['num'] },
      { name: 'b', logicalType: 'string', 'x-derived': true, 'x-inputs': [] },
    ]),
    'derivations/a.yaml': statement,
    'derivations/b.yaml':
      "targets: [b]\nkind: sql\nexpression: SELECT json_extract_string('{}', '$') FROM records\n",
    'records.jsonl': jsonLines(
      { id: '1', num: 5, a: 1 },
      { id: '2', num: 7, a: 0 },
      { id: '3', num: 1, a: 9, b: 'x' },
    ),
    'provenance.jsonl': jsonLines(
      ...['1', '2', '3'].map((id) => ({
        record_id: id,
        field: 'a',
        source: 'sql',
        actor: 'agent:demo',
        at: '2026-05-10T10:16:35Z',
        input_hash: `sha256:${'0'.repeat(64)}`,
      })),
    ),
  })
  const adopted = await adopt(t, from)
  const { sheet, directory, cells } = adopted
  assert.deepEqual(cells, { fresh: 2, stale: 1, missing: 0, overridden: 0 })
  assert.match(differencesOf(adopted).join('\n'), /cannot derivations\/b\.yaml:\d+ .*json_extract_string/)
  const result = await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'human:me' })
  assert.deepEqual([result.materialized, result.skipped], [1, 2])
  const to = join(dirname(from), 'back')
  await exportFolioSheet(sheet, to, directory)
  assert.equal(await readFile(join(to, 'derivations/a.yaml'), 'utf8'), statement)
  assert.deepEqual(
    (await linesOf(join(to, 'records.jsonl'))).map(({ a }) => a),
    [1, 0, 2],
  )
})
