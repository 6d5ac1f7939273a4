import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createHash } from 'node:crypto'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { cellKey } from '../../src/files/folio/adopt-folio-log.ts'
import { folioHashOf } from '../../src/files/folio/folio-hash.ts'
import { adoptCells } from '../../src/sheet/folio/adopt-cells.ts'
import { adoptFolioSheet } from '../../src/sheet/folio/adopt-folio-sheet.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { readProvenance, readHistory } from '../../src/sheet/cells/read-provenance.ts'
import { recordsOf } from '../support/init-files.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'
import {
  adopt,
  differencesOf,
  folioContract,
  jsonLines,
  sampleSheets,
  writeFolioSheet,
} from './folio-sheet.ts'

/** The cells of each sample sheet that folio has computed, and those that it has not. */
const SAMPLES: Readonly<Record<string, { readonly fresh: number; readonly missing: number }>> = {
  'customer-revenue': { fresh: 0, missing: 0 },
  customers: { fresh: 7, missing: 1 },
  onboarding: { fresh: 4, missing: 0 },
  'product-catalog': { fresh: 9, missing: 0 },
  'research-memory': { fresh: 4, missing: 0 },
  'research-notes': { fresh: 10, missing: 2 },
  // Those of kind python; its queries are in the dialect of DuckDB.
  'task-tracker': { fresh: 39, missing: 0 },
}

test('the sample sheets are adopted without a call: computed cells are fresh, and every value is there', async (t) => {
  const samples = await sampleSheets(t)
  for (const [name, expected] of Object.entries(SAMPLES)) {
    const { sheet, cells } = await adopt(t, join(samples, name), `new-${name}`)
    if (name === 'task-tracker') assert.ok(cells.fresh >= expected.fresh)
    else assert.deepEqual(cells, { ...expected, stale: 0, overridden: 0 }, name)
    const found = await recordsOf(sheet)
    const lines = (await readFile(join(samples, name, 'records.jsonl'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
    assert.equal(found.length, lines.length)
    for (const [index, line] of lines.entries()) {
      for (const [field, value] of Object.entries(JSON.parse(line) as JsonObject)) {
        if (name === 'onboarding' || value === null) continue
        const adopted = found[index]?.[field] ?? null
        assert.equal(
          JSON.stringify(adopted).replaceAll('"', ''),
          JSON.stringify(value).replaceAll('"', ''),
          `${name} ${field}`,
        )
      }
    }
  }
})

test('computed cells of adopted derivations are fresh, and a run does nothing', async (t) => {
  const samples = await sampleSheets(t)
  const { sheet, directory } = await adopt(t, join(samples, 'research-notes'))
  const { store } = await sheet.deriving()
  const { targets } = await store.status()
  const states = targets
    .filter(({ field }) => ['citations', 'venue', 'year'].includes(field))
    .map(({ field, fresh, stale, missing, overridden }) => ({ field, fresh, stale, missing, overridden }))
  assert.deepEqual(states, [
    { field: 'citations', fresh: 3, stale: 0, missing: 0, overridden: 0 },
    { field: 'venue', fresh: 2, stale: 0, missing: 1, overridden: 0 },
    { field: 'year', fresh: 2, stale: 0, missing: 1, overridden: 0 },
  ])
  const request = {
    targets: ['citations', 'venue', 'year'],
    recordIds: null,
    force: false,
    actor: 'human:me',
  }
  const plan = await planMaterialize(sheet, request)
  assert.equal(plan.calls, 0)
  // An input that changes makes its cell stale, as in any sheet.
  assert.equal(
    await readFile(join(directory, 'derivations', 'citations.yaml'), 'utf8'),
    await readFile(join(samples, 'research-notes', 'derivations', 'citations.yaml'), 'utf8'),
  )
})

test('the log of folio is kept: numbered, with the last value of a cell, and with model and cost', async (t) => {
  const samples = await sampleSheets(t)
  const { sheet } = await adopt(t, join(samples, 'research-notes'))
  const { entries } = await readHistory(sheet, { recordId: 'r1', field: 'year', limit: null, cursor: null })
  const [first, , last] = entries
  assert.deepEqual(
    [
      first?.['seq'],
      first?.['source'],
      first?.['folio_source'],
      first?.['value'],
      first?.['actor'],
      first?.['at'],
      first?.['previous'],
      first?.['unknown'],
    ],
    [8, 'folio', 'import', 1953, 'agent:sample', '2026-05-10T10:16:35.000Z', null, ['previous']],
  )
  assert.deepEqual(
    [
      last?.['source'],
      last?.['value'],
      last?.['previous'],
      last?.['cached'],
      last?.['adopted_from'],
      last?.['computed_by'],
    ],
    ['import', 1953, 1953, true, 'folio', 'agent:sample'],
  )
  const topic = await readHistory(sheet, { recordId: 'r1', field: 'topic', limit: null, cursor: null })
  assert.deepEqual(
    [topic.entries[0]?.['value'], topic.entries[0]?.['model'], topic.entries[0]?.['cost_usd']],
    ['biology', 'claude-haiku-4-5', 0.000022],
  )
})

const LOOKUP = 'targets: [a]\nkind: import\nsource: refs/t.csv\nkey_field: id\nvalue_field: a\n'

test('cells with another hash are stale, unless the value is computed again; those of people are overridden', async (t) => {
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': folioContract([{ name: 'a', logicalType: 'string', 'x-derived': true, 'x-inputs': [] }]),
    'derivations/a.yaml': LOOKUP,
    'refs/t.csv': 'id,a\n1,x\n2,y\n3,z\n4,w\n',
    'records.jsonl': jsonLines(
      { id: '1', a: 'x' },
      { id: '2', a: 'old' },
      { id: '3', a: 'mine' },
      { id: '4', a: 'w' },
      { id: '5' },
      { id: '6' },
    ),
    'provenance.jsonl': jsonLines(
      {
        record_id: '1',
        field: 'a',
        source: 'import',
        actor: 'agent:a',
        at: '2026-01-01T00:00:00Z',
        input_hash: 'sha256:00',
      },
      {
        record_id: '2',
        field: 'a',
        source: 'import',
        actor: 'agent:a',
        at: '2026-01-01T00:00:00Z',
        input_hash: 'sha256:00',
      },
      {
        record_id: '3',
        field: 'a',
        source: 'import',
        actor: 'agent:a',
        at: '2026-01-01T00:00:00Z',
        input_hash: 'sha256:00',
      },
      { record_id: '3', field: 'a', source: 'human_override', actor: 'human:b', at: '2026-01-02T00:00:00Z' },
      { record_id: '6', field: 'a', source: 'human_override', actor: 'human:b', at: '2026-01-02T00:00:00Z' },
    ),
  })
  const adopted = await adopt(t, sheet)
  // 1 has the value that the table has now, 4 has no entry in the log.
  assert.deepEqual(adopted.cells, { fresh: 1, stale: 1, missing: 2, overridden: 2 })
  assert.deepEqual(
    (await recordsOf(adopted.sheet)).map(({ a }) => a),
    ['x', 'old', 'mine', 'w', null, null],
  )
  const differences = differencesOf(adopted).join('\n')
  assert.match(
    differences,
    /kept records\.jsonl:4 field "a": a value without an entry in provenance\.jsonl counts as written by hand/,
  )
  assert.match(differences, /kept records\.jsonl:6 field "a": a cell that a person cleared is missing/)
  const entry = await readProvenance(adopted.sheet, { recordId: '3', field: 'a' })
  assert.equal(entry?.['source'], 'import')
})

/** An entry of folio for a cell of record `record`, with the hash that folio computes; files that are not given do not exist. */
function entryOf(
  record: JsonObject,
  field: string,
  yaml: string,
  files: Readonly<Record<string, string>> = {},
): JsonObject {
  const keys = parse(yaml) as JsonObject
  const read = (path: string): Uint8Array | null =>
    files[path] === undefined ? null : Buffer.from(files[path])
  const sha256 = createHash('sha256').update(yaml).digest('hex')
  const hash = folioHashOf({ keys, sha256 }, { read, foreignRecords: read }, 'id')?.(record) ?? 'sha256:00'
  const source = keys['kind'] ?? null
  const at = '2026-01-01T00:00:00Z'
  return { record_id: record['id'] ?? null, field, source, actor: 'agent:a', at, input_hash: hash }
}

test('a cell is fresh only with a value that is proven: not from values set aside, nor where another one is computed now', async (t) => {
  const others = { 'refs/t.csv': 'id,a\n1,x\n2,y\n', 'scripts/s.py': 'print(1)\n' }
  const files = {
    'derivations/a.yaml': LOOKUP,
    'derivations/s.yaml': 'targets: [s]\ninputs: [num]\nkind: python\nscript: s\n',
    'derivations/t.yaml': 'targets: [t]\ninputs: [id]\nkind: python\nscript: s\n',
    'derivations/u.yaml': 'targets: [u]\nkind: sql\nexpression: upper(a)\n',
  }
  const records = [
    { id: '1', num: 'many', a: 'x', s: 'from many', t: 'many', u: 'X' },
    { id: '2', num: 2, a: 'edited', s: 'from 2', t: 3, u: 'Y' },
    { id: '3', t: 'by hand' },
  ]
  const derived = { logicalType: 'string', 'x-derived': true }
  const from = await writeFolioSheet(t, {
    ...files,
    ...others,
    'contract.yaml': folioContract([
      { name: 'num', logicalType: 'integer' },
      { name: 'a', ...derived },
      { name: 's', ...derived },
      { name: 't', ...derived, logicalType: 'integer' },
      { name: 'u', ...derived },
    ]),
    'records.jsonl': jsonLines(...records),
    'provenance.jsonl': jsonLines(
      ...records
        .slice(0, 2)
        .flatMap((record) =>
          Object.entries(files).map(([path, yaml]) =>
            entryOf(record, path.slice('derivations/'.length, -'.yaml'.length), yaml, others),
          ),
        ),
      { record_id: '3', field: 't', source: 'human_override', actor: 'human:b', at: '2026-01-02T00:00:00Z' },
    ),
  })
  const adopted = await adopt(t, from)
  const { store } = await adopted.sheet.deriving()
  const { targets } = await store.status()
  assert.deepEqual(Object.fromEntries(targets.map(({ field, fresh, stale }) => [field, { fresh, stale }])), {
    a: { fresh: 1, stale: 1 },
    s: { fresh: 1, stale: 1 },
    t: { fresh: 1, stale: 1 },
    u: { fresh: 1, stale: 1 },
  })
  assert.match(
    differencesOf(adopted).join('\n'),
    /kept records\.jsonl:3 field "t": a cell whose manual value is set aside is missing, and the next run computes it/,
  )
  const [last] = (
    await readHistory(adopted.sheet, { recordId: '1', field: 't', limit: null, cursor: null })
  ).entries.slice(-1)
  assert.equal(last?.['value'], null)

  const stopped = new Error('stopped')
  const cells = new Map([[cellKey('1', 'a'), { value: 'x', raw: { id: '1' }, last: { line: 1, entry: {} } }]])
  const adoption = { cells, hashes: new Map(), aside: new Set<string>(), actor: 'human:me' }
  await assert.rejects(
    adoptCells(adopted.sheet, { ...adoption, signal: AbortSignal.abort(stopped) }),
    stopped,
  )
})

test('keys of a field that mean nothing here are reported', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([
      { name: 'a', logicalType: 'string', 'x-inputs': ['b'], required: 'always' },
      { name: 'b', logicalType: 'string', enum: ['x', null], 'x-derived': true, 'x-inputs': 'a' },
      { name: 'c', logicalType: 'string', 'x-derived': 'always' },
    ]),
  })
  const { differences } = await adoptFolioSheet(join(dirname(from), 'new'), from, {
    actor: null,
    check: true,
  })
  const lost = differences.filter(({ action }) => action === 'cannot').map(({ message }) => message)
  assert.deepEqual(lost.toSorted(), [
    'field "a": required "always" is left out: it is neither true nor false',
    'field "a": x-inputs is left out, since x-derived is not true',
    'field "b": null in enum is left out',
    'field "b": x-inputs "a" is no list; it is left out',
    'field "c": x-derived "always" is left out: it is neither true nor false',
  ])
})

test('a contract is adapted, and each difference is reported with its line', async (t) => {
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': `apiVersion: 1
kind: DataContract
id: 7
name: tasks
version: 2026-01-01
owner: {team: maps}
defaults: &text {logicalType: string, required: no}
schema:
  - name: tasks
    properties:
      - {name: Task No, logicalType: integer, primaryKey: yes}
      - {name: state, logicalType: string, enum: [open, done], required: yes}
      - {name: size, logicalType: integer, enum: ['1', '2']}
      - {name: tags, logicalType: array, enum: [x]}
      - {<<: *text, name: due-date}
      - {name: due_date, logicalType: date, description: first, description: second}
      - {name: id, logicalType: string}
      - {name: level, logicalType: geography, x-editable-by: ['human:[x', 'agent:*']}
      - {name: gone, logicalType: string, x-derived: yes, x-inputs: [state]}
`,
    'records.jsonl': jsonLines(
      {
        'Task No': 1,
        state: 'open',
        size: 1,
        tags: ['x'],
        'due-date': 'soon',
        due_date: '2026-01-02',
        id: 'inner',
        level: 'a',
        gone: 'g',
      },
      { 'Task No': 2, state: 'closed', size: 3 },
      { 'Task No': 3 },
    ),
  })
  const adopted = await adopt(t, sheet)
  assert.deepEqual(differencesOf(adopted), [
    'cannot contract.yaml:14 field "tags": its enum is in the custom property folioEnum and is not held, since its values are not of type array',
    'adapted contract.yaml:1 apiVersion 1 is v3.1.0 here',
    'adapted contract.yaml:6 the key "owner" is in the custom property folioKeys, since ODCS has no such key or another type',
    'adapted contract.yaml:7 the key "defaults" is in the custom property folioKeys, since ODCS has no such key or another type',
    'adapted contract.yaml:11 field "Task No" is called "id": the primary key is called id',
    'adapted contract.yaml:11 ids are texts: the primary key was of type integer',
    'adapted contract.yaml:12 field "state": enum is a quality rule with validValues',
    'adapted contract.yaml:13 field "size": enum is a quality rule with validValues',
    'adapted contract.yaml:14 field "tags": enum is a quality rule with validValues',
    'adapted contract.yaml:15 field "due-date" is called "due_date_2": a field cannot be called that, or another one is',
    'adapted contract.yaml:16 the key "description" is there twice: the last value counts, as in folio',
    'adapted contract.yaml:17 field "id" is called "original_id": a field cannot be called that, or another one is',
    'adapted contract.yaml:18 field "level": the logicalType "geography" is string here',
    'adapted contract.yaml:18 field "level": the pattern "human:[x" is "human:[[]x" here',
    'adapted contract.yaml:19 field "gone" is an ordinary field with its values: no derivation file has this target',
    'adapted records.jsonl:1 an id is a text, such as 1 (lines 1, 2, 3)',
    'adapted records.jsonl:2 field "state": validValues has a value that is not in enum, such as "closed"',
    'adapted records.jsonl:2 field "size": validValues has a value that is not in enum, such as 3',
    'adapted records.jsonl:3 field "state" is not required: a record has no value',
  ])
  const { contract } = await adopted.sheet.current()
  assert.deepEqual(
    contract.fields.map(({ name, type, validValues, editableBy }) => [name, type, validValues, editableBy]),
    [
      ['id', 'string', null, null],
      ['state', 'string', ['open', 'done', 'closed'], null],
      ['size', 'integer', [1, 2, 3], null],
      ['tags', 'array', null, null],
      ['due_date_2', 'string', null, null],
      ['due_date', 'date', null, null],
      ['original_id', 'string', null, null],
      ['level', 'string', null, ['human:[[]x', 'agent:*']],
      ['gone', 'string', null, null],
    ],
  )
  assert.deepEqual((await recordsOf(adopted.sheet))[0], {
    id: '1',
    state: 'open',
    size: 1,
    tags: ['x'],
    due_date_2: 'soon',
    due_date: '2026-01-02',
    original_id: 'inner',
    level: 'a',
    gone: 'g',
  })
})

test('values of another type are read as in CSV files; the others are set aside with their line', async (t) => {
  const fields = ['integer', 'number', 'boolean', 'date', 'timestamp', 'array', 'object', 'string']
  const long = '12345678901234567890'
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': folioContract(fields.map((type) => ({ name: type, logicalType: type }))),
    'records.jsonl': `\r
{"id": "1", "integer": "3", "number": "1.5", "boolean": "true", "date": "31.12.2025", "timestamp": "2026-01-01T10:00:00", "array": "[1]", "object": "{}", "string": 5}\r

{"id": "2", "integer": "three", "number": NaN, "boolean": "maybe", "date": "soon", "timestamp": "", "array": "a", "object": [1], "string": {"a": [1]}}
{"id": "3", "integer": ${long}, "number": -Infinity, "string": ${long}, "array": ["a\\u0000"], "extra": 1, "mixed": 1}
{"id": "4", "extra": 1.5, "mixed": "x", "my-list": [1]}
not json
[1]
{"id": "5", "string": "\\ud800"}`,
  })
  const adopted = await adopt(t, sheet)
  const [first, second, third, fourth, fifth] = await recordsOf(adopted.sheet)
  assert.deepEqual(first, {
    id: '1',
    integer: 3,
    number: 1.5,
    boolean: true,
    date: '2025-12-31',
    timestamp: '2026-01-01T10:00:00Z',
    array: [1],
    object: {},
    string: '5',
    extra: null,
    mixed: null,
    my_list: null,
  })
  assert.equal(second?.['string'], '{"a":[1]}')
  assert.deepEqual([third?.['string'], third?.['extra'], third?.['mixed']], [long, 1, '1'])
  assert.deepEqual([fourth?.['extra'], fourth?.['mixed'], fourth?.['my_list']], [1.5, 'x', [1]])
  assert.equal(fifth?.['string'], null)
  const aside = (await readFile(join(adopted.directory, 'folio-set-aside.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
  assert.deepEqual(
    aside.map((line) => {
      const { line: number, record_id: id, field, value } = JSON.parse(line) as JsonObject
      return [number, id, field, value]
    }),
    [
      [7, null, null, 'not json'],
      [8, null, null, '[1]'],
      [4, '2', 'integer', 'three'],
      [4, '2', 'number', 'NaN'],
      [4, '2', 'boolean', 'maybe'],
      [4, '2', 'date', 'soon'],
      [4, '2', 'array', 'a'],
      [4, '2', 'object', [1]],
      [5, '3', 'integer', 12345678901234567000],
      [5, '3', 'number', '-Infinity'],
      [5, '3', 'array', ['a\0']],
      [9, '5', 'string', '\ud800'],
    ],
  )
  assert.ok(
    aside.some((line) => line.includes(long)),
    'numbers keep their digits',
  )
  const differences = differencesOf(adopted)
  assert.ok(
    differences.includes(
      'cannot - 12 values and lines are set aside in folio-set-aside.jsonl, each with its line and reason',
    ),
  )
  assert.ok(
    differences.includes('adapted records.jsonl:4 field "timestamp": an empty text is no value, such as ""'),
  )
  assert.ok(
    differences.includes(
      'adapted records.jsonl:5 field "extra", which the contract does not have, is an optional field of type number',
    ),
  )
})

test('ids become valid and unique, and those of folio are kept', async (t) => {
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': folioContract([{ name: 'v', logicalType: 'integer' }]),
    'records.jsonl': jsonLines(
      { id: 'a,b', v: 1 },
      { id: ' a_b ', v: 2 },
      { v: 3 },
      { id: 'x y', v: 4 },
      { id: 'x y', v: 5 },
      { id: ['l'], v: 6 },
      { id: 'line-3', v: 7 },
    ),
    'provenance.jsonl': jsonLines({
      record_id: 'a,b',
      field: 'v',
      source: 'python',
      actor: 'a',
      at: '2026-01-01T00:00:00',
    }),
  })
  const adopted = await adopt(t, sheet)
  assert.deepEqual(
    (await recordsOf(adopted.sheet)).map(({ id, v, original_id: original }) => [id, v, original]),
    [
      ['a_b', 1, 'a,b'],
      ['a_b_2', 2, ' a_b '],
      ['line-3', 3, null],
      ['x y', 4, null],
      ['x y_2', 5, 'x y'],
      ['["l"]', 6, null],
      ['line-3_2', 7, 'line-3'],
    ],
  )
  const entry = await readHistory(adopted.sheet, { recordId: 'a_b', field: 'v', limit: null, cursor: null })
  assert.deepEqual(
    [entry.entries[0]?.['at'], entry.entries[0]?.['folio_at']],
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00'],
  )
  const differences = differencesOf(adopted).join('\n')
  assert.match(differences, /records\.jsonl:1 an id was changed; .*: an id has no commas, .*, such as "a,b"/)
  assert.match(differences, /ids are unique, such as " a_b " \(lines 2, 5, 7\)/)
  assert.match(differences, /kept records\.jsonl:4 an id has spaces/)
  assert.match(differences, /adapted provenance\.jsonl:1 a time without an offset is UTC/)
})

test('a derivation that is not adopted is kept as a file, and its values in an ordinary field', async (t) => {
  const derived = { logicalType: 'string', 'x-derived': true, 'x-inputs': ['b'] }
  const http = (target: string, more: string): string =>
    `targets: [${target}]\ninputs: [b]\nkind: http\nurl: https://h.example/{{ b }}\n${more}`
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': folioContract([
      { name: 'b', logicalType: 'string' },
      ...['c', 'd', 'e', 'f', 'g'].map((name) => ({ name, ...derived })),
    ]),
    'derivations/c.yaml': http('c', 'response_path: x\n'),
    'derivations/c2.yaml': http('c', 'response_path: y\n'),
    'derivations/d.yaml': http('d', 'headers: {x: "{{ b }}"}\nresponse_path: x\n'),
    'derivations/e.yaml': http('e', 'materialization: {respect_human_override: false}\n'),
    'derivations/f.yaml': 'targets: [f]\nkind: magic\n',
    'derivations/g.yaml': 'targets: [g\n',
    'records.jsonl': jsonLines({ id: '1', b: 'x', c: 'c', d: 'd', e: 'e', f: 'f', g: 'g' }),
  })
  const adopted = await adopt(t, sheet)
  const { derivations } = await adopted.sheet.deriving()
  assert.deepEqual([...derivations.byTarget.keys()], ['c', 'e'])
  assert.deepEqual(await recordsOf(adopted.sheet), [
    { id: '1', b: 'x', c: 'c', d: 'd', e: 'e', f: 'f', g: 'g' },
  ])
  const differences = differencesOf(adopted).join('\n')
  for (const message of [
    /cannot derivations\/c2\.yaml:\d the derivation is not adopted: .*two derivations|cannot derivations\/c2\.yaml:\d the derivation is not adopted: .*"c"/,
    /cannot derivations\/d\.yaml:5 the derivation is not adopted: a header has \{\{/,
    /cannot derivations\/e\.yaml:5 respect_human_override: false is left out/,
    /adapted derivations\/e\.yaml:3 without response_path the whole body is the value/,
    /cannot derivations\/f\.yaml:2 the derivation is not adopted: unknown kind "magic".*; the file is kept as derivations\/f\.yaml\.folio; the values of "f" are kept in ordinary fields/,
    /cannot derivations\/g\.yaml:\d the derivation is not adopted/,
  ]) {
    assert.match(differences, message)
  }
  assert.deepEqual(readdirSync(join(adopted.directory, 'derivations')), [
    'c.yaml',
    'c2.yaml.folio',
    'd.yaml.folio',
    'e.yaml',
    'e.yaml.folio',
    'f.yaml.folio',
    'g.yaml.folio',
  ])
})

test('models of folio are in models.yaml; scripts and other sheets are named in the report', async (t) => {
  const derived = { logicalType: 'string', 'x-derived': true, 'x-inputs': [] }
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract(['a', 'b', 'c', 'd'].map((name) => ({ name, ...derived }))),
    'derivations/a.yaml': 'targets: [a]\nkind: ai\nmodel: claude-x\nprompt: Say {{ id }}.\noutput: text\n',
    'derivations/b.yaml': 'targets: [b]\ninputs: [id]\nkind: python\nscript: s\n',
    'derivations/c.yaml':
      'targets: [c]\nkind: cross_sheet\nsource_sheet: ../other\nkey_field: id\nvalue_field: v\n',
    'derivations/d.yaml': 'targets: [d]\nkind: ai\nmodel: claude-x\nprompt_ref: ../secret.md\noutput: text\n',
    'scripts/s.py': 'print(1)\n',
    'records.jsonl': jsonLines({ id: '1', d: 'kept' }),
  })
  const adopted = await adopt(t, from)
  const { derivations } = await adopted.sheet.deriving()
  assert.deepEqual([...derivations.byTarget.keys()], ['a', 'b', 'c'])
  assert.match(
    await readFile(join(adopted.directory, 'models.yaml'), 'utf8'),
    /claude-x:\n {4}api: anthropic/,
  )
  const differences = differencesOf(adopted).join('\n')
  for (const message of [
    /adapted - models\.yaml is new/,
    /adapted derivations\/a\.yaml:2 values are put into the prompt as data/,
    /kept derivations\/b\.yaml:3 a run needs --allow-scripts/,
    /kept derivations\/c\.yaml:3 there is no sheet at \.\.\/other from the new directory/,
    /cannot derivations\/d\.yaml:2 the derivation is not adopted: .*; the values of "d" are kept in ordinary fields/,
  ]) {
    assert.match(differences, message)
  }
})

test('a derivation follows the names of its fields', async (t) => {
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': folioContract([], {
      schema: [
        {
          name: 'x',
          properties: [
            { name: 'sku', logicalType: 'string', primaryKey: true },
            { name: 'unit-price', logicalType: 'string', 'x-derived': true, 'x-inputs': ['sku'] },
            { name: 'vat', logicalType: 'string', 'x-derived': true, 'x-inputs': ['sku'] },
            { name: 'code', logicalType: 'string', 'x-derived': true, 'x-inputs': ['sku'] },
          ],
        },
      ],
    }),
    'derivations/a.yaml':
      'targets: [unit-price, vat]\ninputs: [sku]\nkind: http\nurl: https://h.example/{{sku}}\nresponse_schema: {unit-price: a, vat: b}\n',
    'derivations/b.yaml': 'targets: [code]\ninputs: [sku]\nkind: python\nscript: s\n',
    'records.jsonl': jsonLines({ sku: 'A', 'unit-price': '1', code: 'c' }),
  })
  const adopted = await adopt(t, sheet)
  const { derivations } = await adopted.sheet.deriving()
  const derivation = derivations.byTarget.get('unit_price')
  assert.deepEqual([derivation?.targets, derivation?.inputs], [['unit_price', 'vat'], ['id']])
  assert.match(
    differencesOf(adopted).join('\n'),
    /cannot derivations\/b\.yaml:2 the derivation is not adopted: "sku" has another name here, and the script reads it by the name of folio/,
  )
})

test('a check reports the same, creates nothing and changes nothing', async (t) => {
  const samples = await sampleSheets(t)
  const from = join(samples, 'research-notes')
  const files = (): string[] => readdirSync(from, { recursive: true }).map(String).toSorted()
  const before = files()
  const target = join(samples, 'deep', 'new')
  const checked = await adoptFolioSheet(target, from, { actor: null, check: true })
  assert.ok(!existsSync(join(samples, 'deep')))
  const adopted = await adoptFolioSheet(target, from, { actor: null, check: false })
  assert.deepEqual(checked, adopted)
  assert.deepEqual(files(), before)
})

test('a file that vanishes before it is copied is reported, not written empty', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([]),
    'records.jsonl': jsonLines({ id: '1' }),
    'notes/a.md': 'a',
    'notes/b.md': 'b',
  })
  const target = join(dirname(from), 'adopted')
  const { signal } = new AbortController()
  signal.throwIfAborted = () => rmSync(join(from, 'notes', 'a.md'), { force: true })
  const { differences } = await adoptFolioSheet(target, from, { actor: null, check: false, signal })
  assert.deepEqual(
    differences
      .filter(({ file }) => file?.startsWith('notes'))
      .map(({ action, message }) => [action, message]),
    [
      ['cannot', 'the file is not copied: it cannot be read, or is too large'],
      ['kept', 'copied'],
    ],
  )
  assert.deepEqual(readdirSync(join(target, 'notes')), ['b.md'])
})

test('nothing outside the folio sheet is read, and nothing is written into it', async (t) => {
  const root = await temporaryDirectory(t)
  await mkdir(join(root, 'secret'))
  await writeFile(join(root, 'secret', 'passwords.csv'), 'id,a\n1,hunter2\n')
  const sheet = await writeFolioSheet(t, {
    'contract.yaml': folioContract([{ name: 'a', logicalType: 'string', 'x-derived': true }]),
    'derivations/a.yaml': LOOKUP,
    'derivations/b.yaml': LOOKUP.replace('refs/t.csv', '../../secret/passwords.csv').replace('[a]', '[b]'),
    'records.jsonl': jsonLines({ id: '1', a: 'x' }),
    'transport.yaml': 'hosts: {"*": {concurrency: 1}}\n',
    'sheet.db': 'not a store',
    '.hidden': 'x',
    'notes/plan.txt': 'plan',
  })
  await mkdir(join(sheet, 'refs'))
  await symlink(join(root, 'secret', 'passwords.csv'), join(sheet, 'refs', 't.csv'))
  await symlink(join(root, 'secret'), join(sheet, 'linked'))
  const adopted = await adopt(t, sheet)
  const files = readdirSync(adopted.directory, { recursive: true }).map(String)
  assert.ok(
    !files.some((file) => file.includes('passwords') || file.startsWith('linked') || file.endsWith('t.csv')),
  )
  assert.ok(
    files.includes('transport.yaml.folio') &&
      files.includes('sheet.db.folio') &&
      files.includes('notes/plan.txt'),
  )
  const differences = adopted.differences.map(
    ({ action, file, message }) => `${action} ${file ?? '-'} ${message}`,
  )
  for (const path of ['.hidden', 'linked', 'refs/t.csv']) {
    assert.ok(
      differences.some((text) => text.startsWith(`cannot ${path} the file is not copied`)),
      path,
    )
  }
  const before = readdirSync(sheet, { recursive: true })
  await symlink(sheet, join(root, 'link'))
  await symlink(join(sheet, 'notes'), join(root, 'notes'))
  for (const target of [join(sheet, 'inner'), join(root, 'link', 'deep', 'inner'), join(root, 'notes')]) {
    await assert.rejects(adoptFolioSheet(target, sheet, { actor: null, check: false }), {
      type: 'SheetError',
      message: /is in the folio sheet, which is not changed/,
    })
  }
  assert.deepEqual(readdirSync(sheet, { recursive: true }), before)
  await assert.rejects(
    adoptFolioSheet(join(dirname(sheet), 'other'), join(root, 'secret'), { actor: null, check: false }),
    {
      type: 'SheetError',
      message: /has no contract\.yaml/,
    },
  )
})

test('a contract that cannot be read is refused with file and line', async (t) => {
  const target = join(await temporaryDirectory(t), 'new')
  for (const [text, message] of [
    ['- 1\n', /^contract\.yaml:1: not a contract/],
    ['id: x\nschema: []\n', /^contract\.yaml:2: schema must have exactly one entry, but has 0/],
    ['a: [\n', /^contract\.yaml:\d: /],
    [folioContract([{ name: 'id', logicalType: 'string' }]), /the property "id" is there twice/],
    [folioContract([{ name: 'b', logicalType: 'string', primaryKey: true }]), /"id", "b" are primary keys/],
    ['a: &a [*a]\n', /^contract\.yaml:\d: /],
    ['schema:\n  - properties: {a: {}}\n', /^contract\.yaml:2: properties must be a list of fields/],
  ] as const) {
    const from = await writeFolioSheet(t, { 'contract.yaml': text })
    await assert.rejects(adoptFolioSheet(target, from, { actor: null, check: false }), {
      type: 'ContractError',
      message,
    })
  }
  assert.ok(!existsSync(target))
})

test('derivations that cannot be read are not taken for none', async (t) => {
  const from = await writeFolioSheet(t, { 'contract.yaml': folioContract([]) })
  await symlink('derivations', join(from, 'derivations'))
  const target = join(dirname(from), 'new')
  await assert.rejects(adoptFolioSheet(target, from, { actor: null, check: false }), {
    type: 'ContractError',
    message: /^derivations cannot be read \(ELOOP\)/,
  })
  assert.ok(!existsSync(target))
})

test('hostile files take time in proportion to their size', async (t) => {
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([{ name: 'v', logicalType: 'string' }]),
    // Quotes without an end, and one id for all records: each took time with the square of the size.
    'records.jsonl': `${'"\\"'.repeat(200_000)}\\\n${'{"id": "same"}\n'.repeat(20_000)}`,
  })
  const { records, differences } = await adoptFolioSheet(join(dirname(from), 'new'), from, {
    actor: null,
    check: true,
  })
  assert.equal(records, 20_000)
  assert.ok(differences.some(({ action, line }) => action === 'cannot' && line === 1))
})

test('a sheet with more fields than a contract can have is refused, and nothing is created', async (t) => {
  const members = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, index]))
  const from = await writeFolioSheet(t, {
    'contract.yaml': folioContract([]),
    'records.jsonl': jsonLines({ id: '1', ...members }),
  })
  const target = join(dirname(from), 'new')
  await assert.rejects(adoptFolioSheet(target, from, { actor: null, check: false }), {
    type: 'ContractError',
    message: /^contract\.yaml:1: the folio sheet cannot be adopted: 1002 fields; a sheet has at most 1000/,
  })
  assert.ok(!existsSync(target))
})
